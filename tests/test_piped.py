"""What every verb prints goes whole into a pipe or a file, in any encoding; a reader may leave, and a disk be full."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from quorum.cli import main
from quorum.configuration.cell import Cell
from quorum.display import terminal
from quorum.episode.runner import run_cell

Shown = tuple[int, bytes, str]
"""The exit code, what came out of the pipe, and the text on standard error."""
Command = Callable[..., Shown]
"""Runs the command."""


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("piped") / "a sweep of which the name is longer than a row of eighty columns" / "s"
    for seed in (0, 1):
        run_cell(Cell.compose(["n=2", "max_steps=2", f"seed={seed}"]), folder)
    return folder


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Run the command in this process, with standard output as it is behind `| cat` or `> FILE`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)

    def run(*arguments: str, stdout: io.TextIOWrapper | None = None, encoding: str = "utf-8") -> Shown:
        behind = io.BytesIO()
        reported = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
        stream = stdout or io.TextIOWrapper(behind, encoding, errors="strict")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["quorum", *arguments])
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "stderr", reported)
            with pytest.raises(SystemExit) as ended:
                main()
            with suppress(OSError):
                stream.flush()
        reported.seek(0)
        return int(ended.value.code or 0), behind.getvalue(), reported.read()

    return run


@contextmanager
def _to_nobody() -> Iterator[io.TextIOWrapper]:
    """Give the end of a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    stream = io.TextIOWrapper(io.BufferedWriter(io.FileIO(writer, "w")), "utf-8")
    yield stream
    with suppress(BrokenPipeError):  # of what was not printed
        stream.close()


VERBS = {
    "run": ["run", "n=2", "max_steps=2", "--out", "out"],
    "sweep": ["sweep", "n=2", "seed=0,1", "max_steps=2", "--name", "a-sweep", "--dry-run", "--names"],
    "metrics": ["results", "RUN"],
    "results": ["results", "SWEEP"],
    "sql": ["results", "SWEEP", "--sql", "select name, repeat('wide ', 40) as words from results"],
    "list": ["list"],
    "list env": ["list", "env"],
    "list metrics": ["list", "metrics"],
    "show": ["show"],
    "help": ["--help"],
}


def _words(verb: str, sweep: Path) -> list[str]:
    run = next(path for path in sorted(sweep.iterdir()) if (path / "trace.jsonl").exists())
    places = {"SWEEP": str(sweep), "RUN": str(run)}
    return [places.get(word, word) for word in VERBS[verb]]


@pytest.mark.parametrize("verb", VERBS)
def test_a_stream_that_has_only_ascii_gets_plain_signs_and_whole_words(
    verb: str, sweep: Path, command: Command
) -> None:
    words = _words(verb, sweep)
    code, out, reported = command(*words, encoding="ascii")
    assert (code, reported) == (0, "")
    text = out.decode("ascii")
    assert not re.search(r"\\[xuU][0-9a-f]{2}", text)
    if verb == "sql":
        assert f"| {'wide ' * 40}" in text


@pytest.mark.parametrize("verb", VERBS)
def test_a_reader_that_has_left_is_no_bug(verb: str, sweep: Path, command: Command) -> None:
    with _to_nobody() as stream:
        code, _, reported = command(*_words(verb, sweep), stdout=stream)
    assert (code, reported) == (1, "")


def test_files_are_written_before_anything_is_printed(sweep: Path, command: Command) -> None:
    run = Path(_words("metrics", sweep)[1])
    before = (run / "metrics.json").stat().st_ino
    (sweep / "results.csv").unlink(missing_ok=True)
    for words in (["results", str(run), "--write"], ["results", str(sweep)], VERBS["run"]):
        with _to_nobody() as stream:
            assert command(*words, stdout=stream)[0] == 1
    assert (run / "metrics.json").stat().st_ino != before
    assert (sweep / "results.csv").exists()
    assert [file.name for file in Path("out").glob("*/meta.json")] == ["meta.json"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@pytest.mark.parametrize("verb", ["run", "metrics", "list"])
def test_a_full_disk_behind_standard_output_is_one_message(verb: str, sweep: Path, command: Command) -> None:
    with open("/dev/full", "w", encoding="utf-8") as stream:
        code, _, reported = command(*_words(verb, sweep), stdout=stream)
    assert code == 2
    assert reported.startswith("error: standard output: cannot be written: No space left on device\nMake room")


def test_the_width_that_was_asked_for_is_kept(sweep: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = command(*_words("sql", sweep))
    lines = out.decode().splitlines()
    assert max(map(len, lines)) <= 60
    assert "…" not in out.decode()


@pytest.mark.parametrize("errors", ["strict", "surrogateescape", "backslashreplace"])
def test_however_the_locale_has_python_take_missing_signs(errors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    behind = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(behind, "ascii", errors))
    terminal.show_in_any_encoding()
    terminal.echo("1 → 2")
    assert behind.getvalue() == b"1 -> 2\n"
