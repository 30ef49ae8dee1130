"""A command that has nothing to print yet shows on a terminal what it does; pipes and files get nothing."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Quorum
from tests.terminals import in_a_terminal


def test_a_comparison_shows_that_it_is_at_work_and_removes_it(quorum: Quorum, tmp_path: Path) -> None:
    piped = quorum("sweep", "n=2", "max_steps=2", "seed=0,1", "agents=heuristic,idle", "--name", "talk", "--quiet")
    assert (piped.returncode, piped.stderr) == (0, "")
    code, shown = in_a_terminal(tmp_path, "compare", "runs/talk", "--brief")
    assert code == 0
    sign, _, tables = shown.partition("\x1b[?25h")  # the cursor comes back when the sign has gone
    assert "comparing ..." in sign
    assert "comparing" not in tables
    assert "mean by agents" in tables
    assert "comparing" not in in_a_terminal(tmp_path, "compare", "runs/talk", "--quiet")[1]
    compared = quorum("compare", "runs/talk", "--brief")
    assert (compared.returncode, compared.stderr) == (0, "")
    assert "comparing" not in compared.stdout
