"""A branch without a change is the run itself, wherever it begins, and sends nothing to a model before that."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from maeil.trace import comparable, read_trace
from maeil.trace.events import ThoughtStart
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.recording import unfolded
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import Result, run_cell
from tests.branching import plan_branch
from tests.episode.test_loopback_books import TEAMS
from tests.serving import served

CELLS = {
    "cube heuristic": "n=4 seed=1 max_steps=25",
    "cube negotiator debate": "n=4 agents=negotiator topology=debate max_steps=40",
    "cube planner": "n=2 agents=planner agents.starts=2 agents.changes=4 agents.rollouts=2 max_steps=20",
    "cube repair": "n=4 agents=naive extension=repair max_steps=30 llm.poor=0.3",
    "crafter members": "env=crafter_coop max_steps=25 agents=heuristic agents.members.agent_1=naive topology=debate",
    "squeeze errs": "env=squeeze n=3 max_steps=6 agents=naive topology=debate llm=simulated_faults llm.malformed=0.3",
    "squeeze drwell": "n=3 max_steps=25 agents=drwell topology=negotiation",
}
WORLDS = {
    f"{world} {minds}": f"env={world} n=3 max_steps=30 agents={minds}"
    for world in ("cube", "crafter_coop", "transport", "squeeze")
    for minds in ("heuristic", "naive")
}


def instants(folder: Path, number: int, seed: str) -> list[str]:
    """Draw instants at which somebody begins to think, and the first."""
    starts = {(s.t, s.t_hat) for s in read_trace(folder).events if isinstance(s.event, ThoughtStart)}
    drawn = random.Random(seed).sample(sorted(starts), min(number, len(starts)))
    return ["0", *(f"{t}:{t_hat}" for t, t_hat in drawn)]


def branched(run: Path, at: str, out: Path, **edits: Any) -> Result:
    planned = plan_branch(run, at, **edits)
    cell, start = planned.cell, planned.start
    return run_cell(cell, out, start=start)


def calls_of(folder: Path) -> list[dict[str, Any]]:
    """Return the recorded calls without what belongs to the wall clock."""
    file = folder / "calls.jsonl"
    records = list(unfolded(file.read_bytes().splitlines(keepends=True))) if file.exists() else []
    for record in records:
        for end in ("reply", "failure"):
            record.get(end, {}).pop("wall", None)
    return sorted(records, key=lambda record: orjson.dumps(record, option=orjson.OPT_SORT_KEYS))


def assert_same(branch: Path, run: Path) -> None:
    first, *rest = comparable(branch)
    header, *others = comparable(run)
    found = json.loads(first)
    assert found.pop("branch")["run"] == run.name
    assert found == json.loads(header)
    assert rest == others
    assert calls_of(branch) == calls_of(run)


def check_identity(words: str, number: int, tmp_path: Path) -> None:
    run = run_cell(Cell.compose(words.split()), tmp_path / "runs").folder
    for at in instants(run, number, words):
        assert_same(branched(run, at, tmp_path / "branches").folder, run)


@pytest.mark.parametrize("cell", CELLS)
def test_a_branch_without_a_change_is_the_run_byte_for_byte(cell: str, tmp_path: Path) -> None:
    check_identity(CELLS[cell], 2, tmp_path)


@pytest.mark.conformance
@pytest.mark.parametrize("cell", [*CELLS, *TEAMS, *WORLDS])
def test_a_branch_is_the_run_at_twenty_instants(cell: str, tmp_path: Path) -> None:
    words = {**CELLS, **TEAMS, **WORLDS}[cell]
    bound = "" if "max_steps" in words else " max_steps=8"
    check_identity(words + bound, 20, tmp_path)


class Counting:
    """A simulated model that counts what it is asked."""

    def __init__(self) -> None:
        self._brain = SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0)))
        self.requests = 0

    async def complete(self, request: Request) -> Reply:
        self.requests += 1
        return await self._brain.complete(request)


def test_only_the_calls_of_thoughts_that_begin_at_the_instant_or_later_reach_the_server(tmp_path: Path) -> None:
    brain = Counting()
    with served(brain) as addresses:
        model = ["llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null"]
        words = ["env=squeeze", "n=3", "max_steps=4", "agents=naive", "topology=debate", "llm.cache=false"]
        run = run_cell(Cell.compose([*words, *model]), tmp_path).folder
        everything = brain.requests
        trace = read_trace(run)
        for at in instants(run, 3, "counted"):
            t, _, t_hat = at.partition(":")
            starts = [
                s.event.agent
                for s in trace.events
                if isinstance(s.event, ThoughtStart) and (s.t, s.t_hat) >= (int(t), float(t_hat or 0))
            ]
            brain.requests = 0
            branch = branched(run, at, tmp_path / "branches").folder
            assert_same(branch, run)
            assert brain.requests == len(starts) <= everything


def test_the_budget_of_a_branch_has_paid_for_its_beginning(tmp_path: Path) -> None:
    words = "env=squeeze n=3 max_steps=6 agents=naive topology=debate budget.calls=15"
    run = run_cell(Cell.compose(words.split()), tmp_path)
    assert run.outcome == "budget"
    assert_same(branched(run.folder, "1", tmp_path / "branches").folder, run.folder)
