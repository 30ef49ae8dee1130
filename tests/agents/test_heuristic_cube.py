"""The greedy team on CUBE, held to the published figures."""

import dataclasses
import statistics

import pytest

from cube_env import CubeEnv, Layout
from cube_env.symbolic.shown import TEXT_LIMITS
from cube_env.world import CubeConfig, CubeWorld
from maeil.trace import read_trace, replay
from quorum.agents.skills.cube.heuristic import GreedyTeam
from tests.maeil.scripted import play

PUBLISHED_STEPS = {1: 29, 2: 100, 4: 105, 8: 165}


def cube(n: int, max_steps: int = 500) -> CubeWorld:
    return CubeWorld(
        CubeConfig(
            name="cube",
            allow_unsolvable=True,
            level=None,
            text=TEXT_LIMITS,
            n=n,
            side=None,
            blocks=None,
            layout=None,
            max_steps=max_steps,
            step_cost=0.01,
            deliver_reward=1.0,
            reward="default",
            vocabulary="cube",
        )
    )


def episode(n: int, seed: int):
    return play(GreedyTeam(n).minds, cube(n), seed=seed)[-1].event


@pytest.mark.parametrize("n", PUBLISHED_STEPS)
def test_every_block_is_delivered_in_no_more_steps_than_published(n):
    ends = [episode(n, seed) for seed in range(20)]
    assert all(end.finished for end in ends)
    assert statistics.mean(end.steps for end in ends) <= PUBLISHED_STEPS[n]


def test_sixteen_agents_finish_nearly_always():
    assert sum(episode(16, seed).finished for seed in range(20)) >= 19


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


def test_only_a_stuck_team_is_formed_anew():
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
