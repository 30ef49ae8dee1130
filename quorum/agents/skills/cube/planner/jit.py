"""The planner's set of kernels and their compiler."""

from __future__ import annotations

from pathlib import Path

from quorum_base.compilation import KernelSet

KERNELS = KernelSet(
    "cube_planner", sorted(Path(__file__).parent.glob("*.py")), rehearsal=["n=2 agents=planner max_steps=3"]
)
compiled = KERNELS.compiled
