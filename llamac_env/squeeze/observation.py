"""Observations of the squeeze: agents see their own picks and the rewards, outside observers sums and picks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llamac_env.squeeze.game import HIGHEST


@dataclass(frozen=True, slots=True)
class Round:
    """A past round, as known to one participant."""

    pick: int | None = None
    """The agent's own pick; None for an outside observer."""
    reward: float = 0.0
    """The reward of the round."""
    sum: int | None = None
    """The sum of all picks; None for an agent that does not see them."""
    mean: float | None = None
    """The mean of all picks; None if the sum is."""
    picks: tuple[int, ...] = ()
    """All picks, by agent; empty for participants that do not see the individual picks."""


@dataclass(frozen=True, slots=True)
class SqueezeObservation:
    """One participant's observation. It never shows where the reward has its peak; `hint` may say that it has one."""

    agents: int
    highest_pick: int
    round: int
    """Rounds played."""
    rounds: int
    """Total number of rounds."""
    agent: str = ""
    """Name of the observing agent; empty for an outside observer."""
    history: tuple[Round, ...] = ()
    """The rounds played, oldest first."""
    hint: str = ""
    """What is known about the dependence of the reward on the sum; empty: nothing."""

    def shown(self) -> dict[str, Any]:
        """Return the content of the prompt, each fact once; see `maeil.mind.Observation`. `read_rounds` reads it.

        The history is given by columns, with a value per round: shared columns come before the agent's own, so that the
        prompts of a round start alike. Rewards have six digits. Unknown values are left out; the mean follows from the
        sum, and the number of rounds played from the number of rewards. The hint is among the rules.
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
        """The content of the prompt as JSON."""
        return json.dumps(self.shown())


def read_rounds(shown: Mapping[str, Any], agent: str = "") -> SqueezeObservation:
    """Read the content of a prompt into an observation, without the hint.

    Args:
        shown: the content.
        agent: name of the observing agent, which its turn gives; empty for an outside observer.

    Raises:
        ValueError: the content is not in the format of a prompt.
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
        raise ValueError(f"this is not an observation of the squeeze: {error!r}") from error
