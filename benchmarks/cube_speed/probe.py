"""One environment in a separate process: prints `ready` after the first step, then its memory and CPU as JSON.

python -m benchmarks.cube_speed.probe N SECONDS
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from cube_env import CubeEnv

STEPS_PER_SECOND = 20
"""About what the published implementation reaches at n = 256 when it does nothing else."""


def main(n: int, seconds: float) -> None:
    """Step an environment at a set pace.

    Args:
        n: number of agents.
        seconds: how long.
    """
    env = CubeEnv(n=n)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    _step(env, rng)
    _say("ready")
    for index in range(n):
        env.symbolic_observation(index)
    begin, cpu = time.perf_counter(), time.process_time()
    for number in range(1, round(seconds * STEPS_PER_SECOND) + 1):
        _step(env, rng)
        time.sleep(max(0.0, begin + number / STEPS_PER_SECOND - time.perf_counter()))
    share = (time.process_time() - cpu) / (time.perf_counter() - begin)
    _say(json.dumps({"memory_mb": _peak_kilobytes() / 1024, "cpu_percent": 100 * share}))


def _peak_kilobytes() -> int:
    """Peak resident memory of this process; what `getrusage` says on Linux includes the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1])
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes // 1024 if sys.platform == "darwin" else kilobytes


def _step(env: CubeEnv, rng: np.random.Generator) -> None:
    actions = rng.integers(0, 5, len(env.possible_agents)).tolist()
    env.step(dict(zip(env.possible_agents, actions, strict=True)))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
