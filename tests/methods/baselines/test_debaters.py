"""Multi-agent debate: its calls, and how several joint plans become one."""

from __future__ import annotations

import pytest

from llamac_env import Pick
from maeil import Plan, Task
from quorum.agents.llm.recording import unfolded
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.skills import role_of
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.llamac_worlds.squeeze.rules import median
from quorum.methods.baselines.asking import majority
from tests.agents.llamac.stage import NOT_JSON, Cast, codes_of, committed, everybody, joint, walk
from tests.conftest import one_each
from tests.maeil.corridor import Corridor, Walk
from tests.methods.baselines.stage import end_of, run


def go(steps: int, target: str = "end", why: str = "") -> Plan:
    return Plan((Walk(steps=steps),), Task("walk", target), why)


def picks(*units: int) -> Plan:
    return Plan(tuple(Pick(units=number) for number in units), Task("allocate", "system"))


def test_three_debaters_in_two_rounds_take_six_calls(tmp_path):
    model = Cast(debater=everybody(2))
    events = run("debaters", model, tmp_path)
    assert (model.total, end_of(events).outcome) == (6, "success")
    first, second = model.asked("debater")[:3], model.asked("debater")[3:]
    assert [blocks["debater"] for blocks in first] == ["debater_0", "debater_1", "debater_2"]
    assert all("own" not in blocks and "others" not in blocks for blocks in first)
    assert [sorted(blocks["others"]) for blocks in second] == [
        ["debater_1", "debater_2"],
        ["debater_0", "debater_2"],
        ["debater_0", "debater_1"],
    ]


def test_in_turn_each_debater_has_heard_those_before_and_is_told_who_it_is(tmp_path):
    model = Cast(debater=everybody(2))
    run("debaters", model, tmp_path, speaking="in_turn", personas=["You are bold.", "You are careful."])
    asked = model.asked("debater")
    assert [blocks["debater"] for blocks in asked] == ["debater_0", "debater_1", "debater_2"] * 2
    assert [len(blocks.get("others", ())) for blocks in asked] == [0, 1, 2, 2, 2, 2]
    assert ["own" in blocks for blocks in asked] == [False] * 3 + [True] * 3
    assert [blocks["persona"] for blocks in asked[:3]] == ["You are bold.", "You are careful.", "You are bold."]


def test_the_shipped_debate_with_personas_gives_each_debater_its_own(tmp_path):
    team = ("agents=debaters_personas", "topology=centralized", "topology.leader=coordinator", "topology.rounds=0")
    result = run_cell(Cell.compose(one_each(*team, "env=squeeze", "n=3", "max_steps=1")), tmp_path)
    assert (result.outcome, result.metrics["model.calls"]) == ("truncated", 6)
    asked = unfolded((result.folder / "calls.jsonl").read_bytes().splitlines(keepends=True))
    blocks = [read_blocks(call["request"]["messages"][-1]["content"]) for call in asked]
    personas = [found["persona"] for found in blocks]
    assert len(set(personas[:3])) == 3
    assert personas[:3] == personas[3:], "one in each round"


def test_the_last_round_is_merged_agent_by_agent(tmp_path):
    last = [
        joint(agent_0=walk(1), agent_1=walk(3)),
        joint(agent_0=walk(2), agent_1=walk(2)),
        joint(agent_0=walk(2), agent_1=walk(3)),
    ]
    model = Cast(debater=[everybody(2)] * 3 + last)
    events = run("debaters", model, tmp_path, world=Corridor(2, max_steps=1))
    steps = {
        s.event.agent: s.event.actions[0]["steps"]
        for s in events
        if s.event.kind == "plan" and s.event.status == "committed"
    }
    assert steps == {0: 2, 1: 3}


def test_a_debater_that_cannot_be_read_is_asked_again_and_stays_with_what_it_said_last(tmp_path):
    model = Cast(debater=[*[everybody(2)] * 3, NOT_JSON, NOT_JSON, everybody(2, walk(2)), joint()])
    events = run("debaters", model, tmp_path, world=Corridor(2, max_steps=1), syntax_retries=1)
    assert (model.total, codes_of(events)) == (7, ["V-FORM", "V-FORM"])
    assert committed(events) == {0: ["walk"], 1: ["walk"]}, "of three different votes that of the lowest"


def test_without_any_joint_plan_the_episode_ends_unfinished(tmp_path):
    model = Cast(debater=NOT_JSON)
    end = end_of(run("debaters", model, tmp_path, syntax_retries=2))
    assert model.total == 3 * 2 * 3
    assert (end.outcome, end.reason.split(":")[0]) == ("failure", "NoJointPlan")


@pytest.mark.parametrize(
    ("votes", "winner"),
    [
        ([go(1), go(2), go(2)], go(2)),
        ([go(2), go(1), go(2)], go(2)),
        ([go(3), go(2), go(1)], go(3)),  # a tie: the lowest debater
        ([None, go(1), go(2)], None),
        ([None, go(1), go(1)], go(1)),
        ([go(1), None, None], None),  # most let it wait
        ([go(1, "a"), go(1, "b"), go(1, "b")], go(1, "b")),  # a different task makes a different plan
    ],
)
def test_the_majority_of_each_agent_wins_and_the_lowest_debater_breaks_ties(votes, winner):
    proposals = [{4: plan} if plan is not None else {} for plan in votes]
    assert majority(proposals, [4, 7]) == ({4: winner} if winner is not None else {})


def test_plans_with_other_reasons_are_equal_votes_and_agents_are_merged_apart():
    proposals = [{0: go(1), 1: go(1)}, {0: go(2, why="near"), 1: go(1)}, {0: go(2, why="safe"), 1: go(3)}]
    assert majority(proposals, [0, 1]) == {0: go(2, why="near"), 1: go(1)}


def test_in_the_squeeze_the_median_of_the_picks_is_taken():
    default = lambda: majority  # noqa: E731
    assert role_of("squeeze", "merge", "agents=debaters", default)() is median
    assert role_of("transport", "merge", "agents=debaters", default)() is majority
    proposals = [{0: picks(2), 1: picks(9)}, {0: picks(7), 1: picks(0)}, {0: picks(3)}]
    merged = median(proposals, [0, 1, 2])
    assert {agent: plan.actions for agent, plan in merged.items()} == {0: (Pick(units=3),), 1: (Pick(units=0),)}
    several = median([{0: picks(1, 5)}, {0: picks(2, 6, 9)}, {0: picks(9, 0)}], [0])
    assert several[0].actions == (Pick(units=2), Pick(units=5)), "round by round, as far as the shortest"
