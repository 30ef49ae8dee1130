"""Every command that the README and the guide show is run as it stands.

Each page is one script, in a folder of its own: the `quorum` lines of its ```sh blocks, in order. A line that cannot
run offline ends in a comment that says what it needs: `# needs: a key of OpenAI`. A code block that begins with a
comment that names a file (`# my_minds.py`) is that file.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT, environment
from tests.docs.forked import forked_quorum

PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if "\nquorum " in page.read_text("utf-8")
]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"(?:{#|#) ([\w./]+\.(?:py|yaml|txt|jinja))(?: #})?\n")
_PORTS = ("8008",)
_WAIT = " > served.txt &\nuntil grep -q Try served.txt; do sleep 0.05; done"


def commands(text: str) -> list[str]:
    """Return the `quorum` lines of a page that run offline."""
    lines = [line for kind, block in _BLOCK.findall(text) if kind == "sh" for line in block.splitlines()]
    found = [line.split(" #")[0].strip() for line in lines if "# needs: " not in line]
    return [line for line in found if line.startswith("quorum ")]


def files(text: str) -> dict[str, str]:
    """Return the files that a page shows: name to content."""
    found = {}
    for _, block in _BLOCK.findall(text):
        if name := _FILE.match(block):
            found[name[1]] = block
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_command_of_a_page_clears_the_cache_that_all_runs_share(page: Path) -> None:
    clearing = [line for line in commands(page.read_text(encoding="utf-8")) if line.startswith("quorum cache clear")]
    assert [line for line in clearing if "--path " not in line] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = commands(text)
    folder, tools = tmp_path / "empty", tmp_path / "tools"
    for name, content in files(text).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    folder.mkdir(exist_ok=True)
    shutil.copytree(ROOT / "docs" / "boards", folder / "docs" / "boards")
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
            timeout=300,
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
