"""The kernels of this package and their compiler."""

from __future__ import annotations

from pathlib import Path

from quorum_base.compilation import KernelSet

_PACKAGE = Path(__file__).parent

_SOURCES = "arrays", "constants", "constraints", "generator", "kernel", "paths", "rewards", "state", "views"

KERNELS = KernelSet(
    "cube_env",
    [_PACKAGE / f"{name}.py" for name in _SOURCES],
    rehearsal=["n=2 agents=negotiator topology=debate max_steps=12", "n=2 agents=heuristic max_steps=12"],
)
"""All kernels, with the constants compiled into them."""

compiled = KERNELS.compiled
compiled_borrowing = KERNELS.borrowing
