"""Steps a second of level-based foraging: the package `lbforaging` alone, and connected to the loop.

python benchmarks/lbf_speed.py
"""

from __future__ import annotations

import time

import numpy as np

from lbf_env.world import ForagingConfig, ForagingWorld
from quorum.configuration.cell import Cell

EPISODES = 40
"""Number of episodes of each size, with the same draws for both."""


def steps_a_second(world: ForagingWorld, *, joined: bool) -> float:
    """Play the episodes by random primitives; return steps per second of CPU, by the world or the package."""
    steps, begin = 0, time.process_time()
    for seed in range(EPISODES):
        draw, over = np.random.default_rng(seed), False
        world.reset(seed)
        while not over:
            joint = draw.integers(6, size=len(world.agents)).tolist()
            over = world.step(joint).end is not None if joined else world.env.step(joint)[2]
            steps += 1
    return steps / (time.process_time() - begin)


def main() -> None:
    """Measure and print a table."""
    print("agents  side  foods  package  world")
    for agents, side, foods in ((2, 8, 2), (4, 10, 4), (9, 19, 9)):
        values = Cell.compose(["env=foraging", f"n={agents}", f"env.side={side}", f"env.foods={foods}"])
        world = ForagingWorld(ForagingConfig.model_validate(values.configuration.env.model_dump()))
        package, joined = (steps_a_second(world, joined=joined) for joined in (False, True))
        print(f"{agents:6}  {side:4}  {foods:5}  {package:7,.0f}  {joined:5,.0f}")


if __name__ == "__main__":
    main()
