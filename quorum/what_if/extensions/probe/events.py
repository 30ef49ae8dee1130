"""The event of belief probes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from maeil.trace.events import Agent, Event


@dataclass(frozen=True, slots=True)
class Belief(Event):
    """An agent answers one question of a belief probe (`quorum branch --probe beliefs`).

    Attributes:
        agent: who answers.
        fact: the subject of the question: `state` of a task, `place` of a thing, `plan` of a teammate, or what a
            teammate named in a `message`.
        about: the thing, or the name of the teammate.
        truth: the right choice.
        answer: the choice of the agent.
        choices: number of choices, not counting `unknown`.
        hop: how many messages the fact travelled to the agent; null if no message brought it.
    """

    kind: ClassVar[str] = "belief"
    agent: Agent
    fact: str
    about: str
    truth: str
    answer: str
    choices: int
    hop: int | None
