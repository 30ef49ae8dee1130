"""The few sentences that negotiators say to each other, and how they are understood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from maeil.names import fold_names

_CLAIM = re.compile(r"\bI take block_(\d{1,9})\b")
_ORDER = re.compile(r"\bagent_(\d{1,9}): block_(\d{1,9})\b")
_OBJECTION = re.compile(r"\bI cannot take block_(\d{1,9})\b")
_BRANCH = re.compile(r"\bI speak for ([\w., ]+)\.")
_RUN = re.compile(r"\bagent_(\d{1,9})(?:\.\.agent_(\d{1,9}))?\b")
_LONGEST_RUN = 10_000
"""Agents of a run of names, at most: a longer one is no team's."""


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


def speaks_for(agents: Iterable[int]) -> str:
    """Say for whom one reports beside oneself."""
    return f"I speak for {', '.join(fold_names([f'agent_{agent}' for agent in sorted(agents)]))}."


def read_claim(text: str) -> int | None:
    """Find the block that a message claims."""
    found = _CLAIM.search(text)
    return int(found[1]) if found else None


def read_order(text: str) -> dict[int, int]:
    """Find who is told to work on what."""
    return {int(agent): int(block) for agent, block in _ORDER.findall(text)}


def read_branch(text: str) -> frozenset[int]:
    """Find for whom a message reports beside its sender."""
    found = _BRANCH.search(text)
    runs = [(int(first), int(last or first)) for first, last in _RUN.findall(found[1])] if found else []
    return frozenset(agent for first, last in runs if last - first < _LONGEST_RUN for agent in range(first, last + 1))


def read_objection(text: str) -> int | None:
    """Find the block that a message refuses."""
    found = _OBJECTION.search(text)
    return int(found[1]) if found else None
