import numpy as np
import pytest

from cube_env import CubeEnv
from cube_env.scenario import Scenario
from tests.cube_env.boards import dense_layout, herd_actions
from tests.cube_env.reference import ReferenceWorld


def compare(env, seed, steps):
    rng = np.random.default_rng(seed)
    start = env.snapshot()
    world = ReferenceWorld(env.side, list(start.agents), {b.id: (b.weight, b.row, b.col) for b in start.blocks})
    outcomes = set()
    for step in range(steps):
        actions = herd_actions(rng, len(start.agents))
        report = env.step_array(actions)
        world.step(actions.tolist())
        where = f"seed {seed}, step {step}"
        now = env.snapshot()
        assert list(now.agents) == world.agents, where
        assert {b.id: (b.weight, b.row, b.col) for b in now.blocks} == world.blocks, where
        pushes = [(p.block, p.direction, p.agents, p.force, p.required, p.outcome.name) for p in report.pushes]
        assert pushes == world.pushes, where
        failures = [(f.agent, f.direction, f.reason.name) for f in report.failed_moves]
        assert failures == world.failed_moves, where
        assert list(report.delivered) == sorted(world.delivered), where
        assert report.terminated == (not world.blocks), where
        outcomes |= {push[-1] for push in pushes} | {"chain " + p[-1] for p in pushes if p[4] > start_weight(env, p)}
        if not env.agents:
            break
    return outcomes


def start_weight(env, push):
    return int(env.cube_state.weights[push[0]])


def test_kernel_agrees_with_the_plain_reading_of_the_rules_on_dense_boards():
    seen = set()
    for seed in range(120):
        rng = np.random.default_rng([7, seed])
        side = int(rng.integers(4, 15))
        layout = dense_layout(
            rng, side, agents=int(rng.integers(1, 40)), tries=int(rng.integers(1, 25)), heaviest=side // 2
        )
        env = CubeEnv(layout=layout)
        env.reset()
        seen |= compare(env, seed, 60)
    # Without these the agreement would say little.
    plain = {"moved", "delivered", "wall", "agent", "block", "force"}
    assert seen >= plain | {"chain " + outcome for outcome in plain}


@pytest.mark.parametrize("n", [1, 2, 4, 8, 20])
def test_kernel_agrees_with_the_plain_reading_of_the_rules_on_the_curriculum(n):
    for seed in range(4):
        env = CubeEnv(n=n)
        env.reset(seed=seed)
        compare(env, seed, 100)


def test_kernel_agrees_with_the_plain_reading_of_the_rules_on_a_crowd_of_light_blocks():
    for seed in range(4):
        env = CubeEnv(scenario=Scenario(side=15, agents=15, blocks={1: 12, 2: 5}))
        env.reset(seed=seed)
        compare(env, seed, 150)
