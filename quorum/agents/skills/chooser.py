"""How the simulated model chooses: by the rules, or as a language model that draws its answers and errs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Option = TypeVar("Option")


@dataclass(frozen=True, slots=True)
class Chooser:
    """Makes the choices of one answer.

    Attributes:
        rng: of all its draws.
        poor: probability that a choice is made at random instead of by the rules.
        temperature: of draws by cost, in the unit of the costs; 0 goes by the rules alone.
    """

    rng: np.random.Generator
    poor: float = 0.0
    temperature: float = 0.0

    def is_poor(self) -> bool:
        """Draw whether a choice is made at random."""
        return bool(self.rng.random() < self.poor)

    def any_of(self, options: Sequence[Option]) -> Option:
        """Draw one of some options, all of them alike."""
        return options[int(self.rng.integers(len(options)))]

    def judge(self, cost: float) -> float:
        """Return a cost as it is judged in this answer: with it, the least of several is a draw by softmax(-cost / T).

        That is so as the noise is Gumbel's; sorting by judged costs draws an order of all options.
        """
        return cost - self.temperature * self.rng.gumbel() if self.temperature else cost

    def least(self, options: Iterable[Option], cost: Callable[[Option], float]) -> Option:
        """Draw one of some options by its cost; the first of the cheapest at temperature 0."""
        return min(options, key=lambda option: self.judge(cost(option)))
