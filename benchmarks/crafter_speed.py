"""How fast the open world is, compared with PyPI `crafter`; medians of several runs.

A batch draws the next worlds on a second core; everything else uses one.

python benchmarks/crafter_speed.py [--repeats 5] [--json]
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

from crafter_env import NEEDS, Action, CrafterEnv, CrafterVecEnv

Measure = Callable[[], float]
RANDOM_ACTIONS = 64


def batched(num_envs: int, n: int, steps: int, **arguments: object) -> Measure:
    """Agent-steps a second of a batch under random actions, including resets."""
    envs = CrafterVecEnv(num_envs, n, **arguments)  # type: ignore[arg-type]
    envs.reset(seed=0)
    actions = random_actions((num_envs, n))

    def run() -> float:
        start = perf_counter()
        for step in range(steps):
            envs.step(actions[step % RANDOM_ACTIONS])
        return steps * num_envs * n / (perf_counter() - start)

    return run


def batched_alive(num_envs: int, n: int, steps: int, **arguments: object) -> Measure:
    """The same with needs filled up at each step, so that nobody dies: the cost of a step alone."""
    envs = CrafterVecEnv(num_envs, n, **arguments)  # type: ignore[arg-type]
    envs.reset(seed=0)
    actions = random_actions((num_envs, n))
    needs = [envs.crafter_state(world).inventory[:, : len(NEEDS)] for world in range(num_envs)]

    def run() -> float:
        spent = 0.0
        for step in range(steps):
            for need in needs:
                need[:] = 9
            start = perf_counter()
            envs.step(actions[step % RANDOM_ACTIONS])
            spent += perf_counter() - start
        return steps * num_envs * n / spent

    return run


def single(n: int, steps: int, **arguments: object) -> Measure:
    """Agent-steps a second of the PettingZoo environment, including dictionaries, by living agents; without resets."""
    env = CrafterEnv(n, **arguments)  # type: ignore[arg-type]
    env.reset(seed=0)
    joint = [dict(zip(env.possible_agents, row, strict=True)) for row in random_actions((n,)).tolist()]

    def run() -> float:
        spent = 0.0
        for step in range(steps):
            if len(env.agents) < n:
                env.reset()
            env.crafter_state.inventory[:, : len(NEEDS)] = 9
            start = perf_counter()
            env.step(joint[step % RANDOM_ACTIONS])
            spent += perf_counter() - start
        return steps * n / spent

    return run


def resets(times: int) -> Measure:
    """Milliseconds of a reset."""
    env = CrafterEnv(1, profile="crafter")
    env.reset(seed=0)

    def run() -> float:
        start = perf_counter()
        for _ in range(times):
            env.reset()
        return 1000 * (perf_counter() - start) / times

    return run


def reference(steps: int, *, pictures: bool = False, resets: bool = False) -> Measure:
    """Steps a second of PyPI `crafter` under random actions: kept alive and without resets, or with all of them."""
    import crafter  # noqa: PLC0415 (an extra)

    env = crafter.Env(seed=0)
    if not pictures:
        env._obs = lambda: None
        env._sem_view = lambda: None
    env.reset()
    actions = random_actions(())

    def run() -> float:
        spent = 0.0
        for step in range(steps):
            for need in () if resets else NEEDS:
                env._player.inventory[need.name] = 9
            start = perf_counter()
            _, _, done, _ = env.step(int(actions[step % RANDOM_ACTIONS]))
            if done and resets:
                env.reset()
            spent += perf_counter() - start
            if done and not resets:
                env.reset()
        return steps / spent

    return run


def reference_resets(times: int) -> Measure:
    """Milliseconds of a reset of PyPI `crafter` without pictures."""
    import crafter  # noqa: PLC0415 (an extra)

    env = crafter.Env(seed=0)
    env._obs = lambda: None
    env.reset()

    def run() -> float:
        start = perf_counter()
        for _ in range(times):
            env.reset()
        return 1000 * (perf_counter() - start) / times

    return run


def random_actions(shape: tuple[int, ...]) -> np.ndarray:
    """Primitives other than `share`, of shape (64, ...)."""
    return np.random.default_rng(0).integers(int(Action.share), size=(RANDOM_ACTIONS, *shape))


LEAN = {"copy": False, "infos": "none"}
"""Live arrays and no infos, for experts; the other rows use the defaults."""

MEASURES: dict[str, tuple[str, float | None, Callable[[], Measure]]] = {
    "batched, crafter, no arrays, lean": (
        "steps/s", 300_000, lambda: batched_alive(64, 1, 1_000, profile="crafter", obs=None, **LEAN)),
    "batched, crafter, symbolic arrays, lean": (
        "steps/s", None, lambda: batched_alive(64, 1, 1_000, profile="crafter", **LEAN)),
    "batched, crafter, symbolic arrays": (
        "steps/s", None, lambda: batched_alive(64, 1, 1_000, profile="crafter")),
    "with resets: batched, crafter, symbolic arrays": (
        "steps/s", 400_000, lambda: batched(64, 1, 1_000, profile="crafter")),
    "with resets: the same, episodes of 50 steps": (
        "steps/s", None, lambda: batched(64, 1, 1_000, profile="crafter", max_steps=50)),
    "with resets: PyPI crafter, no pictures": ("steps/s", None, lambda: reference(1_000, resets=True)),
    "with resets: batched, crafter, symbolic arrays, lean": (
        "steps/s", None, lambda: batched(64, 1, 1_000, profile="crafter", **LEAN)),
    "PettingZoo, crafter, n = 1, lean": ("steps/s", 40_000, lambda: single(1, 5_000, profile="crafter", **LEAN)),
    "PettingZoo, crafter, n = 1": ("steps/s", 40_000, lambda: single(1, 5_000, profile="crafter")),
    "PettingZoo, coop, n = 3, lean": ("agent-steps/s", 60_000, lambda: single(3, 3_000, **LEAN)),
    "PettingZoo, coop, n = 3": ("agent-steps/s", 60_000, lambda: single(3, 3_000)),
    "PettingZoo, coop2, n = 3": ("agent-steps/s", None, lambda: single(3, 3_000, profile="coop2")),
    "batched, coop, n = 3, symbolic arrays, lean": (
        "agent-steps/s", 60_000, lambda: batched_alive(64, 3, 300, **LEAN)),
    "batched, coop, n = 3, symbolic arrays": ("agent-steps/s", 60_000, lambda: batched_alive(64, 3, 300)),
    "PettingZoo, coop, n = 100, lean": ("agent-steps/s", None, lambda: single(100, 200, **LEAN)),
    "PettingZoo, coop, n = 100": ("agent-steps/s", None, lambda: single(100, 200)),
    "batched, coop, n = 100, symbolic arrays, lean": (
        "agent-steps/s", None, lambda: batched_alive(8, 100, 50, **LEAN)),
    "batched, coop, n = 100, symbolic arrays": ("agent-steps/s", None, lambda: batched_alive(8, 100, 50)),
    "batched, crafter, 64 x 64 pixels": (
        "frames/s", 10_000, lambda: batched_alive(64, 1, 100, profile="crafter", obs="pixels")),
    "PettingZoo, crafter, 64 x 64 pixels": (
        "frames/s", 10_000, lambda: single(1, 2_000, profile="crafter", obs="pixels")),
    "reset": ("ms", 8, lambda: resets(50)),
    "PyPI crafter, no pictures": ("steps/s", None, lambda: reference(2_000)),
    "PyPI crafter, 64 x 64 pixels": ("frames/s", None, lambda: reference(500, pictures=True)),
    "PyPI crafter, reset": ("ms", None, lambda: reference_resets(5)),
}  # fmt: skip
"""The measurements: unit, target, and function."""


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="measure only rows whose name contains this text")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, float] = {}
    for name, (unit, target, prepare) in MEASURES.items():
        if options.only not in name:
            continue
        run = prepare()
        run()
        found[name] = median(run() for _ in range(options.repeats))
        if not options.json:
            aim = "" if target is None else f"   target {target:,}"
            print(f"{name:56} {found[name]:14,.1f} {unit}{aim}", flush=True)
    if options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
