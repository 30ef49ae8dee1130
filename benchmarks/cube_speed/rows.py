"""The speed table of CUBE: every figure that its environment promises, with its measurement."""

from __future__ import annotations

import tempfile
import time
from itertools import cycle, pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.cube_speed.measure import Subject
from benchmarks.cube_speed.parts import ENDLESS, action_bench, stepping
from benchmarks.cube_speed.probe import probe
from benchmarks.cube_speed.published import published_series
from benchmarks.cube_speed.timing import Run, seconds_per_call
from cube_env import CubeEnv, CubeVecEnv
from maeil.trace import Stamped
from maeil.trace.events import StepTaken
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell

MICRO, MILLI, MEGA = 1e6, 1e3, 1e-6
STEP_TARGETS = {8: 20, 64: 80, 256: 500}
LIVE_STEP_TARGETS = {8: 15, 64: 45, 256: 130}
"""Target speeds of steps without copies and infos."""
BATCH = 1024
_PUBLISHED = {
    (series.quantity, n): value
    for series in published_series()
    for n, value in zip(series.sizes, series.values, strict=True)
}
"""The values of the CUBE page, by quantity and n."""


def subjects(*, quick: bool) -> list[Subject]:
    """Return the rows of the table; with `quick`, few calls and small teams, as a trial."""
    scale = 1 if quick else 20
    large = 8 if quick else 256
    found = [_step(n, scale, right=right) for n in STEP_TARGETS if n <= large for right in (False, True)]
    found += [
        *(_live_step(n, scale) for n in LIVE_STEP_TARGETS if n <= large),
        Subject("observations of all agents", large, "ms", _symbolic(large, scale), target=10),
        Subject("observation as text", large, "ms", _text(large, scale), target=1),
        Subject("reset", large, "ms", _reset(large, scale), target=50),
        _batched(scale, observe=False, target=10),
        _batched(scale, observe=True, target=3),
        _batched(scale, observe=True, target=None),
        _push(large, scale, team=False),
        _push(large, scale, team=True),
        _memory(large),
        Subject("second process starts", 8, "s", lambda: probe(8, 0)[0], target=1),
        Subject("step of the loop, heuristic", large, "ms", _loop(large, 5 if quick else 100), target=5),
    ]
    return found


def _published(quantity: str, n: int, scale: float) -> float | None:
    value = _PUBLISHED.get((quantity, n))
    return None if value is None else scale * value


def _step(n: int, scale: int, *, right: bool) -> Subject:
    step = stepping(n, right=right)
    return Subject(
        f"step, {'all right' if right else 'random'}", n, "us",
        lambda: MICRO * seconds_per_call(step, 10 * scale), target=STEP_TARGETS[n],
        published=_published("step", n, MICRO),
    )  # fmt: skip


def _live_step(n: int, scale: int) -> Subject:
    step = stepping(n, right=False, infos="none", copy=False)
    return Subject(
        "step, live observations", n, "us", lambda: MICRO * seconds_per_call(step, 10 * scale),
        target=LIVE_STEP_TARGETS[n],
    )  # fmt: skip


def _symbolic(n: int, scale: int) -> Run:
    env = CubeEnv(n=n, max_steps=ENDLESS)
    env.reset(seed=0)
    stay = dict.fromkeys(env.agents, 0)

    def run() -> float:
        values = []
        for _ in range(scale):
            env.step(stay)
            begin = time.perf_counter()
            for index in range(n):
                env.symbolic_observation(index)
            values.append(time.perf_counter() - begin)
        return MILLI * median(values)

    return run


def _text(n: int, scale: int) -> Run:
    env = CubeEnv(n=n)
    env.reset(seed=0)
    observation = env.symbolic_observation(0)
    return lambda: MILLI * seconds_per_call(observation.text, scale)


def _reset(n: int, scale: int) -> Run:
    env = CubeEnv(n=n)
    return lambda: MILLI * seconds_per_call(lambda: env.reset(seed=0), scale)


def _batched(scale: int, *, observe: bool, target: float | None) -> Subject:
    """Return a batch with views; without a target, a batch with copies and plain infos."""
    n, worlds = 8, BATCH if scale > 1 else 16
    fast: dict[str, Any] = {} if target is None else {"infos": "none", "copy": False}
    envs = CubeVecEnv(worlds, n=n, observe=observe, max_steps=ENDLESS, **fast)
    envs.reset(seed=0)
    joints = np.random.default_rng(0).integers(0, 5, (32, worlds, n))

    numbers = cycle(range(len(joints)))

    def run() -> float:
        return MEGA * worlds * n / seconds_per_call(lambda: envs.step(joints[next(numbers)]), 5 * scale)

    seen = "copies and plain infos" if target is None else "observed" if observe else "blind"
    name = f"batch of {worlds:,}, {seen}"
    return Subject(name, n, "M/s", run, target, "more")


def _push(n: int, scale: int, *, team: bool) -> Subject:
    bench = action_bench("push_block", n, team=team)
    who = f"{len(bench.actors)} agents" if team else "1 agent"
    published = None if team else _published("push_block", n, MICRO)
    return Subject(
        f"push_block tick, {who}", n, "us", lambda: MICRO * median(bench.ticks(max(1, scale // 10))),
        target=None if team else 100, published=published,
    )  # fmt: skip


def _memory(n: int) -> Subject:
    def run() -> float:
        return probe(n, 0)[1]["memory_mb"]

    return Subject("peak memory", n, "MB", run, target=250, published=_published("memory", n, 1))


def _loop(n: int, steps: int) -> Run:
    cell = Cell.compose([f"n={n}", f"max_steps={steps}", "env=cube", "agents=heuristic", "topology=individual"])

    def run() -> float:
        instants: list[float] = []

        def note(stamped: Stamped) -> None:
            if isinstance(stamped.event, StepTaken):
                instants.append(time.perf_counter())

        with tempfile.TemporaryDirectory() as folder:
            run_cell(cell, Path(folder), lambda _world: note)
        return MILLI * median(after - before for before, after in pairwise(instants))

    return run
