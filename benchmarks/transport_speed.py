"""How fast grid transportation is on one core; medians of several runs.

python benchmarks/transport_speed.py [--repeats 5] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from llamac_env import Difficulty, TransportEnv, TransportVecEnv
from llamac_env.transport.grid import grid_for

Measure = Callable[[], float]


def single(n: int, difficulty: Difficulty, infos: str) -> Measure:
    """Milliseconds of a PettingZoo step under random moves, including dictionaries, without resets."""
    env = TransportEnv(grid_for(n, None, difficulty, "final_state"), infos=infos)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def run() -> float:
        spent, steps = 0.0, 20
        for _ in range(steps):
            if not env.agents:
                env.reset()
            masks = env.action_masks()
            joint = {name: int(rng.choice(np.flatnonzero(masks[name]))) for name in env.agents}
            start = perf_counter()
            env.step(joint)
            spent += perf_counter() - start
        return 1000 * spent / steps

    return run


def batched(num_envs: int, n: int, difficulty: Difficulty) -> Measure:
    """Agent-steps a second of a batch under random actions, including resets."""
    envs = TransportVecEnv(num_envs, grid_for(n, None, difficulty, "final_state"))
    actions = np.random.default_rng(0).integers(26, size=(64, num_envs, n))
    envs.reset(seed=0)

    def run() -> float:
        start = perf_counter()
        for joint in actions:
            envs.step(joint)
        return len(actions) * num_envs * n / (perf_counter() - start)

    return run


MEASURES: dict[str, tuple[str, float | None, Callable[[], Measure]]] = {
    **{
        f"PettingZoo, {difficulty}, n = {n}, {infos} infos": (
            "ms", 50 if n == 1024 else None, lambda n=n, d=difficulty, i=infos: single(n, d, i))
        for n in (8, 32, 1024) for difficulty in Difficulty for infos in ("plain", "symbolic")
    },
    **{
        f"batched, {difficulty}, n = {n}, 256 boards": (
            "agent-steps/s", None, lambda n=n, d=difficulty: batched(256, n, d))
        for n in (8, 32) for difficulty in Difficulty
    },
}  # fmt: skip
"""The measurements: unit, target, and function."""


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, float] = {}
    for name, (unit, target, prepare) in MEASURES.items():
        run = prepare()
        run()
        found[name] = median(run() for _ in range(options.repeats))
        if not options.json:
            aim = "" if target is None else f"   target {target:,}"
            print(f"{name:48} {found[name]:14,.2f} {unit}{aim}", flush=True)
    if options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
