"""The greedy teams on CUBE, held to the published figures."""

import asyncio
import dataclasses
import statistics
from types import SimpleNamespace

import pytest

from cube_env import CubeEnv, Layout
from maeil.component import ComponentConfig
from maeil.trace import read_trace, replay
from maeil.trace.events import StepOutcome
from quorum.agents.rules import HeuristicConfig, build_always_right, build_heuristic
from quorum.agents.skills.cube.heuristic import GreedyTeam
from quorum.configuration.cell import Cell
from quorum.episode.parts import build
from quorum_base.user_errors import UserError
from tests.agents.naive_team import context, cube, topology
from tests.maeil.scripted import play

PUBLISHED_STEPS = {1: 29, 2: 100, 4: 105, 8: 165}


def episode(n: int, seed: int):
    return play(GreedyTeam(n).minds, cube(n, max_steps=500), seed=seed)[-1].event


def test_a_team_of_four_delivers_every_block():
    assert all(episode(4, seed).outcome == "success" for seed in range(2))


@pytest.mark.claims
@pytest.mark.parametrize("n", PUBLISHED_STEPS)
def test_every_block_is_delivered_in_no_more_steps_than_published(n):
    ends = [episode(n, seed) for seed in range(20)]
    assert all(end.outcome == "success" for end in ends)
    assert statistics.mean(end.steps for end in ends) <= PUBLISHED_STEPS[n]


@pytest.mark.claims
def test_sixteen_agents_finish_nearly_always():
    assert sum(episode(16, seed).outcome == "success" for seed in range(20)) >= 19


def observation(layout: Layout):
    env = CubeEnv(layout=layout)
    env.reset(seed=0)
    return env.symbolic_observation(0)


def blocks_of(plans):
    return [plan.task.target for plan in plans]


def test_the_nearest_block_gets_the_nearest_agents_and_no_more_than_it_needs():
    board = observation(Layout(10, [(0, 0), (2, 0), (3, 0), (9, 0)], [(2, (2, 4)), (1, (8, 2))]))
    team = GreedyTeam(4)
    plans = [team.plan(agent, board, stuck=False) for agent in range(4)]
    assert blocks_of(plans) == ["block_0", "block_0", "block_0", "block_1"]
    assert [str(action) for action in plans[0].actions] == [
        "move_to_block(block=0, face=left, timeout=null)",
        "rendezvous(block=0, face=left, count=2, timeout=null)",
        "push_block(block=0, steps=4, timeout=null)",
    ]


def test_a_block_with_another_ahead_is_left_until_its_way_is_clear():
    board = observation(Layout(10, [(0, 0), (1, 0)], [(1, (4, 6)), (1, (4, 2))]))
    team = GreedyTeam(2)
    assert blocks_of(team.plan(agent, board, stuck=False) for agent in range(2)) == ["block_0", "block_0"]


def test_a_team_that_is_short_is_filled_before_another_begins():
    agents = [(0, 0), (1, 0), (2, 0)]
    team = GreedyTeam(3)
    before = observation(Layout(14, agents, [(2, (5, 10)), (2, (5, 3)), (2, (9, 2))]))
    # block 0 is nearest to the goal and takes two agents; block 1 is behind it; so the third waits at block 2
    plans = [team.plan(agent, before, stuck=False) for agent in range(3)]
    assert sorted(blocks_of(plans)) == ["block_0", "block_0", "block_2"]
    # block 0 is delivered, and block 1, now clear, is nearer to the goal than block 2, which has one agent of two
    after = dataclasses.replace(before, blocks=tuple(dataclasses.replace(b, ahead=()) for b in before.blocks[1:]))
    free = [agent for agent in range(3) if plans[agent].task.target == "block_0"]
    assert sorted(blocks_of(team.plan(agent, after, stuck=False) for agent in free)) == ["block_1", "block_2"]


def test_only_a_stuck_team_is_formed_again():
    far, near, behind_near = (2, (9, 1)), (1, (5, 10)), (1, (5, 4))
    before = observation(Layout(14, [(5, 8), (9, 0)], [far, near, behind_near]))
    after = observation(Layout(14, [(0, 0), (5, 3)], [far, (1, (1, 1)), behind_near]))
    after = dataclasses.replace(after, blocks=tuple(block for block in after.blocks if block.id != 1))
    team = GreedyTeam(2)
    assert blocks_of(team.plan(agent, before, stuck=False) for agent in range(2)) == ["block_1", "block_0"]
    # block 1 is delivered, and block 2 has a clear way now and is nearer to the goal than block 0
    assert blocks_of([team.plan(1, after, stuck=False)]) == ["block_0"]
    assert blocks_of([team.plan(1, after, stuck=True)]) == ["block_2"]


def test_an_episode_replays_from_its_trace(tmp_path):
    path = tmp_path / "trace.jsonl"
    world = cube(4)
    play(GreedyTeam(4).minds, world, seed=3, path=path)
    again = cube(4)
    *_, last = replay(read_trace(path), again)
    assert last == world.env.snapshot().step
    assert again.env.snapshot() == world.env.snapshot()


# The page's rule: one block at a time.


def one_team(n: int, **changes):
    world = cube(n, **changes)
    team = context(world, topology("individual", n))
    return world, build_heuristic(HeuristicConfig(name="heuristic", teams="one"), team)


def test_one_team_goes_to_the_block_closest_to_the_goal_all_together():
    board = observation(Layout(10, [(0, 0), (2, 0), (3, 0)], [(2, (2, 4)), (1, (8, 2)), (1, (6, 7))]))
    _, minds = one_team(3)
    plans = [asyncio.run(mind.think(SimpleNamespace(observation=board))).decision for mind in minds]
    assert blocks_of(plans) == ["block_2"] * 3
    assert [action.action for action in plans[0].actions] == ["move_to_block", "rendezvous", "push_block"]


@pytest.mark.parametrize("n", PUBLISHED_STEPS)
def test_one_team_delivers_one_block_after_the_other_and_all_within_the_published_cap(n):
    """It takes no more steps than the page's, and more than several teams wherever there are several blocks."""
    steps = []
    for seed in range(5):
        world, team = one_team(n, max_steps=200)
        events = [stamped.event for stamped in play(team, world, seed=seed)]
        pushed = {push["block"] for e in events if isinstance(e, StepOutcome) for push in _pushes(e)}
        assert len(pushed) == len(world.env.cube_state.block_table)
        assert all(len({push["block"] for push in _pushes(e)}) <= 1 for e in events if isinstance(e, StepOutcome))
        assert events[-1].outcome == "success"
        steps.append(events[-1].steps)
    assert statistics.mean(steps) <= PUBLISHED_STEPS[n]
    several = statistics.mean(episode(n, seed).steps for seed in range(5))
    assert statistics.mean(steps) >= several if n == 1 else statistics.mean(steps) > several


def _pushes(step: StepOutcome):
    return [outcome for outcome in step.outcomes if outcome["what"] == "push"]


def test_a_world_without_a_rule_for_one_team_says_so():
    with pytest.raises(UserError, match=r"agents\.teams=one needs the skill 'one_team', .* worlds that have it: cube"):
        build(Cell.compose(["env=transport", "agents.teams=one"]), lambda _: None)


def test_agents_that_always_go_right_push_what_is_in_their_row_and_nothing_else():
    world = cube(2, layout="......|\n0.A...|\n......|\n.1.BB.|\n...BB.|\n......|\n......|\n")
    config = ComponentConfig(name="always_right")
    minds = build_always_right(config, context(world, topology("individual", 2)))
    end = play(minds, world, seed=0)[-1].event
    assert (end.outcome, world.progress().reached) == ("truncated", 1)
    with pytest.raises(UserError, match="needs an action 'move' with the direction 'right'"):
        build(Cell.compose(["env=squeeze", "agents=always_right"]), lambda _: None)
