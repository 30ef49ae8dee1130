"""The data of the interaction graph: its nodes are messages and thoughts, its edges lead from inputs to outputs.

Source: DIG to Heal (arXiv 2603.00309), which calls messages events and thoughts activations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from maeil.messages import MessageKind
from maeil.tasks import fewest
from maeil.trace.events import ConstraintChange, PlanChange
from maeil.trace.story import target_of


class Reaction(StrEnum):
    """A recipient's reaction to a message."""

    PENDING = "pending"  # not read
    WAIT = "wait"  # read, and kept for the next plan
    CONSUME = "consume"  # taken up by a plan or by an answer
    REROUTE = "reroute"  # not taken up, but passed on to a participant that it had not reached
    DISCARD = "discard"  # read, but neither taken up nor passed on


@dataclass(slots=True)
class Activation:
    """A thought.

    Attributes:
        number: number of the thought, from 0.
        agent: index of the participant.
        inputs: ids of the messages read in this thought, in order.
        outputs: ids of the messages sent in this thought, in order.
    """

    number: int
    agent: int
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    @property
    def generates(self) -> bool:
        """Whether it has more outputs than inputs, so that new work enters the graph (DIG, `PROBLEM_GENERATING`)."""
        return len(self.outputs) > len(self.inputs)


@dataclass(slots=True)
class SentMessage:
    """A message.

    Attributes:
        id: its number in the trace.
        sender: index of the participant.
        recipients: indices, ascending.
        kind: a `maeil.messages.MessageKind`.
        content: its text.
        t: environment step in which it was sent.
        source: number of the thought that sent it; None if the trace has none.
        lineage: bit set of the agents that its sender had heard of, including the sender.
        thread: id of the first message of its chain of passed-on messages; its own id if it passes nothing on.
        reactions: the reaction of each recipient.
    """

    id: int
    sender: int
    recipients: tuple[int, ...]
    kind: str
    content: str
    t: int
    source: int | None
    lineage: int
    thread: int
    reactions: dict[int, Reaction]


@dataclass(slots=True)
class InteractionGraph:
    """The graph of an episode, complete or so far.

    Attributes:
        agents: number of embodied agents.
        activations: thoughts in the order in which they started.
        messages: by id, in the order in which they were sent.
    """

    agents: int
    activations: list[Activation] = field(default_factory=list)
    messages: dict[int, SentMessage] = field(default_factory=dict)

    def generator(self, message: int, depth: int) -> tuple[int, int] | None:
        """Return the participant that brought a message's work into the graph, and how many thoughts ago.

        The search goes from each thought to the first message that it read (DIG, `dependency_warning`).

        Args:
            message: id of the message.
            depth: maximum number of thoughts to examine, including the source of the message.

        Returns:
            None if no such participant is found.
        """
        source = self.messages[message].source
        for steps in range(depth):
            if source is None:
                return None
            thought = self.activations[source]
            if thought.generates:
                return thought.agent, steps
            if not thought.inputs:
                return None
            source = self.messages[thought.inputs[0]].source
        return None


def reaction_counts(messages: Mapping[int, SentMessage]) -> dict[Reaction, int]:
    """Count the reactions of all recipients of all messages."""
    found = dict.fromkeys(Reaction, 0)
    for message in messages.values():
        for reaction in message.reactions.values():
            found[reaction] += 1
    return found


_WORD = re.compile(r"\w+")
_PARTED = re.compile(r"(?<=[^\W\d])[ -](?=\d)")
"""The separator between a noun and its number in a text that does not use the world's spelling: `block 2`."""

_ASKING = frozenset({MessageKind.DIRECTIVE.value, MessageKind.REQUEST.value})


class Subjects:
    """The subjects of this episode's tasks, and how many agents the active tasks take."""

    def __init__(self) -> None:
        self._active: dict[str, dict[str, int]] = {}
        self._known: set[str] = set()

    def learn(self, event: ConstraintChange | PlanChange) -> None:
        """Learn the subject of a task or a plan."""
        if event.task is None:
            return
        subject = target_of(event.task)
        self._known.add(subject)
        if isinstance(event, ConstraintChange):
            active = self._active.setdefault(subject, {})
            name = f"{event.task.get('kind', '')}:{event.task.get('target', '')}"
            if event.threshold:
                active[name] = fewest(event.threshold, event.weights)
            else:
                active.pop(name, None)

    @property
    def known(self) -> int:
        """Number of known subjects; it never decreases."""
        return len(self._known)

    def takes(self, subject: str) -> int:
        """Return the smallest number of agents that an active task of a subject takes; 0 if none is active."""
        return min(self._active.get(subject, {}).values(), default=0)

    def named(self, text: str) -> frozenset[str]:
        """Return the subjects that a text mentions as whole words."""
        words = {*_WORD.findall(text), *_WORD.findall(_PARTED.sub("_", text))}
        return frozenset(words & self._known)

    def asks(self, kind: str, about: frozenset[str]) -> bool:
        """Whether a message asks its recipients to do something.

        Directives and requests do. A proposal does if one of its subjects takes more than one agent. All other messages
        only inform.
        """
        if kind in _ASKING:
            return True
        return kind == MessageKind.PROPOSE and any(self.takes(subject) > 1 for subject in about)
