"""The table of the first experiment is what `make run` prints."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest

from tests.conftest import ROOT, Quorum

ROWS = re.findall(
    r"^\| `(\w+)`:[^|]*\| ([^|]+) \| ([^|]+) \|$", (ROOT / "docs" / "measurements.md").read_text("utf-8"), re.MULTILINE
)


def test_the_table_has_every_arm() -> None:
    arms = re.findall(r"^  (\w+): \[", (ROOT / "configs" / "experiment" / "quickstart.yaml").read_text(), re.MULTILINE)
    assert [arm for arm, *_ in ROWS] == arms


RECIPE = re.findall(
    r"^\t@((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text("utf-8").split("\nrun:")[1].split("\n\n")[0], re.MULTILINE
)
"""The commands of `make run`."""


@pytest.mark.claims
def test_make_run_prints_its_answer_in_forty_lines_and_ends_with_three_commands(quorum: Quorum) -> None:
    typed = [line.replace("$(NAME)", "quick") for line in RECIPE if ".venv/bin/quorum" in line]
    assert [command.split()[1] for command in typed] == ["sweep", "compare", "report"]
    shown = ""
    for command in typed:
        done = quorum(*shlex.split(command)[1:], COLUMNS="80")
        assert done.returncode == 0, done.stderr
        shown += done.stdout
    says = [line.replace("$(NAME)", "quick") for line in RECIPE if line.startswith(("echo", "printf"))]
    ends = [line for one in says for line in subprocess.check_output(["sh", "-c", one], text=True).splitlines()]
    assert len(shown.splitlines()) + len(ends) <= 40
    assert [line.startswith("  quorum ") for line in ends[-3:]] == [True] * 3
    assert "Success: no significant difference from individual." in shown
    assert " ".join(shown.split()).count("Simulated language model: its results say nothing about a real model.") == 1
    assert "difference from" not in shown.partition("outcome.success")[2], "a table of differences"
    for line in ends[-3:]:
        verb = line.split()[1]
        assert quorum(verb, "--help").returncode == 0


@pytest.mark.claims
def test_the_difference_below_the_table_is_what_the_experiment_gives(quorum: Quorum) -> None:
    """`tests.docs.test_tables` measures the table itself."""
    assert quorum("sweep", "experiment=quickstart", "--name", "quick", "--quiet").returncode == 0
    words = ("--metric", "success", "--metric", "steps", "--baseline", "individual")
    shown = quorum("compare", "runs/quick", *words).stdout
    below = (
        (ROOT / "docs" / "measurements.md")
        .read_text("utf-8")
        .split("make run` prints these means")[1]
        .split("\n## ")[0]
    )
    figures = re.findall(r"[+-]\d+\.\d \[[^]]*\]", below)
    assert figures
    for figure in figures:
        assert f" {figure} " in shown, figure
    success = shown.split("outcome.success ↑: difference")[1].split("outcome.steps ↓: difference")[0]
    assert all(float(p) > 0.05 for p in re.findall(r"\] │ +(\d\.\d+) │", success))
