"""The data of the interaction graph: messages and thoughts are its nodes, edges go from what is read to what is said.

Source: DIG to Heal (arXiv 2603.00309), where messages are events and thoughts are activations.
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
    """What a recipient has done with a message."""

    PENDING = "pending"  # not read
    WAIT = "wait"  # read, and kept for the next plan
    CONSUME = "consume"  # taken up: by a plan, or by an answer
    REROUTE = "reroute"  # passed on to somebody whom it had not reached, and not taken up
    DISCARD = "discard"  # read, and neither taken up nor passed on


@dataclass(slots=True)
class Activation:
    """A thought.

    Attributes:
        number: place among the thoughts, from 0.
        agent: index of the participant.
        inputs: ids of the messages that it has read, in order.
        outputs: ids of the messages that it has sent, in order.
    """

    number: int
    agent: int
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    @property
    def generates(self) -> bool:
        """Whether it has given out more than it took in: new work enters the graph here (DIG, `PROBLEM_GENERATING`)."""
        return len(self.outputs) > len(self.inputs)


@dataclass(slots=True)
class SentMessage:
    """A message.

    Attributes:
        id: its number in the trace.
        sender: index of the participant.
        recipients: indices, ascending.
        kind: what it does, as `maeil.messages.MessageKind`.
        content: its text.
        t: environment step in which it was sent.
        source: number of the thought that has sent it; None where the trace has none.
        lineage: bits of the agents that its sender had heard of, itself among them.
        thread: id of the message that it passes on, or of the one which that passes on, and so forth; else its own.
        reactions: of each recipient.
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
    """The graph of an episode, or of what has happened of it.

    Attributes:
        agents: number of embodied agents.
        activations: thoughts in the order in which they began.
        messages: by id, in the order in which they were sent.
    """

    agents: int
    activations: list[Activation] = field(default_factory=list)
    messages: dict[int, SentMessage] = field(default_factory=dict)

    def generator(self, message: int, depth: int) -> tuple[int, int] | None:
        """Return who has brought a message's work into the graph, and how many thoughts back.

        From each thought the way goes on to the first message that it read (DIG, `dependency_warning`).

        Args:
            message: its id.
            depth: thoughts to look at, at most, the one that the message comes from included.
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
"""What parts a noun from its number where the text does not write them as the world does: `block 2`."""

_ASKING = frozenset({MessageKind.DIRECTIVE.value, MessageKind.REQUEST.value})


class Subjects:
    """The things that tasks of this episode are about, and how many agents the active ones take."""

    def __init__(self) -> None:
        self._active: dict[str, dict[str, int]] = {}
        self._known: set[str] = set()

    def learn(self, event: ConstraintChange | PlanChange) -> None:
        """Take in what a task or a plan is about."""
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
        """Number of subjects that it has heard of; it only grows."""
        return len(self._known)

    def takes(self, subject: str) -> int:
        """Return how many agents the least of its active tasks takes; 0 where none is active."""
        return min(self._active.get(subject, {}).values(), default=0)

    def named(self, text: str) -> frozenset[str]:
        """Return the subjects that a text names, as whole words."""
        words = {*_WORD.findall(text), *_WORD.findall(_PARTED.sub("_", text))}
        return frozenset(words & self._known)

    def asks(self, kind: str, about: frozenset[str]) -> bool:
        """Whether a message asks its recipients to do something.

        Directives and requests do; a proposal does where what it is about takes more than one agent; whatever else is
        said informs.
        """
        if kind in _ASKING:
            return True
        return kind == MessageKind.PROPOSE and any(self.takes(subject) > 1 for subject in about)
