"""A command that has nothing to print yet shows on a terminal what it does; pipes and files get nothing."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Quorum, command, environment
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


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (("view", "--export", "site"), "page: site/index.html\n"),
        (("report",), "report: runs/talk/report.html\n"),
        (("check", "runs/talk"), "runs/talk: 2 runs: 2 whole\n"),
        (("compare", "--brief"), "files in runs/talk/comparison/topology\n"),
        (("results",), "table: runs/talk/results.csv\n"),
        (("show", "failures"), "no failure that the trace proves\n"),
        (("sweep", "n=2", "max_steps=2", "--dry-run"), "arguments      n=2 max_steps=2"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_the_result_goes_to_standard_output_and_the_sign_to_the_terminal(
    words: tuple[str, ...], result: str, quorum: Quorum, tmp_path: Path
) -> None:
    quorum("sweep", "n=2", "max_steps=2", "seed=0,1", "--name", "talk", "--quiet")
    ours, terminal = pty.openpty()
    variables = environment(TERM="xterm", COLUMNS="160")
    done = subprocess.run(
        command(*words), cwd=tmp_path, env=variables, stdout=subprocess.PIPE, stderr=terminal, text=True, check=True
    )
    os.close(terminal)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert result in done.stdout
    assert "\x1b" not in done.stdout
    assert "..." in shown
    assert result.strip() not in shown
