"""How the simulated model chooses: by the rules, or like a language model that samples its answers and errs."""

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
        rng: random generator of all its draws.
        poor: probability of a random choice instead of the rules'.
        temperature: sampling temperature, in the unit of the costs; 0 follows the rules exactly.
    """

    rng: np.random.Generator
    poor: float = 0.0
    temperature: float = 0.0

    def is_poor(self) -> bool:
        """Draw whether a choice is random."""
        return bool(self.rng.random() < self.poor)

    def any_of(self, options: Sequence[Option]) -> Option:
        """Draw one of some options uniformly."""
        return options[int(self.rng.integers(len(options)))]

    def judge(self, cost: float) -> float:
        """Return a cost plus Gumbel noise: the option with the least judged cost is a draw by softmax(-cost / T).

        Sorting by judged costs draws an order of all options.
        """
        return cost - self.temperature * self.rng.gumbel() if self.temperature else cost

    def least(self, options: Iterable[Option], cost: Callable[[Option], float]) -> Option:
        """Draw one of some options by cost; at temperature 0, return the first of the cheapest."""
        return min(options, key=lambda option: self.judge(cost(option)))
