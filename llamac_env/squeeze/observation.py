"""What an agent is shown of the squeeze: its own picks and what the rounds paid; from outside, all picks."""

from __future__ import annotations

from dataclasses import dataclass


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
    history: tuple[Round, ...]
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
