"""The control arms of a choice probe: the same view with other messages.

| arm | what the prompt contains in place of each received message |
|---|---|
| `heard` | the message itself |
| `none` | nothing |
| `empty` | the message without its content |
| `own` | the message with the reader's own last text |
| `shuffled` | the message with a text of the same sender on another board, at the nearest step |
| `contradicting` | the message, which names the next of the available choices instead of each that it names |

No arm has what the agent itself has said in this step after the first of these messages: "I take block_2", after a
request for it, would keep what it heard in the prompt of every arm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from maeil.messages import Message
from maeil.mind import View
from quorum.what_if.extensions.probe.facts import named_in

HEARD = "heard"
CONTROLS = ("none", "empty", "own", "shuffled", "contradicting")
ARMS = (HEARD, *CONTROLS)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Donor:
    """A message of another board: its step, its sender and its text."""

    t: int
    sender: int
    content: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What an agent heard before a decision.

    Attributes:
        kind: kind of the task that the messages name.
        choices: targets of all available tasks of this kind, at least two.
        named: the target that the messages name.
        asked: whether a message asks the agent for it; else a message only names it.
    """

    kind: str
    choices: tuple[str, ...]
    named: str
    asked: bool

    @classmethod
    def of(cls, view: View, tasks: Mapping[str, Sequence[str]]) -> Heard | None:
        """Return what the messages of this step say: the latest request to the agent, else the latest named target.

        Args:
            view: the turn.
            tasks: the available targets of each kind of task.

        Returns:
            None if they name no target, or several at once, or if it is the only choice.
        """
        latest = [message for message in received(view) if message.t == view.t][::-1]
        asks = [ask.task for message in latest for ask in message.asks or () if ask.agent == view.agent]
        found = [(task.kind, task.target, True) for task in asks if task.target in tasks.get(task.kind, ())]
        for message in latest:
            for kind, targets in tasks.items():
                if len(names := named_in(message.content, targets)) == 1:
                    found.append((kind, names[0], False))
        kind, named, asked = found[0] if found else ("", "", False)
        choices = tuple(tasks.get(kind, ()))
        return cls(kind, choices, named, asked) if len(choices) > 1 else None


def received(view: View) -> list[Message]:
    """Return the messages of others in a view, oldest first."""
    return [message for message in (*view.memory, *view.unread) if message.sender != view.agent]


def views_of(view: View, choices: Sequence[str], donors: Sequence[Donor]) -> Iterator[tuple[str, View]]:
    """Yield the view of each arm by name; the arm `shuffled` only if there are donors.

    Args:
        view: the turn, with a message of this step.
        choices: the available targets.
        donors: messages of other boards.
    """
    heard = received(view)
    first = min(message.id for message in heard if message.t == view.t)
    view = _kept(view, lambda message: message if message.sender != view.agent or message.id < first else None)
    said = [message.content for message in (*view.memory, *view.unread) if message.sender == view.agent]
    said = said[-len(heard) :]
    texts = dict(zip((message.id for message in heard[::-1]), said[::-1], strict=False))
    yield HEARD, view
    yield "none", _changed(view, lambda _: None)
    yield "empty", _changed(view, lambda message: _saying(message, ""))
    yield "own", _changed(view, lambda message: _saying(message, texts.get(message.id, "")))
    if donors:
        yield "shuffled", _changed(view, lambda message: _saying(message, _donated(message, donors)))
    swapped = {message.id: replace(message, content=contradict(message.content, choices)) for message in heard}
    yield "contradicting", replace(_changed(view, lambda message: swapped[message.id]), constraints=view.constraints)


def contradict(text: str, choices: Sequence[str]) -> str:
    """Replace each choice that a text names, in any spelling, with the next one; the first follows the last."""
    after = {tuple(_words(choice)): choices[place + 1 - len(choices)] for place, choice in enumerate(choices)}
    one = "|".join(r"[\W_]+".join(map(re.escape, words)) for words in sorted(after, key=len, reverse=True))
    pattern = re.compile(rf"(?<![^\W_])(?:{one})(?![^\W_])", re.IGNORECASE)
    return pattern.sub(lambda found: after[tuple(_words(found[0]))], text)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _changed(view: View, change: Callable[[Message], Message | None]) -> View:
    """Return a view with changed messages of others, and without the open tasks that these carried."""
    found = _kept(view, lambda message: message if message.sender == view.agent else change(message))
    return found if view.turn.feedback else replace(found, constraints=())


def _kept(view: View, change: Callable[[Message], Message | None]) -> View:
    """Return a view with changed messages; None removes one."""
    memory, unread = (
        tuple(found for message in messages if (found := change(message)) is not None)
        for messages in (view.memory, view.unread)
    )
    return replace(view, memory=memory, unread=unread)


def _saying(message: Message, content: str) -> Message:
    """Return a message with other content and without structured parts."""
    return replace(message, content=content, constraints=(), task=None, asks=None)


def _donated(message: Message, donors: Sequence[Donor]) -> str:
    """Return the text of a donor: at the nearest step, by the same sender if one spoke in it; equal for all readers."""
    nearest = min(abs(donor.t - message.t) for donor in donors)
    found = [donor for donor in donors if abs(donor.t - message.t) == nearest]
    found = [donor for donor in found if donor.sender == message.sender] or found
    return found[message.id % len(found)].content
