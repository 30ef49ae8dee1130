"""A disk that is full half-way: one message that names the file and the way out, and nothing under a final name."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.storage.files import write_all
from quorum_base.user_errors import UserError
from tests.test_piped import Command, command  # noqa: F401 - a fixture


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full") / "s"
    for size in (2, 3):
        run_cell(Cell.compose([f"n={size}", "max_steps=2"]), folder)
    return folder


@contextmanager
def room(bytes_a_file: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes: what is written there fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_a_file, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _stamps(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


CASES = {
    "run": (["run", "n=2", "max_steps=2", "--out", "new/runs"], 3_000, "new/runs: results cannot be written there: "),
    "sweep": (["sweep", "n=2,3", "max_steps=2", "--name", "new"], 300, "runs/new/sweep.json: cannot be written: "),
    "compare": (
        ["compare", "SWEEP", "--by", "n", "--metric", "steps", "--out", "new/files"],
        9_000,
        "cannot be written: ",
    ),
    "report": (["report", "SWEEP", "--out", "new.html"], 9_000, "new.html: cannot be written: "),
    "pages": (["report", "SWEEP", "--episodes", "--out", "new.html"], 9_000, ".html: cannot be written: "),
    "export": (["view", "RUN", "--export", "new.html"], 9_000, "new.html: cannot be written: "),
    "film": (["replay", "RUN", "--out", "new.gif"], 900, "new.gif: cannot be written: "),
    "metrics": (["results", "RUN", "--write"], 900, "metrics.json: cannot be written: "),
    "results": (["results", "SWEEP"], 100, "results.csv: cannot be written: "),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_reported_and_leaves_nothing(case: str, sweep: Path, command: Command) -> None:  # noqa: F811
    words, enough, reported = CASES[case]
    run = next(path for path in sorted(sweep.iterdir()) if (path / "trace.jsonl").exists())
    before = _stamps(sweep)
    with room(enough):
        code, _, err = command(*(str({"SWEEP": sweep, "RUN": run}.get(word, word)) for word in words))
    assert code == 2
    assert f"{reported}File too large\nMake room" in err
    assert "Traceback" not in err
    assert _stamps(sweep) == before
    assert [file for file in Path.cwd().rglob("*") if file.is_file() and not file.name.startswith(".")] == []
    assert not Path("new").exists()


def test_files_that_belong_together_are_replaced_together(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with room(10), pytest.raises(UserError, match=r"b: cannot be written: File too large\nMake room, or give another"):
        write_all(tmp_path, {"a": b"new", "b": b"x" * 11}, "Give another place.")
    assert _stamps(tmp_path) == {tmp_path / "a": b"old"}


def test_the_digest_of_metrics_stays_that_of_the_metrics_that_are_there(
    sweep: Path,
    command: Command,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = next(path for path in sorted(sweep.iterdir()) if (path / "trace.jsonl").exists())
    (run / "metrics.json").write_text("{}\n")  # as an older version could have left them
    before, real = _stamps(run), os.open

    def full(path: Any, *arguments: Any, **options: Any) -> int:
        if str(path).startswith(".meta.json."):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", full)
    code, _, err = command("results", str(run), "--write")
    assert (code, "meta.json: cannot be written: No space left on device\nMake room" in err) == (2, True)
    assert _stamps(run) == before
