"""How often verdicts are right: accuracy of agent and of step, as in Who&When, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quorum.experiments.blame.verdict import Verdict

_Z = 1.959963984540054
"""Of the normal distribution, for intervals of 95 %."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of episodes.

    Attributes:
        hits: episodes in which it is so.
        episodes: in all.
    """

    hits: int
    episodes: int

    @property
    def value(self) -> float:
        """The share itself; nan of none."""
        return self.hits / self.episodes if self.episodes else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of Wilson (1927), which also fits shares of 0 and 1."""
        n = self.episodes
        if not n:
            return 0.0, 1.0
        p = self.value
        centre = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        return max(centre - half, 0.0), min(centre + half, 1.0)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        low, high = self.interval
        return {"share": self.value if self.episodes else None, "low": low, "high": high, "hits": self.hits}


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of a labelled episode.

    Attributes:
        run: name of its folder.
        world: in which it was played.
        kind: of the fault.
        agent: who did it.
        t: environment step of the turn in which it was done.
        t_hat: cognitive time at which the thought of that turn began.
    """

    run: str
    world: str
    kind: str
    agent: str
    t: int
    t_hat: int | float


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How a method fares on some episodes.

    Attributes:
        agent: it names the right agent.
        step: it names the right environment step.
        near: it names one that is at most so many steps off.
        both: the right agent and the right step.
        reruns: episodes played a case, in the mean.
        calls: answers of models a case, in the mean.
    """

    agent: Share
    step: Share
    near: Share
    both: Share
    reruns: float
    calls: float

    @classmethod
    def of(cls, judged: Sequence[tuple[Truth, Verdict]], steps: int) -> Accuracy:
        """Hold verdicts against what is known. A method that names nobody is wrong.

        Args:
            judged: each episode with its verdict.
            steps: that a step may be off to count as near.
        """
        n = len(judged)

        def share(hits: Sequence[bool]) -> Share:
            return Share(sum(hits), n)

        agents = [verdict.agent == truth.agent for truth, verdict in judged]
        exact = [verdict.t == truth.t for truth, verdict in judged]
        near = [verdict.t is not None and abs(verdict.t - truth.t) <= steps for truth, verdict in judged]
        both = [one and other for one, other in zip(agents, exact, strict=True)]
        reruns, calls = (sum(getattr(v, name) for _, v in judged) / n if n else 0.0 for name in ("reruns", "calls"))
        return cls(share(agents), share(exact), share(near), share(both), reruns, calls)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        shares = {"agent": self.agent, "step": self.step, "near": self.near, "both": self.both}
        found = {name: share.plain() for name, share in shares.items()}
        return {"episodes": self.agent.episodes, **found, "reruns": self.reruns, "calls": self.calls}
