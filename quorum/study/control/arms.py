"""The control arms, and the values of `extension.control`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from maeil.component import Component, NamesFile
from maeil.extension import Extension, ExtensionConfig, ExtensionContext
from maeil.messages import Message
from maeil.plans import Task
from maeil.seeds import Seeds
from maeil.team import Participant
from maeil.trace.events import EpisodeStart, MessageSent, Stamped
from quorum.study.control.events import ControlRead
from quorum.study.control.statements import Statements
from quorum.study.donors import Donor, read_donors
from quorum_base.digests import digest
from quorum_base.user_errors import WrongKey

Arm = Literal["mute", "null", "own", "shuffled", "truth"]


class ControlConfig(ExtensionConfig):
    """Values of `extension.control`."""

    arm: Arm
    """What is read instead of messages."""
    donors: Annotated[Annotated[str, Field(min_length=1)] | None, NamesFile()]
    """For `shuffled`: the file of messages of another board; else null."""

    @model_validator(mode="after")
    def _names_donors(self) -> Self:
        if (self.arm == "shuffled") != (self.donors is not None):
            reason = f"the arm {self.arm} takes no donors: leave this key out"
            if self.donors is None:
                reason = "shuffled needs a file of messages from another board: extension.control.donors=FILE"
            raise WrongKey("donors", reason)
        return self


class Control(Extension):
    """Replaces what participants read of each message, and removes its structured parts."""

    name = "control"

    def reads(self, participant: Participant, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the replacements, and record them."""
        found = self.instead(participant.index, messages) if messages else ()
        for message, read in zip(messages, found, strict=True):
            self.episode.record(ControlRead(message.id, participant.index, read.content if read is not None else None))
        return tuple(read for read in found if read is not None)

    @abstractmethod
    def instead(self, reader: int, messages: Sequence[Message]) -> Sequence[Message | None]:
        """Return a replacement for each of one or more messages of a participant; None for nothing."""


class Mute(Control):
    """Delivers nothing: a woken participant finds no message."""

    def instead(self, reader: int, messages: Sequence[Message]) -> Sequence[None]:  # noqa: ARG002
        """Return no message."""
        return [None] * len(messages)


class Null(Control):
    """Delivers messages with empty content: only their existence, sender, time and kind are left."""

    def instead(self, reader: int, messages: Sequence[Message]) -> Sequence[Message]:  # noqa: ARG002
        """Return the messages without content."""
        return [_saying(message, "") for message in messages]


class Own(Control):
    """A participant reads what it has said itself, its last text instead of the last message.

    Sender, kind and time stay those of the message, so that somebody else has still written. If it has not said enough
    yet, the remaining messages are empty.
    """

    def __init__(self) -> None:
        self._said: dict[int, list[str]] = {}

    def on_event(self, stamped: Stamped) -> None:
        """Record messages."""
        sent = stamped.event
        if isinstance(sent, MessageSent):
            self._said.setdefault(sent.sender, []).append(sent.content)

    def instead(self, reader: int, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the messages, with the reader's own texts."""
        said = self._said.get(reader, [])[-len(messages) :]
        texts = [*[""] * (len(messages) - len(said)), *said]
        return [_saying(message, text) for message, text in zip(messages, texts, strict=True)]


class Shuffled(Control):
    """A participant reads messages of another board.

    A message is replaced with one of the same step and sender, else of the same step, else of the nearest step that has
    one. Among these, messages of the same kind take precedence. If several remain, one is drawn: the same for all its
    readers.

    Args:
        donors: the messages of the other board.
        seeds: the place of the draws.
    """

    def __init__(self, donors: Sequence[Donor], seeds: Seeds) -> None:
        self._donors = donors
        self._seeds = seeds

    def start(self, event: EpisodeStart) -> EpisodeStart:
        """Remove messages that come from this same board."""
        self._donors = [donor for donor in self._donors if donor.seed != event.seed]
        return event

    def instead(self, reader: int, messages: Sequence[Message]) -> Sequence[Message]:  # noqa: ARG002
        """Return a donor for each message."""
        return [self._donated(message) for message in messages]

    def _donated(self, message: Message) -> Message:
        if not self._donors:
            return _saying(message, "")
        nearest = min((donor.t for donor in self._donors), key=lambda t: (abs(t - message.t), t))
        found = [donor for donor in self._donors if donor.t == nearest]
        if nearest == message.t:
            found = [donor for donor in found if donor.sender == message.sender] or found
        found = [donor for donor in found if donor.kind in (message.kind, None)] or found
        donor = found[self._seeds.child(message.id).generator().integers(len(found))]
        return replace(_saying(message, donor.content), kind=donor.kind or message.kind)


class Truth(Control):
    """A participant reads a true statement about the sender at the time of reading.

    Args:
        statements: makes the statements.
    """

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def instead(self, reader: int, messages: Sequence[Message]) -> Sequence[Message]:  # noqa: ARG002
        """Return a statement for each message, with a task if the message has one."""
        live = [agent.plan for agent in self.episode.team.agents]
        plans = [plan.plan if plan is not None else None for plan in live]
        found = []
        for message, (text, about) in zip(messages, self._statements(messages, plans), strict=True):
            task = about if message.task is not None else None
            found.append(replace(_saying(message, text), task=task and self._as_open(task)))
        return found

    def _as_open(self, task: Task) -> Task:
        """Return a task under its name in the open tasks, from which negotiators choose."""
        world = self.episode.world
        plans = [None] * len(world.agents)
        listed = world.open_tasks(plans, str(task))
        return next((one.task for one in listed or () if one.task.target.partition("/")[0] == task.target), task)


def _saying(message: Message, content: str) -> Message:
    """Return a message with other content and without structured parts."""
    return replace(message, content=content, constraints=(), task=None, asks=None)


def build(config: ControlConfig, context: ExtensionContext) -> Control:
    """Make the extension.

    Raises:
        ValueError: the file of donors cannot be read, or the world's skills make no true statements.
    """
    if config.arm == "shuffled":
        return Shuffled(read_donors(Path(str(config.donors))), context.seeds)
    if config.arm == "truth":
        return Truth(context.skill("statements")(context.world))
    plain: Mapping[str, Callable[[], Control]] = {"mute": Mute, "null": Null, "own": Own}
    return plain[config.arm]()


def inputs(config: ControlConfig, _world: str) -> Mapping[str, str]:
    """Return the digest of the file of donors.

    Raises:
        ValueError: there is no such file, or it holds no messages.
    """
    if config.donors is None:
        return {}
    file = Path(config.donors)
    read_donors(file)
    return {"extension.control.donors": digest(file.read_bytes())}


component = Component(ControlConfig, build, inputs=inputs)
