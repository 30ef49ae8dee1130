"""One environment in a separate process: prints `ready` after the first step, then its memory and CPU as JSON.

python -m benchmarks.cube_speed.probe N SECONDS
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from cube_env import CubeEnv

ROOT = Path(__file__).resolve().parents[2]
STEPS_PER_SECOND = 20
"""Approximate speed of the published implementation at n = 256 when it does nothing else."""


def probe(n: int, seconds: float) -> tuple[float, dict[str, float]]:
    """Run an environment in a separate process.

    Args:
        n: number of agents.
        seconds: how long to step it at a set pace.

    Returns:
        Seconds from the start of the process to its first step; its `memory_mb` (peak) and `cpu_percent` of a core.
    """
    command = [sys.executable, "-m", "benchmarks.cube_speed.probe", str(n), str(seconds)]
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        child.stdout.readline()
        ready = time.perf_counter() - begin
        rest = child.stdout.read()
    if child.returncode:
        raise RuntimeError(f"the measuring process ended with code {child.returncode}")
    return ready, json.loads(rest)


def main(n: int, seconds: float) -> None:
    """Step an environment at a set pace, and print its memory and CPU use."""
    env = CubeEnv(n=n)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    _step(env, rng)
    print("ready")
    sys.stdout.flush()
    for index in range(n):
        env.symbolic_observation(index)
    begin, cpu = time.perf_counter(), time.process_time()
    for number in range(1, round(seconds * STEPS_PER_SECOND) + 1):
        _step(env, rng)
        time.sleep(max(0.0, begin + number / STEPS_PER_SECOND - time.perf_counter()))
    share = (time.process_time() - cpu) / (time.perf_counter() - begin)
    print(json.dumps({"memory_mb": _peak_kilobytes() / 1024, "cpu_percent": 100 * share}))


def _peak_kilobytes() -> int:
    """Return the peak resident memory; on Linux, the value of `getrusage` includes the parent process."""
    try:
        with open("/proc/self/status", encoding="utf-8") as status:
            line = next(line for line in status if line.startswith("VmHWM:"))
    except OSError:
        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return kilobytes // 1024 if sys.platform == "darwin" else kilobytes
    return int(line.split()[1])


def _step(env: CubeEnv, rng: np.random.Generator) -> None:
    actions = rng.integers(0, 5, len(env.possible_agents)).tolist()
    env.step(dict(zip(env.possible_agents, actions, strict=True)))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
