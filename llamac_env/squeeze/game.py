"""The rules of the Gaussian squeeze: the reward of a round, the best sum, and the evaluation of a run of rounds.

Source: the LLaMAC paper, section on system resource allocation. Each of N agents picks an integer from 0 to 9; their
    sum `x` has the reward `R(x) = x exp(-(x - mu)^2 / sigma^2)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, floor, fsum, hypot, inf, sqrt
from typing import Any

import numpy as np

from quorum_base.environments.arguments import parts
from quorum_base.environments.errors import WorldError

HIGHEST = 9
"""The largest pick."""

RHO_RANGE = (0.25, 0.75)
"""Range of `rho` if it is drawn."""

NARROWEST = 0.1
"""The smallest width of the curve: a narrower one might lie between two sums, so that no sum has a reward."""

CLOSE = 0.95
"""Share of the best reward from which a round counts as close."""


@dataclass(frozen=True, slots=True)
class Game:
    """A squeeze: the number of agents and the curve.

    Attributes:
        agents: number of agents, N.
        mu: centre of the bell curve, a sum.
        sigma: width of the curve, in the same unit.

    Raises:
        WorldError: there are no agents, the centre is outside the sums, or the curve is too narrow.
    """

    agents: int
    mu: float
    sigma: float

    def __post_init__(self) -> None:
        if self.agents < 1:
            raise WorldError(f"a squeeze of {self.agents} agents: at least 1 is needed")
        if not 0 < self.mu <= self.highest:
            raise WorldError(f"mu = {self.mu:g}: must be above 0 and at most {self.highest}, the largest sum")
        if not NARROWEST <= self.sigma < inf:
            raise WorldError(f"sigma = {self.sigma:g}: must be finite and at least {NARROWEST}")

    @property
    def highest(self) -> int:
        """The largest sum."""
        return HIGHEST * self.agents

    @property
    def rho(self) -> float:
        """The centre as a share of the largest sum."""
        return self.mu / self.highest

    def reward(self, x: int) -> float:
        """Return the reward of a sum, R(x)."""
        return x * exp(-(((x - self.mu) / self.sigma) ** 2))

    @property
    def best_x(self) -> int:
        """The sum with the highest reward: floor or ceiling of `(mu + sqrt(mu^2 + 2 sigma^2)) / 2`, the root of R'."""
        root = floor(min((self.mu + hypot(self.mu, sqrt(2) * self.sigma)) / 2, self.highest))
        return max((min(x, self.highest) for x in (root, root + 1)), key=self.reward)

    @property
    def best_reward(self) -> float:
        """The highest reward, R*."""
        return self.reward(self.best_x)


def make_game(agents: int, *, rho: float, mu: float | None = None, sigma: float | None = None) -> Game:
    """Make a game.

    Args:
        agents: number of agents.
        rho: position of the peak, as a share of the largest sum; ignored if `mu` is given.
        mu: centre of the curve; None: `rho * 9 N`.
        sigma: width of the curve; None: `mu / 2`.

    Raises:
        WorldError: the game is invalid.
    """
    if mu is None and not 0 < rho <= 1:
        raise WorldError(f"rho = {rho:g}: must be above 0 and at most 1")
    centre = mu if mu is not None else rho * (HIGHEST * agents)
    return Game(agents, centre, sigma if sigma is not None else centre / 2)


def altered(game: Game, changes: Mapping[str, Any]) -> Game:
    """Return a game with another curve; parameters that are not named stay.

    Args:
        game: the current game.
        changes: `mu` or `rho`, the position of the peak, and `sigma`, its width; JSON.

    Raises:
        WorldError: the changes are malformed or the game is invalid; the message names the place.
    """
    for key, value in parts("", changes, ("rho", "mu", "sigma")).items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise WorldError(f"{key}: {value!r} is not a number")
    if "rho" in changes and "mu" in changes:
        raise WorldError("rho, mu: both set the position of the peak: give only one of them")
    sigma = float(changes.get("sigma", game.sigma))
    if "rho" in changes:
        return make_game(game.agents, rho=float(changes["rho"]), sigma=sigma)
    return Game(game.agents, float(changes.get("mu", game.mu)), sigma)


def draw_game(
    agents: int,
    rho: float | None,
    generator: np.random.Generator,
    *,
    mu: float | None = None,
    sigma: float | None = None,
) -> Game:
    """Make the game of an episode: `rho` as given, else drawn uniformly from `RHO_RANGE`, unless `mu` is given."""
    if rho is None and mu is None:
        rho = float(generator.uniform(*RHO_RANGE))
    return make_game(agents, rho=rho if rho is not None else 0, mu=mu, sigma=sigma)


@dataclass(frozen=True, slots=True)
class Curve:
    """Evaluation of a run of rounds.

    Attributes:
        last: R / R* of the last round.
        best: R / R* of the best round.
        regret: additional reward of always picking best: the sum of R* - R over the rounds.
        rounds_to_close: rounds until the first with R >= 0.95 R*; None if there is none.
    """

    last: float
    best: float
    regret: float
    rounds_to_close: int | None


def curve(game: Game, rewards: Sequence[float]) -> Curve:
    """Evaluate the rewards of the rounds, in order.

    Raises:
        WorldError: there are no rounds.
    """
    if not rewards:
        raise WorldError("a curve needs at least one round")
    shares = [reward / game.best_reward for reward in rewards]
    close = next((number for number, share in enumerate(shares, 1) if share >= CLOSE), None)
    return Curve(shares[-1], max(shares), fsum(game.best_reward - reward for reward in rewards), close)


_BAR = 40
"""Length of the longest bar in characters."""


def render_ansi(game: Game, played: Sequence[tuple[Game, int]]) -> str:
    """Draw the rounds as text: one line each, with the sum, the reward and a bar for its share of the best.

    Args:
        game: game of the coming round.
        played: game and sum of each round.
    """
    lines = [f"{game.agents} agents, best sum {game.best_x} of {game.highest}, best reward {game.best_reward:.3f}"]
    for number, (own, x) in enumerate(played, 1):
        share = own.reward(x) / own.best_reward
        bar = ("#" * round(share * _BAR)).ljust(_BAR)
        lines.append(f"{number:3} |{bar}| sum {x:4}  reward {own.reward(x):9.3f}  {share:6.1%}")
    return "\n".join(lines)
