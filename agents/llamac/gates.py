"""The contract of a world's gates: the rules that judge a joint plan and each agent's part of it, without a call.

A world's gates are one file named after it (`cube_gates.py`, `crafter_gates.py`); nothing else in this package knows a
world. Every rule has a code, and every code says which cooperation constraint it stands for, so that rejections are a
metric (`gates.*`). What a gate is written with can be imported from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from maeil.mind import Observation
from quorum.agents.coordination.joint import Fault, Joint, Rejection, Rule, Sight


class Gates(Protocol):
    """The rules of one world. They are pure functions of their arguments."""

    codes: Mapping[str, Rule]
    """The rules of both gates by code."""

    def state(self, sight: Sight) -> object:
        """Give what the critics are shown of the world, JSON-ready."""
        ...

    def digest(self, sight: Sight) -> object:
        """Give the state in a few numbers, JSON-ready, for the memory of past decisions.

        None where the state itself tells all that has been: then no epochs are kept beside it.
        """
        ...

    def scrutinize(self, sight: Sight, joint: Joint) -> Sequence[Rejection]:
        """Veracity scrutiny: tell what is wrong with a joint plan; cheap rules first."""
        ...

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> Rejection | None:
        """Plan confirmation: tell what is wrong with an agent's own part, by what it sees and was told.

        Args:
            agent: its index, in `joint.plans`.
            observation: what it sees.
            joint: what it was told, as far as it was told it.
        """
        ...


__all__ = ["Fault", "Gates", "Joint", "Rejection", "Rule", "Sight"]
