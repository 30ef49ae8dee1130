"""A scripted message or plan replaces that of a participant once, and nothing else of its turn changes."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from maeil.trace import read_trace
from maeil.trace.events import MessageSent, PlanChange, ThoughtEnd
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.verify import verify_run
from quorum_base.user_errors import UserError
from tests.branching import plan_branch
from tests.what_if.branch.test_identity import branched, calls_of

TEXT = "leave it to me"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = "env=squeeze n=3 max_steps=5 agents=naive topology=debate"
    return run_cell(Cell.compose(words.split()), tmp_path_factory.mktemp("runs")).folder


def test_a_message_is_said_once_and_reaches_the_prompts_of_those_who_decide_next(run: Path, tmp_path: Path) -> None:
    branch = branched(run, "2", tmp_path, says=[f"agent_1:{TEXT}"]).folder
    sent = [s for s in read_trace(branch).events if isinstance(s.event, MessageSent)]
    (said,) = [s for s in sent if s.event.content == TEXT]
    assert (said.t, said.event.sender) == (2, 1)
    assert next(s for s in sent if s.t >= 2 and s.event.sender == 1) is said
    asked = [call for call in calls_of(branch) if TEXT in call["request"]["messages"][-1]["content"]]
    assert {call["agent"] for call in asked if call["t"] == 2 and "plan" in call["turn"]} >= {"agent_0", "agent_2"}
    assert not [call for call in asked if call["t"] < 2]
    assert verify_run(branch).problems == []


def test_a_plan_is_committed_once_at_the_cost_of_the_thought_that_it_replaces(run: Path, tmp_path: Path) -> None:
    own = [s for s in read_trace(run).events if isinstance(s.event, PlanChange) and s.event.status == "committed"]
    other = next(s.event.actions for s in own if s.event.agent == 2)
    reported = f"agent_0:{orjson.dumps(other).decode()}"
    branch = branched(run, "2", tmp_path, plans=[reported]).folder
    plans = [s for s in read_trace(branch).events if isinstance(s.event, PlanChange) and s.event.status == "committed"]
    assert next(s for s in plans if s.t >= 2 and s.event.agent == 0).event.actions == other
    ends = [
        [s.event.cost for s in read_trace(folder).events if isinstance(s.event, ThoughtEnd) and s.t == 2]
        for folder in (run, branch)
    ]
    assert ends[0] == ends[1]


def test_the_message_names_the_cell(run: Path) -> None:
    reported = plan_branch(run, "2", says=["agent_1:one"]).cell
    assert reported.hash != plan_branch(run, "2", says=["agent_1:two"]).cell.hash
    assert reported.origin is not None
    assert reported.origin.told == ("--say agent_1:one",)


def test_what_nobody_has_a_turn_for_is_known(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["env=squeeze", "n=2", "max_steps=3", "agents=naive"]), tmp_path / "runs").folder
    planned = plan_branch(run, "1", says=["agent_1:one"])
    cell, start = planned.cell, planned.start
    assert run_cell(cell, tmp_path / "out", start=start).outcome in ("success", "truncated")
    assert [str(words) for words in start.undone] == ["--say agent_1:one"]


REFUSED = {
    "nobody": ({"says": [":hello"]}, "--say :hello: give AGENT:TEXT"),
    "nothing": ({"plans": ["agent_0:"]}, "--plan agent_0:: give AGENT:ACTIONS"),
    "no such agent": ({"says": ["agent_9:hello"]}, r"no participant 'agent_9'(.|\n)*Did you mean"),
    "no JSON": ({"plans": ["agent_0:push"]}, "not JSON"),
    "no list": ({"plans": ["agent_0:{}"]}, "not a list of actions"),
    "no action": ({"plans": ['agent_0:[{"action": "fly"}]']}, "--plan agent_0:.*fly"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_dictated_is_refused(case: str, run: Path, tmp_path: Path) -> None:
    edits, message = REFUSED[case]
    with pytest.raises(UserError, match=message):
        branched(run, "2", tmp_path / "out", **edits)
    assert not (tmp_path / "out").exists()


def test_a_plan_that_the_world_refuses_ends_the_branch_with_its_reasons(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["n=2", "max_steps=20"]), tmp_path / "runs").folder
    plan = 'agent_0:[{"action": "push_block", "block": 99, "steps": 1}]'
    with pytest.raises(UserError, match=r"the world refuses it at 0:0: .*99"):
        branched(run, "0", tmp_path / "out", plans=[plan])
