"""How fast the open world is with its cooperation constraints followed: agent-steps a second, as the loop drives it.

    python benchmarks/crafter_tasks.py

Random primitives, with tools in the bags so that everything can be collected; `constraints` before each `step`, as the
scheduler calls them. Medians of several runs; resets apart.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from crafter_env import Action, CrafterEnv, Item, Material
from crafter_env.world import CrafterConfig, CrafterWorld

STEPS, RUNS = 2000, 7
TOOLS = (Item.wood_pickaxe, Item.stone_pickaxe, Item.iron_pickaxe)


def world(n: int, level: str) -> CrafterWorld:
    """A world of the profile `coop`."""
    values = {
        "profile": "coop", "switches": {}, "thresholds": {}, "goal": "open", "layout": None, "oracle_map": False,
        "known_only": True, "text": {"max_agents": None}, "observation": "text",
    }  # fmt: skip
    return CrafterWorld(CrafterConfig(name="crafter", n=n, level=level, max_steps=10 * STEPS, **values))


def joint_actions(n: int, seed: int) -> list[list[int]]:
    """Random primitives, half of them `do`."""
    rng = np.random.default_rng(seed)
    choices = [Action.do] * 4 + [Action.move_left, Action.move_right, Action.move_up, Action.move_down]
    return rng.choice(choices, (STEPS, n)).tolist()


def rate(n: int, level: str, seed: int, *, watched: bool) -> float:
    """Agent-steps a second of one run."""
    found = world(n, level)
    found.reset(seed)
    state = found.env.crafter_state
    actions = joint_actions(n, seed)
    state.inventory[:, TOOLS] = 1
    state.materials[state.materials == Material.lava] = Material.sand
    nobody = [None] * n
    seconds = 0.0
    for joint in actions:
        state.inventory[:, :4] = 9  # nobody dies
        begin = time.perf_counter()
        if watched:
            found.constraints(joint, nobody)
            found.step(joint)
        else:
            found.env.step_array(np.array(joint))
        seconds += time.perf_counter() - begin
    return n * STEPS / seconds


def main() -> None:
    """Print the table."""
    CrafterEnv(n=1).reset(seed=0)
    for watched in (True, False):
        rate(3, "easy", 0, watched=watched)  # compiles
    print("| n | level | environment alone, agent-steps/s | with constraint tracking, agent-steps/s (range) |")
    print("|---|---|---|---|")
    for n, level in ((3, "easy"), (3, "hard"), (6, "hard"), (100, "hard")):
        bare = [rate(n, level, seed, watched=False) for seed in range(3)]
        watched = [rate(n, level, seed, watched=True) for seed in range(RUNS)]
        print(
            f"| {n} | {level} | {statistics.median(bare):,.0f} | {statistics.median(watched):,.0f} "
            f"({min(watched):,.0f}-{max(watched):,.0f}) |"
        )


if __name__ == "__main__":
    main()
