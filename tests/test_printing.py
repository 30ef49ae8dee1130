"""No untrusted text can act on the terminal, the table or the page that it is shown on."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from quorum.agents.llm.redaction import redact_message
from quorum.configuration.cell import Cell
from quorum.display.consoles import Console, Text
from quorum.display.sanitize import escape_json, sanitize, sanitize_lines
from quorum.episode.rehearsal import rehearse
from quorum.episode.runner import run_cell
from quorum.installation.extension_errors import FailedEpisode
from quorum.runs.results_folder import csv_text
from quorum_base.user_errors import mask_passwords
from tests.conftest import ROOT, Quorum, environment
from tests.folders import write_plan

HARM = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\x7f\u202egnp\u2066 [/bold][red] =1+1"
"""A window's title, a cleared screen, colours, a rewritten line, turned letters, and what Rich takes for markup."""
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


@pytest.fixture(scope="module")
def harmful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs whose names, values, models, reasons, versions and messages mean harm, in one sweep."""
    folder = tmp_path_factory.mktemp("sweep")
    names = []
    for seed in (0, 1):
        cell = Cell.compose(["n=2", "agents=naive", "topology=debate", "max_steps=3", f"seed={seed}"])
        run = run_cell(cell, folder).folder
        meta = json.loads((run / "meta.json").read_text())
        meta["configuration"]["llm"]["model"] = meta["configuration"]["prompts"]["rules"] = HARM
        meta |= {"reason": HARM, "models": [HARM], "error": {"class": HARM, "message": HARM}, "outcome": "error"}
        meta["versions"][HARM] = HARM
        (run / "meta.json").write_text(json.dumps(meta))
        metrics = json.loads((run / "metrics.json").read_text())
        (run / "metrics.json").write_text(json.dumps({**metrics, f"own.{HARM}": 1.0}))
        events = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()]
        for event in events:
            if event["event"] == "message_sent":
                event["content"] = HARM
            if event["event"] == "episode_start":
                event["agents"] = [f"{HARM} {number}" for number, _ in enumerate(event["agents"])]
            if event["event"] == "episode_end":
                event |= {"reason": HARM}
        (run / "trace.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
        names.append((run.name, cell.hash, HARM))
    write_plan(folder, names, name=HARM, command=HARM)
    damaged = folder / f"damaged {HARM}".replace("/", "")
    damaged.mkdir()
    (damaged / "meta.json").write_text("{")
    return folder


VERBS = [
    ["results", "."],
    ["results", ".", "--csv"],
    ["results", ".", "--json"],
    ["results", ".", "--sql", 'select "prompts.rules", arm, * from results'],
    ["results", ".", "--sql", 'select "prompts.rules", arm, * from results', "--csv"],
    ["results", ".", "--sql", "select * from events", "--json"],
    ["results", "RUN"],
    ["results", "RUN", "--json"],
    ["results", HARM],
    ["compare", ".", "--by", "prompts.rules", "--metric", "steps", "--out", "OUT"],
    ["compare", ".", "--by", "arm", "--metric", "steps", "--out", "OUT", "--json"],
    ["compare", ".", "--by", HARM],
    ["replay", "RUN"],
    ["view", HARM, "--export", "OUT/x.html"],
    ["show", f"n={HARM}"],
    ["run", f"agents={HARM}"],
    ["report", ".", "--metric", "steps", "--out", "OUT/report.html"],
    ["results", f"--{HARM}"],
]


@pytest.mark.parametrize("words", VERBS, ids=lambda words: sanitize(" ".join(words), 40))
def test_no_verb_prints_what_could_act(words: list[str], harmful: Path, quorum: Quorum, tmp_path: Path) -> None:
    run = next(path.name for path in harmful.iterdir() if (path / "trace.jsonl").exists())
    (tmp_path / "out").mkdir()
    places = {".": str(harmful), "RUN": str(harmful / run), "OUT": str(tmp_path / "out")}
    typed = [places.get(word, word.replace("OUT/", f"{tmp_path}/out/")) for word in words]
    done = quorum(*typed)
    reported = done.stdout + done.stderr
    assert FORBIDDEN.findall(reported) == []
    assert "Traceback" not in reported
    for file in (tmp_path / "out").rglob("*"):
        if file.suffix in (".csv", ".md", ".tex", ".svg", ".html") and words[0] != "view":
            assert FORBIDDEN.findall(file.read_text()) == [], file


def test_a_terminal_gets_nothing_but_colours(harmful: Path) -> None:
    run = next(path for path in harmful.iterdir() if (path / "trace.jsonl").exists())
    for words in (["results", str(run)], ["results", str(harmful)]):
        variables = environment(FORCE_COLOR="1", TTY_COMPATIBLE="1", TTY_INTERACTIVE="0")
        program = [sys.executable, "-m", "quorum", *words]
        done = subprocess.run(program, env=variables, capture_output=True, text=True, check=False)
        assert FORBIDDEN.findall(re.sub("\x1b\\[[0-9;]*m", "", done.stdout + done.stderr)) == []


def test_what_could_act_is_shown_as_symbols() -> None:
    assert sanitize("a\x1b[2J\r\n\t\x7f") == "a␛[2J␍␊␉␡"
    assert sanitize("\x9b\u202e\ud800\ufeff") == "⟨U+009B⟩⟨U+202E⟩⟨U+D800⟩⟨U+FEFF⟩"
    assert sanitize("a\u00a0b\u3000c\u2028") == "a b c␤"
    assert sanitize_lines("a\n\tb\x07") == "a\n\tb␇"
    assert sanitize("naïve שלום 机器 🤖") == "naïve שלום 机器 🤖"


def test_a_text_is_cut_to_its_longest() -> None:
    assert sanitize("abc", 3) == "abc"
    assert sanitize("abcd", 3) == "ab…"
    assert len(sanitize("\u202e" * 50, 20)) == 20


def test_json_says_the_same_with_escapes() -> None:
    data = {"a": f"{HARM}\U000e0001", "b\u202e": ["\ud800", "ü"]}
    text = escape_json(json.dumps(data, ensure_ascii=False, indent=2))
    assert FORBIDDEN.findall(text) == []
    assert "ü" in text
    assert json.loads(text) == data


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "=cmd|'/c calc'!A0", "\t=1", "-x", "\uff1d1", "+49 30 1"]
)
def test_a_cell_begins_no_formula(cell: str) -> None:
    assert next(csv.reader(io.StringIO(csv_text([[cell]])))) == [f"'{cell}"]


@pytest.mark.parametrize("cell", [-1.5, -3, "-1.5", "+2", "-1e-05", "-", "a=b", "-1,024.5"])
def test_a_number_stays_a_number(cell: object) -> None:
    assert next(csv.reader(io.StringIO(csv_text([[cell]])))) == [str(cell)]


def test_a_table_shows_brackets_and_symbols() -> None:
    from rich.table import Table

    file = io.StringIO()
    table = Table("[red]head[/red]", title="[/nothing]")
    table.add_row(Text("[bold]\x1b[2J"))
    table.add_row("[/x]\x07\u202e")
    Console(file=file, width=60).print(table, "[/y]\x1b", ":smile:")
    shown = file.getvalue()
    assert FORBIDDEN.findall(shown) == []
    for part in ("[red]head[/red]", "[/nothing]", "[bold]␛[2J", "[/x]", "[/y]␛", ":smile:"):
        assert part in shown


ALLOWED = {
    "quorum/display/consoles.py",
    "quorum/display/terminal.py",
    "quorum_base/environments/parallel.py",  # the world that a learner shows by render_mode="human"
}


def _prints(tree: ast.Module) -> list[int]:
    """Return the lines at which a module prints past `terminal.py` and `consoles.py`."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in ("rich", "rich.console", "typer"):
            found += [node.lineno for alias in node.names if alias.name in ("Console", "print", "echo", "secho")]
        elif isinstance(node, ast.Name) and node.id == "print" and isinstance(node.ctx, ast.Load):
            found.append(node.lineno)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if f"{node.value.id}.{node.attr}" in ("typer.echo", "typer.secho", "typer.confirm", "click.echo"):
                found.append(node.lineno)
        elif isinstance(node, ast.Attribute) and node.attr == "write" and ast.unparse(node.value).startswith("sys.std"):
            found.append(node.lineno)
    return found


def test_everything_is_printed_in_one_place() -> None:
    files: list[Path] = []
    for package in (
        "quorum",
        "quorum_base",
        "maeil",
        "cube_env",
        "crafter_env",
        "lbf_env",
        "llamac_env",
        "overcooked_env",
        "pettingzoo_env",
    ):
        files += (ROOT / package).rglob("*.py")
    found = {
        name: lines
        for file in files
        if (name := str(file.relative_to(ROOT))) not in ALLOWED
        if (lines := _prints(ast.parse(file.read_text(encoding="utf-8"))))
    }
    assert found == {}


@pytest.mark.parametrize(
    "source", ["print(1)", "import typer\ntyper.echo('a')", "from rich.console import Console", "sys.stdout.write('a')"]
)
def test_printing_elsewhere_is_found(source: str) -> None:
    assert _prints(ast.parse(source))


SECRET_ADDRESS = "https://me:s3cret-pw@proxy.example:8080/v1?a=b@c"
MASKED = "https://[hidden]@proxy.example:8080/v1?a=b@c"


@pytest.mark.parametrize("text", [SECRET_ADDRESS, "http://t0ken@host/", "a http://u:p@w@host b", "no address, me@host"])
def test_passwords_of_addresses_are_masked(text: str) -> None:
    shown = mask_passwords(text)
    assert not re.search("s3cret|t0ken|p@w", shown)
    assert mask_passwords(shown) == shown
    assert shown == text or "[hidden]@" in shown


@pytest.mark.parametrize(
    "words",
    [
        ["run", f"llm.base_url={SECRET_ADDRESS}"],
        ["run", "agents=naive", "llm=openai", "llm.model=m", f"llm.base_url={SECRET_ADDRESS}"],
        ["show", f"env.layout={SECRET_ADDRESS}"],
        ["results", SECRET_ADDRESS],
        ["sweep", f"nn={SECRET_ADDRESS}"],
        ["check", "--out", SECRET_ADDRESS, "--json"],
        ["view", "--exprt", f"--{SECRET_ADDRESS}"],
    ],
    ids=lambda words: words[0],
)
def test_no_message_shows_a_password_of_an_address(words: list[str], quorum: Quorum) -> None:
    done = quorum(*words, "--debug")
    assert "s3cret" not in done.stdout + done.stderr


def test_no_file_of_a_run_shows_a_password_of_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(f"no way to {SECRET_ADDRESS}")

    cell = Cell.compose(["n=1"])
    rehearse(cell.configuration.env.name, cell.configuration.agents.name)  # which plays, too
    monkeypatch.setattr("quorum.episode.runner.play", fail)
    with pytest.raises(FailedEpisode, match="RuntimeError") as reported:
        run_cell(cell, tmp_path)
    assert "s3cret" not in str(reported.value)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(MASKED in file.read_text() for file in files)
    assert all("s3cret" not in file.read_text() for file in files)


def test_no_error_of_a_provider_shows_a_password_of_an_address() -> None:
    assert redact_message(f"see {SECRET_ADDRESS}") == f"see {MASKED}"
