"""Which edges help, learned by REINFORCE and pruned (AgentPrune, arXiv 2410.02506, section 4), in NumPy."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Drawn: TypeAlias = NDArray[np.bool_]
"""Graphs: which edges each has; shape (draws, edges)."""

_RATE = 0.1
_DECAY = (0.9, 0.999)
_EPSILON = 1e-8


class EdgeLogits:
    """The directed edges between some agents, each with the logit of the probability that it is drawn.

    All begin at probability 0.5, as published. An edge that is pruned is never drawn again.

    Args:
        agents: number of agents.
    """

    def __init__(self, agents: int) -> None:
        self.edges = [(a, b) for a in range(agents) for b in range(agents) if a != b]
        self.logits = np.zeros(len(self.edges))
        self.kept = np.ones(len(self.edges), dtype=np.bool_)
        self._mean = np.zeros(len(self.edges))
        self._square = np.zeros(len(self.edges))
        self._steps = 0

    def draw(self, draws: int, rng: np.random.Generator) -> Drawn:
        """Draw graphs, each edge by itself."""
        return self.kept & (rng.random((draws, len(self.edges))) < self._probabilities())

    def learn(self, drawn: Drawn, utilities: NDArray[np.float64]) -> None:
        """Make edges more likely that were in the better graphs: one step of Adam.

        The loss is `-mean(log P(graph) * advantage)`. The advantage of a graph on a board is its utility less the mean
        of all graphs on that board, so that hard boards do not count against whatever was drawn on them.

        Args:
            drawn: the graphs.
            utilities: how well the team did with each on each board; shape (boards, draws). Higher is better.
        """
        advantages = utilities - utilities.mean(axis=1, keepdims=True)
        weights = advantages.mean(axis=0)
        gradient = -(weights[:, None] * (drawn - self._probabilities())).mean(axis=0) * self.kept
        self._steps += 1
        first, second = _DECAY
        self._mean = first * self._mean + (1 - first) * gradient
        self._square = second * self._square + (1 - second) * gradient**2
        mean, square = self._mean / (1 - first**self._steps), self._square / (1 - second**self._steps)
        self.logits = self.logits - _RATE * mean / (np.sqrt(square) + _EPSILON) * self.kept

    def prune(self, share: float, rng: np.random.Generator) -> list[tuple[int, int]]:
        """Drop a share of the edges that are left, those with the lowest logits; equal ones by lot.

        Returns:
            What was dropped, the lowest first.
        """
        left = np.flatnonzero(self.kept)
        lots = rng.random(len(left))
        lowest = left[np.lexsort((lots, self.logits[left]))][: int(len(left) * share)]
        self.kept[lowest] = False
        return [self.edges[index] for index in lowest]

    def _probabilities(self) -> NDArray[np.float64]:
        return np.asarray(1 / (1 + np.exp(-self.logits)))
