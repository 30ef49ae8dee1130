"""Whether the simulated speaker of a world has rules for the actions that a prompt allows."""

from __future__ import annotations

from quorum.agents.llm.errors import BadRequest


def require(needed: frozenset[str], vocabulary: frozenset[str], world: str, way_out: str = "") -> None:
    """Refuse a vocabulary that the rules of a world make no plans of.

    Args:
        needed: the actions that its plans are made of.
        vocabulary: the actions that a plan may have.
        world: its name.
        way_out: what to set instead, if anything.

    Raises:
        BadRequest: an action is missing; the message names it.
    """
    if missing := sorted(needed - vocabulary):
        told = f"llm=simulated has no rules for this vocabulary of the world '{world}': it needs {', '.join(missing)}"
        raise BadRequest(f"{told}; {way_out}" if way_out else told)
