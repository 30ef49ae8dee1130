"""The kernels of this package and their compiler."""

from __future__ import annotations

from pathlib import Path

from quorum_base.compilation import KernelSet

_PACKAGE = Path(__file__).parent

KERNELS = KernelSet(
    "llamac_env",
    [_PACKAGE / "transport" / f"{name}.py" for name in ("arrays", "grid", "kernel")],
    rehearsal=["env=transport n=4 agents=heuristic max_steps=4"],
)
"""All kernels, with the constants compiled into them."""

compiled_borrowing = KERNELS.borrowing
