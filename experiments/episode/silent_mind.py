"""Minds that do not talk in a team in which others do, and minds of rules among extensions."""

from __future__ import annotations

from dataclasses import replace

from maeil.mind import Act, Mind, Resume, Thought, View


class SilentMind:
    """Keeps the talk of others from a mind that has no use for it.

    It is silent in turns to speak, and resumes its plan when a message interrupts it, unless an extension has a note
    for it. A team of such minds alone does not talk, and needs no protection.

    Args:
        mind: asked for plans only.
    """

    def __init__(self, mind: Mind) -> None:
        self.mind = mind
        """The mind that plans."""

    async def think(self, view: View) -> Thought:
        """Ask the mind in turns to plan, unless it can resume its plan."""
        if Act.PLAN not in view.turn.acts:
            return Thought()
        return Thought(Resume.RESUME) if view.may_resume and not view.notes else await self.mind.think(view)


class Replanning:
    """Has a mind of rules plan as if it had no plan, where an extension asks for a new one.

    Args:
        mind: the mind.
    """

    def __init__(self, mind: Mind) -> None:
        self._mind = mind

    async def think(self, view: View) -> Thought:
        """Ask the mind."""
        return await self._mind.think(view if view.may_resume else replace(view, plan=None))
