"""The joint plans of the simulated critics in CUBE."""

from __future__ import annotations

import numpy as np
import orjson
import pytest

from cube_env import CubeEnv, Direction, Layout, Move, MoveToBlock, Rendezvous, ShownObservation
from cube_env.symbolic.shown import TEXT_LIMITS
from maeil import Plan
from quorum.agents.coordination.joint import Joint, Sight
from quorum.agents.prompting.answers import plan_value
from quorum.agents.prompting.blocks import write_json
from quorum.agents.skills import Chooser, JointPlanRequest
from quorum.agents.skills.cube.gates import CubeGates
from quorum.agents.skills.cube.speaker import CubeSpeaker
from tests.agents.naive_team import cube


def board(*blocks, agents, side=20):
    """The state: blocks are `(weight, (row, col))`, agents are cells."""
    env = CubeEnv(layout=Layout(side, agents, blocks), max_steps=50)
    env.reset(seed=0)
    return ShownObservation.of(env.symbolic_observation(None), TEXT_LIMITS)


def plans(state, role="exploiter", *, asked=None, running=None, poor=0.0, given=(), seed=0) -> dict[int, Plan]:
    """The joint plan of a critic."""
    asked = list(range(len(state.agents))) if asked is None else asked
    under_way = {agent: orjson.loads(orjson.dumps(plan_value(plan))) for agent, plan in (running or {}).items()}
    shown = orjson.loads(write_json(state))
    return CubeSpeaker().propose(
        JointPlanRequest(role, shown, under_way, asked, Chooser(np.random.default_rng(seed), poor), frozenset(given))
    )


def tasks(found: dict[int, Plan]) -> dict[int, str]:
    return {agent: str(plan.task) for agent, plan in found.items()}


HEAVY_AND_LIGHT = board((1, (0, 17)), (1, (2, 2)), (2, (10, 8)), agents=[(1, 0), (9, 0)])


def test_the_exploiter_begins_where_its_team_is_soonest_and_the_explorer_with_the_heaviest():
    assert tasks(plans(HEAVY_AND_LIGHT)) == {0: "deliver:block_1", 1: "deliver:block_0"}
    assert tasks(plans(HEAVY_AND_LIGHT, "explorer")) == {0: "deliver:block_2", 1: "deliver:block_2"}


def test_a_team_is_whole_or_stands_by():
    state = board((3, (5, 8)), agents=[(1, 0), (9, 0)])
    assert tasks(plans(state)) == {0: "stand_by:block_0", 1: "stand_by:block_0"}


def test_a_team_counts_those_who_push_already_and_waits_for_those_on_their_way():
    state = board((2, (5, 8)), agents=[(1, 0), (9, 0)])
    running = plans(state, asked=[0, 1])
    assert tasks(plans(state, asked=[1], running={0: running[0]})) == {1: "deliver:block_0"}
    waiting = plans(board((3, (5, 8)), agents=[(1, 0), (9, 0)]), asked=[0])
    assert tasks(plans(state, asked=[1], running={0: waiting[0]})) == {1: "stand_by:block_0"}


def test_free_agents_stand_by_at_the_block_that_comes_next():
    state = board((1, (5, 4)), (1, (5, 9)), agents=[(5, 7), (5, 1)])
    assert tasks(plans(state)) == {0: "deliver:block_1", 1: "stand_by:block_0"}


def test_who_is_needed_nowhere_joins_the_nearest_team():
    state = board((1, (5, 4)), agents=[(5, 2), (12, 2)])
    assert tasks(plans(state)) == {0: "deliver:block_0", 1: "deliver:block_0"}


@pytest.mark.parametrize(("row", "move"), [(5, ("up", 1)), (6, ("down", 1))])
def test_who_stands_ahead_of_a_push_leaves_its_rows(row, move):
    state = board((2, (5, 4)), agents=[(5, 2), (6, 2), (row, 12)])
    (action,) = plans(state)[2].actions
    assert isinstance(action, Move)
    assert (Direction(action.direction).value, action.steps) == move


@pytest.mark.parametrize("blocks", [[(3, (5, 1))], [(3, (5, 5)), (1, (6, 3))]])
def test_nobody_stands_by_at_a_face_with_a_wall_or_a_block_behind_it(blocks):
    state = board(*blocks, agents=[(1, 0), (9, 0)])
    assert "stand_by:block_0" not in tasks(plans(state)).values()


def test_who_shuts_a_face_in_column_0_leaves_it_before_a_team_comes():
    """Agents 0 and 1 stand at its ends, so nobody else would get between them."""
    state = board((3, (5, 1)), agents=[(5, 0), (7, 0), (1, 0)])
    assert tasks(plans(state)) == {0: "None"}
    opened = board((3, (5, 1)), agents=[(4, 0), (7, 0), (1, 0)])
    assert tasks(plans(opened)) == dict.fromkeys(range(3), "deliver:block_0")


def test_a_part_that_was_found_wrong_is_not_drawn_at_random_again():
    sure = plans(HEAVY_AND_LIGHT, given=[0, 1])
    assert tasks(sure) == tasks(plans(HEAVY_AND_LIGHT))
    assert all(plan.rationale == "at random" for plan in plans(HEAVY_AND_LIGHT, poor=1).values())
    assert plans(HEAVY_AND_LIGHT, poor=1, given=[0, 1]) == sure
    assert plans(HEAVY_AND_LIGHT, poor=1, given=[0])[0] == sure[0]


def test_a_team_waits_for_a_member_under_way_and_as_long_as_it_may_after_it_was_told_that_it_gives_up_too_soon():
    state = board((2, (5, 12)), agents=[(5, 0), (5, 11)])
    far = plans(state, asked=[0])
    running = {0: plans(state, asked=[0, 1])[0]}
    assert tasks(far) == {0: "stand_by:block_0"}
    assert _patience(plans(state, asked=[1], running=running)[1]) == 20 + 11
    assert _patience(plans(state, asked=[1], running=running, given=[1])[1]) is None


def _patience(plan: Plan) -> int | None:
    return next(action.timeout for action in plan.actions if isinstance(action, Rendezvous))


def test_who_shuts_off_a_cell_between_two_blocks_leaves_by_the_nearer_end():
    state = board((5, (1, 5)), (1, (4, 3)), agents=[(1, 4), (2, 4), (3, 4), (5, 4), (0, 4)])
    found = plans(state, asked=[0, 1, 2, 3, 4])
    (action,) = found[3].actions
    assert isinstance(action, Move)
    assert (Direction(action.direction).value, action.steps) == ("down", 1)
    assert "deliver:block_0" not in tasks(found).values()


@pytest.mark.parametrize("role", ["exploiter", "explorer"])
@pytest.mark.parametrize("n", [3, 4, 8])
def test_what_the_rules_make_on_a_fresh_board_passes_the_gates(role, n):
    for seed in range(20):
        world = cube(n)
        world.reset(seed)
        state = world.global_observation()
        joint = Joint(plans(state, role))
        assert joint.plans
        assert CubeGates().scrutinize(Sight(0, state, ()), joint) == []
        assert any(isinstance(plan.actions[0], MoveToBlock) for plan in joint.plans.values())
