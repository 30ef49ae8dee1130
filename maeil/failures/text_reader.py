"""What of a message is typed: the tasks that it names, orders, and what its sender takes on itself.

Nothing else of a text is understood. A task is known by the target that the world reports (`block_3`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"\w+")
_CLAUSE = re.compile(r"[.;!?]\s+|[;\n]+|[.!?]$")
_ORDER = re.compile(r"\s*(\w+)\s*:\s*(.*)", re.DOTALL)
_CLAIM = re.compile(
    r"\s*I(?:'ll| will| shall| am going to)?\s+"
    r"(?:take|work on|go for|go to|bring|collect|craft|deliver|do|handle|make|place|push|carry)\b",
)


class TextReader:
    """Reads messages.

    Args:
        targets: those of all tasks of the trace.
        names: of the participants.
    """

    def __init__(self, targets: Collection[str], names: Sequence[str]) -> None:
        self._targets = frozenset(targets)
        self._agents: Mapping[str, int] = {name: index for index, name in enumerate(names)}
        self._folded = {tuple(word.lower() for word in _WORD.findall(target)): target for target in targets}
        self._lengths = sorted({len(words) for words in self._folded})

    def named(self, text: str) -> frozenset[str]:
        """Return the targets that a text names, in whatever spelling: `block_3`, `Block 3`, `block-3`."""
        words = [word.lower() for word in _WORD.findall(text)]
        found = set()
        for length in self._lengths:
            for place in range(len(words) - length + 1):
                target = self._folded.get(tuple(words[place : place + length]))
                if target is not None:
                    found.add(target)
        return frozenset(found)

    def mentions(self, text: str, agent: int) -> bool:
        """Whether a text names a participant."""
        return any(self._agents.get(token) == agent for token in _TOKEN.findall(text))

    def taken(self, text: str, sender: int) -> Mapping[int, str]:
        """Return who is to do which task by a text: a clause `agent_1: ... block_3`, or `I take block_3` of its sender.

        A clause names exactly one task, literally; the last clause about a participant holds.
        """
        found: dict[int, str] = {}
        for clause in _CLAUSE.split(text):
            order = _ORDER.match(clause)
            if order and order[1] in self._agents:
                agent, rest = self._agents[order[1]], order[2]
            elif _CLAIM.match(clause):
                agent, rest = sender, clause.partition(":")[0]
            else:
                continue
            targets = {token for token in _TOKEN.findall(rest) if token in self._targets}
            if len(targets) == 1:
                found[agent] = targets.pop()
        return found
