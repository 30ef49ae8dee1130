"""Branches of a sweep ask by batches as all other cells do: what is recorded goes into none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quorum.runs import read_results
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepRequest
from quorum.what_if.branch.branches import BranchGrid
from tests.loopback import Batches
from tests.more_providers.test_batches import BY_BATCH, DEBATE, PLAIN, plain_run


def test_branches_ask_by_batches_what_is_live_and_nothing_else(tmp_path: Path) -> None:
    batches, prices = Batches(), "llm.prices={input: 1, output: 10}"
    more = ("env=squeeze", DEBATE, "seed=0,1", prices)
    planner, mind = BranchGrid((tmp_path / "plain",), ("2",)), "agents.members.agent_1=heuristic"
    with plain_run("openai", tmp_path, *more, batches=batches) as (brain, _):
        before = brain.asked.total()
        bounded: dict[str, Any] = {"planner": planner, "budget_calls": 1000}
        one = run_sweep_command(SweepRequest((*PLAIN, mind), tmp_path, "each", **bounded), quiet=True)
        each = brain.asked.total() - before
        by_batch = run_sweep_command(SweepRequest((*BY_BATCH, mind), tmp_path, "s", **bounded), quiet=True)
    assert (one.left, by_batch.left, by_batch.failed) == (0, 0, ())
    assert batches.rows == each == one.spent.answers == by_batch.spent.answers
    assert by_batch.spent.usd * 2 == pytest.approx(one.spent.usd)
    steps = [[row.metrics["outcome.steps"] for row in read_results(tmp_path / name).rows] for name in ("each", "s")]
    assert steps[0] == steps[1]
