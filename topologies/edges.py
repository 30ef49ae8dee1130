"""Whom a participant can write to, for the topologies in which everybody may write to everybody."""

from __future__ import annotations

from maeil.topology import ConversationState


def everyone_but(agent: int, conversation: ConversationState) -> tuple[int, ...]:
    """All agents but one, ascending."""
    return tuple(other for other in range(conversation.agents) if other != agent)
