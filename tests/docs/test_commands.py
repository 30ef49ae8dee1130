"""Every command that the README and the guide show is run as it stands.

`make test` runs those of the README and of the first hour, and checks the words of all others: their options and
keys exist, and their configurations are valid. `make claims` runs the others.

Each page is one script, in its own folder: the `quorum` lines of its ```sh blocks, in order. A line that cannot
run offline ends in a comment that says what it needs: `# needs: a key of OpenAI`. A code block that begins with a
comment that names a file (`# my_minds.py`) is that file.
"""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
import typer
from typer.exceptions import TyperException

from quorum.configuration.cell import Cell
from quorum.configuration.shorthand import translated
from quorum.sweeps.plan import plan
from quorum.verbs.app import app
from tests.conftest import PATIENCE, ROOT, environment
from tests.docs.forked import forked_quorum

PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if "\nquorum " in page.read_text("utf-8")
]
_FIRST = ("README.md", "first-hour.md")
TIERED = [page if page.name in _FIRST else pytest.param(page, marks=pytest.mark.claims) for page in PAGES]
"""What a newcomer types is run by `make test`. Other tests check what the commands of the other pages do."""
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"(?:{#|#) ([\w./]+\.(?:py|yaml|txt|jinja))(?: #})?\n")
_PORTS = ("8008",)
_WAIT = " > served.txt &\nuntil grep -q Try served.txt; do sleep 0.05; done"


def commands(text: str, *more: str) -> list[str]:
    """Return the `quorum` lines of a page that run offline, with those that begin with further words."""
    lines = [line for kind, block in _BLOCK.findall(text) if kind == "sh" for line in block.splitlines()]
    found = [line.split(" #")[0].strip() for line in lines if "# needs: " not in line]
    return [line for line in found if line.startswith(("quorum ", *more))]


def files(text: str) -> dict[str, str]:
    """Return the files that a page shows: name to content."""
    found = {}
    for _, block in _BLOCK.findall(text):
        if name := _FILE.match(block):
            found[name[1]] = block
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_words_of_every_command_exist(page: Path) -> None:
    """Commands that need a module or a folder of their page are left to the test that runs them."""
    for line in commands(page.read_text(encoding="utf-8")):
        verb, *rest = [word for word in shlex.split(line) if word not in (">", "&")][1:]
        if {"--plugin", "--config-dir"} & {*rest} or any(mark in line for mark in _OF_THE_PAGE):
            continue
        words = [word for word in _parsed(verb, rest) if not word.startswith(("engine", "track"))]
        if verb == "sweep" and not any(word.startswith("experiment=") for word in words):
            plan(words)
        elif verb == "run":
            Cell.compose(words)


_OF_THE_PAGE = ("prompts.folder=", ".yaml", "env.id=", "$(")
"""What commands contain that need a file of their page."""


def _parsed(verb: str, rest: list[str]) -> list[str]:
    """Parse the words after a verb as the command does, and return those of the configuration."""
    group = typer.main.get_command(app)
    context = group.make_context("quorum", [verb, *rest], resilient_parsing=False)
    name, command, arguments = group.resolve_command(context, [verb, *rest])  # type: ignore[attr-defined]
    try:
        given = command.make_context(name, list(arguments), parent=context).params
    except TyperException as error:
        pytest.fail(f"{verb} {shlex.join(rest)}: {error}")
    words = [word for word in rest if "=" in word and not word.startswith("-")]
    if verb not in ("run", "sweep"):
        return words
    return translated(words, **{option: given[option] for option in ("model", "base_url", "n", "seeds")})


@pytest.mark.parametrize("page", TIERED, ids=lambda page: page.name)
def test_every_command_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = commands(text, "cd ")
    folder, tools = tmp_path / "empty", tmp_path / "tools"
    for name, content in files(text).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    folder.mkdir(exist_ok=True)
    for shown_folder in ("docs/boards", "examples/smollm2"):
        shutil.copytree(ROOT / shown_folder, folder / shown_folder)
    shutil.copy(ROOT / "examples" / "students.zip", folder / "examples")
    tools.mkdir()
    script = "\n".join(line[:-2] + _WAIT if line.endswith(" &") else line for line in shown)
    for port in _PORTS:
        script = script.replace(port, _free_port())
    variables = environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
    with forked_quorum(tools):
        done = subprocess.run(
            [
                "bash",
                "-ec",
                f"trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\nset -x\n{script}",
            ],
            cwd=folder,
            env={**variables, "PATH": f"{tools}:{variables['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    assert done.returncode == 0, done.stderr[-3000:]


def _free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def test_what_needs_more_is_marked_and_other_lines_are_found() -> None:
    text = "```sh\nmake run\nquorum list   # all\nquorum run llm=openai   # needs: a key\n```\n"
    text += "```python\n# a.py\nx = 1\n```\n"
    assert commands(text) == ["quorum list"]
    assert files(text) == {"a.py": "# a.py\nx = 1\n"}
