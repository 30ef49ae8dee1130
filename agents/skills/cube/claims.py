"""The few sentences that negotiators say to each other, and how they are understood."""

from __future__ import annotations

import re
from collections.abc import Mapping

_CLAIM = re.compile(r"\bI take block_(\d+)\b")
_ORDER = re.compile(r"\bagent_(\d+): block_(\d+)\b")
_OBJECTION = re.compile(r"\bI cannot take block_(\d+)\b")


def claim(block: int, steps: int) -> str:
    """Say what one wants to work on."""
    return f"I take block_{block}, {steps} steps away."


def order(blocks: Mapping[int, int]) -> str:
    """Tell others what to work on."""
    return "; ".join(f"agent_{agent}: block_{block}" for agent, block in sorted(blocks.items())) + "."


def objection(block: int, reason: str) -> str:
    """Refuse a block."""
    return f"I cannot take block_{block}: {reason}."


def request(reason: str) -> str:
    """Ask for something to do."""
    return f"What shall I do? {reason}"


def read_claim(text: str) -> int | None:
    """Find the block that a message claims."""
    found = _CLAIM.search(text)
    return int(found[1]) if found else None


def read_order(text: str) -> dict[int, int]:
    """Find who is told to work on what."""
    return {int(agent): int(block) for agent, block in _ORDER.findall(text)}


def read_objection(text: str) -> int | None:
    """Find the block that a message refuses."""
    found = _OBJECTION.search(text)
    return int(found[1]) if found else None
