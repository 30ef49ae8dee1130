"""The rules of the Gaussian squeeze: what a round pays, what the best sum is, and how well a run of rounds did.

Source: the LLaMAC paper, section on system resource allocation. Each of N agents picks an integer from 0 to 9; their
sum `x` pays `R(x) = x exp(-(x - mu)^2 / sigma^2)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, floor, fsum, sqrt

import numpy as np

from llamac_env.errors import LlamacError

HIGHEST = 9
"""The largest pick."""

RHO_RANGE = (0.25, 0.75)
"""Where `rho` is drawn from when it is not given."""

CLOSE = 0.95
"""Share of the best reward from which a round counts as close."""


@dataclass(frozen=True, slots=True)
class Game:
    """A squeeze: how many agents there are, and where the peak is.

    Attributes:
        agents: number of agents, N.
        rho: where the peak is, as a share of the largest sum: `mu = rho * 9 N`, `sigma = mu / 2`.

    Raises:
        LlamacError: no agents, or a peak outside the sums.
    """

    agents: int
    rho: float

    def __post_init__(self) -> None:
        if self.agents < 1 or not 0 < self.rho <= 1:
            raise LlamacError(f"a squeeze of {self.agents} agents with rho = {self.rho}: at least 1, and 0 < rho <= 1")

    @property
    def mu(self) -> float:
        """Centre of the bell curve."""
        return self.rho * self.highest

    @property
    def sigma(self) -> float:
        """Its width."""
        return self.mu / 2

    @property
    def highest(self) -> int:
        """The largest sum."""
        return HIGHEST * self.agents

    def reward(self, x: int) -> float:
        """What a sum pays, R(x)."""
        return x * exp(-(((x - self.mu) / self.sigma) ** 2))

    @property
    def best_x(self) -> int:
        """The sum that pays most: floor or ceiling of `(mu + sqrt(mu^2 + 2 sigma^2)) / 2`, the root of R'."""
        root = floor((self.mu + sqrt(self.mu**2 + 2 * self.sigma**2)) / 2)
        return max((min(x, self.highest) for x in (root, root + 1)), key=self.reward)

    @property
    def best_reward(self) -> float:
        """What that sum pays, R*."""
        return self.reward(self.best_x)


def draw_game(agents: int, rho: float | None, generator: np.random.Generator) -> Game:
    """Make the game of an episode: `rho` as given, else drawn uniformly from `RHO_RANGE`."""
    return Game(agents, rho if rho is not None else float(generator.uniform(*RHO_RANGE)))


@dataclass(frozen=True, slots=True)
class Curve:
    """How well a run of rounds did.

    Attributes:
        last: R / R* of the last round.
        best: R / R* of the best round.
        regret: what always picking best would have paid more: the sum of R* - R over the rounds.
        rounds_to_close: rounds until the first with R >= 0.95 R*; None when there was none.
    """

    last: float
    best: float
    regret: float
    rounds_to_close: int | None


def curve(game: Game, rewards: Sequence[float]) -> Curve:
    """Judge the rewards of the rounds, in their order.

    Raises:
        LlamacError: there are none.
    """
    if not rewards:
        raise LlamacError("a curve has at least one round")
    shares = [reward / game.best_reward for reward in rewards]
    close = next((number for number, share in enumerate(shares, 1) if share >= CLOSE), None)
    return Curve(shares[-1], max(shares), fsum(game.best_reward - reward for reward in rewards), close)
