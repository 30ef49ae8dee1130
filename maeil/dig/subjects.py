"""What messages and plans are about, as far as a trace tells: the targets of tasks, found by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from maeil.messages import MessageKind
from maeil.trace.events import ConstraintChange, PlanChange

_WORD = re.compile(r"\w+")
_PARTED = re.compile(r"(?<=[^\W\d])[ -](?=\d)")
"""What parts a noun from its number where the text does not write them as the world does: `block 2`."""

_ASKING = frozenset({MessageKind.DIRECTIVE.value, MessageKind.REQUEST.value})


def subject_of(task: Mapping[str, str]) -> str:
    """Return what a task is done to, without the part of it (`block_0` of `block_0/left`): it is one work."""
    return str(task.get("target", "")).partition("/")[0]


class Subjects:
    """The things that tasks of this episode are about, and how many agents the active ones take."""

    def __init__(self) -> None:
        self._active: dict[str, dict[str, int]] = {}
        self._known: set[str] = set()

    def learn(self, event: ConstraintChange | PlanChange) -> None:
        """Take in what a task or a plan is about."""
        if event.task is None:
            return
        subject = subject_of(event.task)
        self._known.add(subject)
        if isinstance(event, ConstraintChange):
            active = self._active.setdefault(subject, {})
            name = f"{event.task.get('kind', '')}:{event.task.get('target', '')}"
            if event.threshold:
                active[name] = event.threshold
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
