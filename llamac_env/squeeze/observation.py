"""What one is shown of the squeeze: an agent its own picks and what the rounds paid; from outside sums and picks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from llamac_env.squeeze.game import HIGHEST


@dataclass(frozen=True, slots=True)
class Round:
    """A past round, as one participant knows it."""

    pick: int | None = None
    """The agent's own pick; None for one who sees the game from outside."""
    reward: float = 0.0
    """What the round paid the system."""
    sum: int | None = None
    """The sum of all picks; None for an agent that does not see them."""
    mean: float | None = None
    """Their average; None as the sum is."""
    picks: tuple[int, ...] = ()
    """All picks, by agent; empty for one who does not see them one by one."""


class History(Sequence[Round]):
    """The rounds played by some moment, of a list that later rounds are only ever added to; no copy of it is made.

    Equal to any sequence of the same rounds. Copies and pickles hold the rounds of the moment alone.

    Args:
        shown: rounds, oldest first; shared.
        length: how many of them were played.
    """

    __slots__ = ("_length", "_shown")

    def __init__(self, shown: Sequence[Round], length: int) -> None:
        self._shown = shown
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Round: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Round, ...]: ...

    def __getitem__(self, index: int | slice) -> Round | tuple[Round, ...]:
        where = range(self._length)[index]
        return tuple(self._shown[i] for i in where) if isinstance(where, range) else self._shown[where]

    def __iter__(self) -> Iterator[Round]:
        return (self._shown[i] for i in range(self._length))

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
    """What one participant sees. Nobody learns where the reward has its peak; that it has one, by `hint` alone."""

    agents: int
    highest_pick: int
    round: int
    """Rounds played."""
    rounds: int
    """Rounds in all."""
    agent: str = ""
    """Name of the observing agent; empty for one who sees the game from outside."""
    history: Sequence[Round] = ()
    """The rounds played, oldest first."""
    hint: str = ""
    """What is known of how the reward depends on the sum; empty: nothing."""

    def shown(self) -> dict[str, Any]:
        """What a prompt shows, each fact once; see `maeil.mind.Observation`, and `read_rounds` reads it.

        The history is given by columns, with a value for each round: what all know before what is the agent's own, so
        that prompts of a round begin alike. Rewards have six digits. What is not known is left out; the mean follows
        from the sum, and how many rounds were played from the number of rewards. The hint is among the rules.
        """
        columns: dict[str, list[Any]] = {"reward": [float(f"{past.reward:.6g}") for past in self.history]}
        if any(past.picks for past in self.history):
            columns["picks"] = [past.picks for past in self.history]
        if any(past.sum is not None for past in self.history):
            columns["sum"] = [past.sum for past in self.history]
        if self.agent:
            columns["your_pick"] = [past.pick for past in self.history]
        return {"agents": self.agents, "history": columns, "rounds": self.rounds}

    def text(self) -> str:
        """What a prompt shows, as JSON."""
        return json.dumps(self.shown())


def read_rounds(shown: Mapping[str, Any], agent: str = "") -> SqueezeObservation:
    """The observation that a prompt shows, but for the hint.

    Args:
        shown: what it shows.
        agent: name of the observing agent, which the turn gives; empty for one who sees the game from outside.

    Raises:
        ValueError: it shows none.
    """
    try:
        columns, n = shown["history"], shown["agents"]
        played = len(columns["reward"])
        unknown = [None] * played
        sums = columns.get("sum", unknown)
        rounds = zip(
            columns.get("your_pick", unknown), columns["reward"], sums, columns.get("picks", unknown), strict=True
        )
        history = tuple(
            Round(pick, reward, total, total / n if total is not None else None, tuple(picks or ()))
            for pick, reward, total, picks in rounds
        )
        return SqueezeObservation(n, HIGHEST, played, shown["rounds"], agent, history)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"this is no observation of the squeeze: {error!r}") from error
