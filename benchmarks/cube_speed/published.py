"""What the public implementation of CUBE takes on one core, as means. Source: the CUBE page, read off its plots."""

from __future__ import annotations

SOURCE = "CUBE page, read off its plots"

STEP_SECONDS = {
    2: 0.00035, 4: 0.00039, 6: 0.00053, 8: 0.00062, 10: 0.00066, 20: 0.00135, 40: 0.0026, 60: 0.0053, 80: 0.0088,
    100: 0.0124, 128: 0.0187, 256: 0.047,
}  # fmt: skip
"""Mean seconds of a step, by n."""
MEMORY_MB = {
    2: 60, 4: 63, 6: 64.5, 8: 73, 10: 92.5, 20: 94, 40: 94, 60: 149, 80: 218, 100: 230, 128: 380, 256: 1110,
}  # fmt: skip
"""Memory of the process in megabytes, by n."""
CPU_PERCENT = {2: 0, 4: 0, 6: 2.1, 8: 2.4, 10: 4.7, 20: 6.3, 40: 6.6, 60: 21.7, 80: 61, 100: 65, 128: 73, 256: 88}
"""CPU in percent of a core, by n; at what pace is not said."""

ACTION_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_ACTION_SECONDS = {
    "move_to_block": (0.0001, 0.0001, 0.0001, 0.0001, 0.0002, 0.0002, 0.0004, 0.0008, 0.0015),
    "push_block": (0.0001, 0.0001, 0.0002, 0.0003, 0.0006, 0.0013, 0.0035, 0.0108, 0.0366),
    "rendezvous": (0.0001, 0.0001, 0.0001, 0.0001, 0.0002, 0.0003, 0.0006, 0.0012, 0.0024),
    "idle": (0.0, 0.0001, 0.0001, 0.0001, 0.0001, 0.0002, 0.0004, 0.0008, 0.0015),
    "wait_agents": (0.0001, 0.0, 0.0001, 0.0001, 0.0002, 0.0004, 0.0015, 0.0036, 0.0126),
    "yield_block": (0.0, 0.0, 0.0001, 0.0001, 0.0001, 0.0002, 0.0004, 0.0008, 0.0015),
}
ACTION_SECONDS = {action: dict(zip(ACTION_SIZES, seconds, strict=True)) for action, seconds in _ACTION_SECONDS.items()}
"""Mean seconds of a symbolic action, by action and n; to four decimals, so 0 means below 0.00005."""
