"""What is printed reaches a terminal of any encoding and a pipe that closes early."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, ROOT, Quorum
from tests.folders import hostile_sweep


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_sweep(tmp_path_factory.mktemp("terminal") / "sweep")


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def test_a_terminal_that_has_only_ascii_gets_plain_signs(sweep: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "quorum", "compare", str(sweep), "--metric", "steps", "--out", str(tmp_path / "o")]
    done = subprocess.run(
        command, capture_output=True, env=_environment(PYTHONIOENCODING="ascii"), timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("ascii")
    assert "outcome.steps v (environment steps)" in text
    assert "^ more is better, v less is better" in text


def test_a_reader_that_leaves_after_the_first_line_costs_no_file(sweep: Path, tmp_path: Path) -> None:
    command = f"{sys.executable} -m quorum compare {sweep} --metric steps --out {tmp_path / 'o'} | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=_environment(), timeout=PATIENCE, check=False
    )
    assert len(done.stdout.splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert {"tables.md", "tables.tex", "estimates.csv", "figures"} <= set(os.listdir(tmp_path / "o"))


def test_no_number_of_a_piped_table_is_cut_at_eighty_columns(sweep: Path, quorum: Quorum) -> None:
    done = quorum("compare", str(sweep), "--baseline", "plain", "--out", "o", COLUMNS="80")
    assert "-5.00" in done.stdout
    assert max(map(len, done.stdout.splitlines())) > 80
