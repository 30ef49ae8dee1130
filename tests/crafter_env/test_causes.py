"""Why attempts at cells fail: each cause by hand in the real loop, and what holds of all traces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crafter_env import Collect, Direction, Item, Move, Navigate, Noop, Resource, Target
from maeil import Plan, Thought
from maeil.metrics import compute_metrics
from maeil.tasks import Constraint
from maeil.trace import Trace
from tests.crafter_env.joined import world
from tests.maeil.scripted import Scripted, play

PICK = {Item.wood_pickaxe: 1}
BOTH = {0: PICK, 1: PICK}
STAY = Noop(steps=9)
HEIGHT = 3
STONE = 1 * HEIGHT + 1
"""The id of the cell (1, 0) on the maps here."""
TAKE = Collect(resource=Resource.stone, target=STONE, steps=1)
GO = Navigate(target=Target.stone, id=STONE)
NEAR = "0#1....\n.......\n......."
FAR = "0#....1\n.......\n......."
AWAY = "..#0...\n.......\n......."


def attempts(drawn, bags, *plans, steps=1, **rules):
    """The attempts of the first steps as (agents, cause), and the trace; each agent then stays."""
    found = world(drawn, max_steps=steps, known_only=False, oracle_map=True, **rules)
    reset = found.reset

    def with_bags(seed):
        board = reset(seed)
        for agent, bag in bags.items():
            for item, amount in bag.items():
                found.env.crafter_state.inventory[agent, item] = amount
        return board

    found.reset = with_bags
    minds = [Scripted(Thought(Plan(tuple(plan))), Thought(Plan((STAY,)))) for plan in plans]
    trace = Trace(tuple(play(minds, found)))
    return [(sorted(one.agents), one.missing[:1]) for one in trace.story.attempts], trace


@pytest.mark.parametrize(
    ("drawn", "bags", "mate", "agents", "cause"),
    [
        (NEAR, {0: PICK}, [TAKE], [[0], [1]], "dependency"),
        (NEAR, BOTH, [STAY], [[0]], "participation"),
        (FAR, BOTH, [GO, TAKE], [[0]], "spatial"),
        (NEAR, BOTH, [Noop(steps=1), TAKE], [[0]], "temporal"),
    ],
)
def test_each_cause_by_hand(drawn, bags, mate, agents, cause):
    # a stone takes two agents with a pickaxe each; agent 0 tries it
    assert attempts(drawn, bags, [TAKE], mate, level="hard")[0] == [(those, (cause,)) for those in agents]


@pytest.mark.parametrize(
    ("drawn", "bags", "action", "cause"),
    [
        ("0#.....\n.......\n.......", {}, TAKE, "dependency"),
        (AWAY, {0: PICK}, Collect(resource=Resource.stone, target=2 * HEIGHT + 1), None),
        (AWAY.replace("#0.", "#.0"), {0: PICK}, Collect(resource=Resource.stone, target=2 * HEIGHT + 1), "spatial"),
    ],
    ids=["without the tool", "in reach", "out of reach"],
)
def test_a_collection_that_is_refused_is_an_attempt_of_the_step_that_it_was_meant_for(drawn, bags, action, cause):
    found, trace = attempts(drawn, bags, [action], profile="coop2", level="coop2")
    assert found == ([([0], (cause,))] if cause else [([0], ())])
    (tried,) = trace.story.attempts
    assert (tried.event.t, tried.unmet, tried.state.participation) == (0, cause is not None, 1)


def test_a_cell_that_nobody_sees_and_water_are_no_tasks_and_nobody_tries_them():
    far = "0.............#\n...............\n..............."
    assert attempts(far, {0: PICK}, [Collect(resource=Resource.stone, target=14 * HEIGHT + 1)])[0] == []
    assert attempts("0...~\n.....\n.....", {}, [Collect(resource=Resource.drink, target=4 * HEIGHT + 1)])[0] == []


RESOURCES = st.sampled_from([Resource.wood, Resource.stone, Resource.coal])
ACTIONS = st.one_of(
    st.builds(Collect, resource=RESOURCES, target=st.integers(1, 21), steps=st.integers(1, 3)),
    st.builds(Navigate, target=st.sampled_from([Target.tree, Target.stone, Target.coal]), id=st.integers(1, 21)),
    st.builds(Move, direction=st.sampled_from(Direction), steps=st.integers(1, 2)),
)
MAP = "0#T1c#.\n.T..T..\n#.2T.#c"


def work_at(plan, active):
    """The task of the first cell that a plan names and that is as it says, from its record."""
    for action in plan.actions:
        match action:
            case {"action": "collect", "resource": name, "target": cell} | {"target": str(name), "id": cell}:
                target = f"{'tree' if name == 'wood' else name}_{cell}"
                if target in active:
                    return target
    return None


@given(
    st.lists(st.lists(ACTIONS, min_size=1, max_size=4), min_size=3, max_size=3),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.sampled_from(["easy", "hard"]),
)
def test_whatever_is_planned_participants_plan_or_act_and_the_causes_sum_up(plans, picks, level):
    bags = {agent: PICK for agent, has in enumerate(picks) if has}
    _, trace = attempts(MAP, bags, *plans, steps=12, level=level)
    live, active, refused = [None] * len(plans), {}, set()
    for place, stamped in enumerate(trace.events):
        event = stamped.event
        if event.kind == "plan" and event.status == "committed":
            live[event.agent] = event
        elif event.kind == "action" and (event.action, event.status) == ("collect", "failed"):
            refused.add(event.agent)
        elif event.kind == "constraint":
            active.pop(event.task["target"], None)
            if event.threshold:
                active[event.task["target"]] = event
        elif event.kind == "step":
            after = trace.events[place + 1].event
            served = [work_at(plan, active) for plan in live]
            for one in after.attempts if after.kind == "outcome" else ():
                for agent in one["agents"] if one["unmet"] else ():
                    served[agent] = one["task"]["target"]
                    refused.discard(agent)
            for target, state in active.items():
                assert state.joint <= min(state.spatial, state.temporal)
                assert state.temporal <= state.participation
                if not refused:  # the trace does not say at what, where it is over or was done
                    planned = served.count(target)
                    assert max(planned, state.temporal) <= state.participation <= planned + state.temporal
            refused.clear()
    found = compute_metrics(trace)
    causes = [found[f"constraints.missing_{cause}"] for cause in (*Constraint, "none")]
    assert sum(causes) == found["constraints.failed_attempts"]
