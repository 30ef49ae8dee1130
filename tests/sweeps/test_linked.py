"""The sweep folder of somebody else, with a link at every place that a verb writes to: nothing outside changes."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import Quorum
from tests.folders import real_sweep

SWEEP = ("sweep", "n=2", "agents=heuristic", "seed=0,1", "max_steps=3", "--name", "s", "--out", ".", "--quiet")
COMPARE = ("compare", "s", "--metric", "steps", "--quiet")
EPISODES = ("report", "s", "--metric", "steps", "--quiet", "--episodes")


def _drop_a_trace(sweep: Path) -> None:
    """Leave a cell that is damaged, so that the next command puts it aside and plays it again."""
    next(sweep.glob("cube*/trace.jsonl")).unlink()


CASES: Mapping[str, tuple[tuple[str, ...], str, str]] = {
    "folder for attempts": (SWEEP, ".retried", r"s/.retried: it is a link, which is not followed"),
    "half-written episode": (SWEEP, "x.partial-12345678", ""),
    "probe": (SWEEP, ".partial-probe", ""),
    "plan": (SWEEP, "sweep.json", "sweep.json: it is a link, which Quorum does not replace"),
    "table": (SWEEP, "results.csv", "results.csv: it is a link, which Quorum does not replace"),
    "batches": ((*SWEEP, "engine=batch"), "batches.jsonl", "s/batches.jsonl: it is a link, which is not followed"),
    "batches of another command": (SWEEP, "batches.jsonl", ""),
    "lock": (SWEEP, ".lock", "s/.lock: it is a link, which is not followed"),
    "claim": (SWEEP, ".claim", ""),
    "workers": (SWEEP, ".workers", "s/.workers: it is a link, which is not followed"),
    "comparisons": (COMPARE, "comparison", "s/comparison: cannot be made: it is a link, which is not followed"),
    "pages": (EPISODES, "episodes", "s/episodes cannot be made: it is a link, which is not followed"),
    "report": (EPISODES[:-1], "report.html", "report.html: it is a link, which Quorum does not replace"),
}
"""The command, the name of the link, and what it answers; empty: it does its work, and the link is gone or left."""


FOLDERS = {".retried", "x.partial-12345678", "comparison", "episodes"}
"""The names that folders have."""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a sweep of two cells."""
    folder = tmp_path_factory.mktemp("swept") / "s"
    real_sweep(folder, [["n=2", "agents=heuristic", f"seed={seed}", "max_steps=3"] for seed in (0, 1)])
    return folder


def _tree(folder: Path) -> Mapping[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


@pytest.mark.parametrize("case", CASES)
def test_no_verb_writes_through_a_link(case: str, swept: Path, quorum: Quorum, tmp_path: Path) -> None:
    words, name, answer = CASES[case]
    sweep = shutil.copytree(swept, tmp_path / "s")
    canary = tmp_path / "canary"
    (canary / "folder").mkdir(parents=True)
    (canary / "file").write_text("keep me")
    (canary / "folder" / "results.csv").write_text("keep me")
    _drop_a_trace(sweep)
    (sweep / name).unlink(missing_ok=True)
    (sweep / name).symlink_to(canary / ("folder" if name in FOLDERS else "file"))
    before = _tree(canary)
    done = quorum(*words)
    assert "Traceback" not in done.stderr
    assert answer in done.stderr
    assert done.returncode == (2 if answer else 0), done.stderr
    assert _tree(canary) == before
