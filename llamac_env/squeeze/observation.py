"""What an agent is shown of the squeeze: its own picks and what the rounds paid; from outside, all picks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True, slots=True)
class Round:
    """A past round, as one participant knows it."""

    pick: int | None
    """The agent's own pick; None for one who sees the game from outside."""
    reward: float
    """What the round paid the system."""
    picks: tuple[int, ...]
    """All picks, by agent; empty for an agent, which does not know them."""
    mean: float | None
    """Their average; None for an agent."""


class History(Sequence[Round]):
    """The rounds played by some moment, of a list that later rounds are only ever added to; no copy of it is made.

    Equal to any sequence of the same rounds. Copies and pickles hold the rounds of the moment alone.

    Args:
        told: rounds, oldest first; shared.
        length: how many of them were played.
    """

    __slots__ = ("_length", "_told")

    def __init__(self, told: Sequence[Round], length: int) -> None:
        self._told = told
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Round: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Round, ...]: ...

    def __getitem__(self, index: int | slice) -> Round | tuple[Round, ...]:
        where = range(self._length)[index]
        return tuple(self._told[i] for i in where) if isinstance(where, range) else self._told[where]

    def __iter__(self) -> Iterator[Round]:
        return (self._told[i] for i in range(self._length))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"History({list(self)!r})"

    def __reduce__(self) -> tuple[type[History], tuple[tuple[Round, ...], int]]:
        return History, (tuple(self), self._length)


@dataclass(frozen=True, slots=True)
class SqueezeObservation:
    """What one participant is told. Where the peak of the reward is, nobody is."""

    agents: int
    highest_pick: int
    round: int
    """Rounds played."""
    rounds: int
    """Rounds in all."""
    agent: str
    """Name of the observing agent; empty for one who sees the game from outside."""
    history: Sequence[Round]
    """The rounds played, oldest first."""

    def text(self) -> str:
        """The observation as readable lines."""
        lines = [
            f"Round {self.round} of {self.rounds}. {self.agents} agents pick an integer from 0 to {self.highest_pick}.",
            f"You are {self.agent}." if self.agent else "You have no body.",
        ]
        for number, past in enumerate(self.history, 1):
            seen = f"you picked {past.pick}" if past.pick is not None else f"picks {past.picks}, mean {past.mean:.2f}"
            lines.append(f"Round {number}: {seen}; reward {past.reward:.3f}.")
        return "\n".join(lines)
