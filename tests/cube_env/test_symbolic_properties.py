"""Whatever agents are asked to do, every action ends with an explicit status, and nothing raises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube_env import (
    Face,
    Idle,
    Move,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    Wait,
    WaitAgents,
    YieldBlock,
)
from cube_env.constants import Direction
from cube_env.symbolic.shown import TEXT_LIMITS
from cube_env.world import CubeConfig, CubeWorld
from tests.cube_env.boards import dense_layout

block = st.integers(0, 5)
steps = st.integers(1, 4)
count = st.integers(1, 4)
timeout = st.integers(1, 12)
face = st.sampled_from(Face)
cell = st.tuples(st.integers(-1, 9), st.integers(-1, 9))

WALKS = st.builds(Move, direction=st.sampled_from(Direction), steps=steps)
CUBE = st.one_of(
    WALKS,
    st.builds(MoveToBlock, block=block, face=face, timeout=timeout),
    st.builds(Rendezvous, block=block, face=face, count=count, timeout=timeout),
    st.builds(PushBlock, block=block, steps=steps, timeout=timeout),
    st.builds(YieldBlock, block=block, face=face, steps=steps),
    st.builds(Idle, steps=steps),
    st.builds(WaitAgents, count=count, timeout=timeout),
)
EMCOOP = st.one_of(
    WALKS,
    st.builds(Wait, steps=steps),
    st.builds(PushTowards, block=block, steps=steps),
    st.builds(Navigate, entity=st.just("agent"), id=st.integers(0, 4), timeout=timeout),
    st.builds(Navigate, entity=st.just("block"), id=block, timeout=timeout),
    st.builds(Navigate, entity=st.just("goal"), timeout=timeout),
    st.builds(Navigate, entity=st.just("cell"), cell=cell, timeout=timeout),
)


def team(actions):
    return st.lists(st.lists(actions, min_size=1, max_size=5), min_size=4, max_size=4)


def check(seed, vocabulary, plans):
    layout = dense_layout(np.random.default_rng(seed), 9, 4, 5, 3)
    cube = CubeWorld(
        CubeConfig(
            name="cube", n=4, side=None, blocks=None, layout=str(layout) + "\n", max_steps=500, level=None,
            step_cost=0.01, allow_unsolvable=True, text=TEXT_LIMITS, deliver_reward=1.0, reward="default",
            vocabulary=vocabulary, weights="halving", observation="text",
        )
    )  # fmt: skip
    cube.reset(0)
    left = [list(plan) for plan in plans]
    running = [None] * 4
    done = cube.progress().goals == 0
    for _ in range(80):
        changed = True
        while changed:
            changed = False
            for agent in range(4):
                if running[agent] is None and left[agent]:
                    running[agent] = cube.start_action(agent, left[agent].pop(0))
            for agent in range(4):
                end = running[agent].status() if running[agent] is not None else None
                if end is not None:
                    running[agent].close()
                    running[agent] = None
                    changed = True
                    entry = cube.observe(agent).history[-1]
                    assert (entry.status, entry.reason) == (str(end.status), end.reason)
                    assert (end.status == "success") is (end.reason == "")
                    assert not end.reason or end.reason.split()[0].isidentifier()
        if done or not any(running):
            break
        joint = [controller.act() if controller is not None else 0 for controller in running]
        cube.constraints(joint, [None] * len(joint))
        transition = cube.step(joint)
        done = transition.end is not None
    assert done or not any(running), "every action ends within its time-out"


@given(st.integers(0, 10_000), team(CUBE))
def test_every_plan_of_the_cube_vocabulary_comes_to_explicit_ends(seed, plans):
    check(seed, "cube", plans)


@given(st.integers(0, 10_000), team(EMCOOP))
def test_every_plan_of_the_emcoop_vocabulary_comes_to_explicit_ends(seed, plans):
    check(seed, "emcoop", plans)


@pytest.mark.parametrize("vocabulary", ["cube", "emcoop"])
def test_what_the_world_idles_with_is_in_its_vocabulary(vocabulary):
    layout = str(dense_layout(np.random.default_rng(0), 9, 4, 5, 3)) + "\n"
    cube = CubeWorld(
        CubeConfig(
            name="cube", n=4, side=None, blocks=None, layout=layout, max_steps=5, step_cost=0.01, level=None,
            allow_unsolvable=True, text=TEXT_LIMITS, deliver_reward=1.0, reward="default", vocabulary=vocabulary,
            weights="halving",
            observation="text",
        )
    )  # fmt: skip
    assert cube.idle in cube.vocabulary
