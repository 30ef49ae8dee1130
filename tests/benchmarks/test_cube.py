"""`benchmarks/cube.py --quick` measures everything that the full run does; no test looks at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.cube_speed.measure import Subject, measure
from tests.conftest import PATIENCE, ROOT, environment


def bench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script in a folder."""
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "cube.py"), *arguments],
        cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip


@pytest.mark.claims
def test_a_quick_run_leaves_json(tmp_path: Path) -> None:
    done = bench(tmp_path, "--quick", "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("bench-cube-")
    assert json.loads((folder / "results.json").read_text()) == results
    assert results["quick"] is True
    assert {"versions", "machine", "definitions", "load"} <= set(results)
    names = " | ".join(row["name"] for row in results["speed"])
    for words in ("step, random", "step of the loop", "peak memory", "push_block tick", "batch of"):
        assert words in names
    for row in results["speed"]:
        assert row["low"] <= row["measured"] <= row["high"]
        assert (row["ok"] is None) == (row["target"] is None)


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = bench(tmp_path, "--quick", "--out", "file/there")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --out file/there: results cannot be written there")


def test_rows_are_medians_and_know_whether_they_reach_their_target() -> None:
    values = iter([99.0, 1.0, 99.0, 5.0, 99.0, 2.0, 99.0, 6.0])
    below, above = (Subject("a", 1, "us", lambda: next(values), target=2, better=better) for better in ("less", "more"))
    first, second = measure([below, above], 3, lambda _: None)
    assert (first.measured, first.low, first.high, first.ok) == (99.0, 99.0, 99.0, False)
    assert (second.measured, second.low, second.high, second.ok) == (5.0, 2.0, 6.0, True)
    assert measure([Subject("c", 1, "", lambda: 1.0)], 1, lambda _: None)[0].ok is None
