"""Learns who should write to whom by AgentPrune (arXiv 2410.02506, section 4), from episodes.

    python examples/agent_prune.py n=4 agents=naive max_steps=100
    python examples/agent_prune.py n=8 agents=naive --objective model.completion_tokens --out eight.yaml
    quorum run n=4 agents=naive topology=learned topology.edges=edges.yaml

Each round draws graphs, plays each of them on the same boards, and makes the edges of the better graphs more likely.
Every fifth round prunes the least likely edges. A round is a sweep in its own folder, so the same command resumes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import quorum
from maeil.metrics import METRICS
from maeil.seeds import Seeds
from quorum.configuration.cell import Cell
from quorum.runs.rows import Row
from quorum_base.user_errors import UserError

Drawn: TypeAlias = NDArray[np.bool_]
"""Graphs as edge masks, shape (draws, edges)."""

EVERY = 5
"""Rounds between two prunings (AgentPrune)."""
_RATE = 0.1
_DECAY = (0.9, 0.999)
_EPSILON = 1e-8


class EdgeLogits:
    """The directed edges among some agents, each with the logit of the probability that a graph has it.

    All start at probability 0.5, as published. No graph has an edge that was pruned.

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
        """Draw graphs, each edge independently."""
        return self.kept & (rng.random((draws, len(self.edges))) < self._probabilities())

    def learn(self, drawn: Drawn, utilities: NDArray[np.float64]) -> None:
        """Make the edges of the better graphs more likely: one step of Adam.

        The loss is `-mean(log P(graph) * advantage)`. The advantage of a graph on a board is its utility less the mean
        of all graphs on that board, so a hard board counts against no graph.

        Args:
            drawn: the graphs.
            utilities: how well the team did with each graph on each board; shape (boards, draws). Higher is better.
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
        """Drop a share of the remaining edges, those with the lowest logits; ties are broken at random.

        Returns:
            The dropped edges, the lowest first.
        """
        left = np.flatnonzero(self.kept)
        lots = rng.random(len(left))
        lowest = left[np.lexsort((lots, self.logits[left]))][: int(len(left) * share)]
        self.kept[lowest] = False
        return [self.edges[index] for index in lowest]

    def text(self, graph: Drawn) -> str:
        """Write a graph as a value of `topology.edges`."""
        return json.dumps([list(self.edges[i]) for i in np.flatnonzero(graph)], separators=(",", ":"))

    def _probabilities(self) -> NDArray[np.float64]:
        return np.asarray(1 / (1 + np.exp(-self.logits)))


@dataclass(frozen=True, slots=True)
class Fitted:
    """A learned topology.

    Attributes:
        agents: size of the team.
        edges: the remaining edges, each with its logit.
        pruned: the dropped edges, in order.
        values: mean of the objective in each round.
    """

    agents: int
    edges: Sequence[tuple[tuple[int, int], float]]
    pruned: Sequence[tuple[int, int]]
    values: Sequence[float]

    def out_edges(self) -> list[tuple[int, int]]:
        """Return for each agent how many of its outgoing edges remain, and how many were pruned."""
        left, gone = [a for (a, _), _ in self.edges], [a for a, _ in self.pruned]
        return [(left.count(agent), gone.count(agent)) for agent in range(self.agents)]

    def as_yaml(self) -> str:
        """Return a file that `topology.edges=FILE` reads, the strongest edges first."""
        ranked = sorted(self.edges, key=lambda entry: (-entry[1], entry[0]))
        lines = [f"- [{a}, {b}]  # logit {logit:.4f}\n" for (a, b), logit in ranked]
        return f"edges:{'' if lines else ' []'}\n{''.join(lines)}"


def fit(
    words: Sequence[str],
    out: Path,
    *,
    objective: str = "outcome.return",
    rounds: int = 10,
    boards: int = 4,
    graphs: int = 4,
    share: float = 0.25,
    budget_usd: float = math.inf,
) -> Fitted:
    """Learn the edges of a team.

    The graphs depend on the configuration, the objective and the results alone, so the same call finds its episodes.

    Args:
        words: `KEY=VALUE` of the configuration and the engine; `seed` is the first board.
        out: folder for the episodes.
        objective: the metric to improve.
        rounds: number of rounds.
        boards: new boards in each round.
        graphs: graphs in each round.
        share: of the remaining edges that a pruning drops.
        budget_usd: spend at most this much on all rounds; paid models require it.

    Raises:
        UserError: the configuration is not valid, or the budget is used up.
    """
    first = Cell.compose(["topology=learned", *(word for word in words if not word.startswith("engine"))])
    words = [word for word in words if not word.startswith("seed=")]
    asked = f"{first.hash} {objective} {boards} {graphs} {share}"
    digest = hashlib.sha256(asked.encode()).hexdigest()
    folder = out / f"fit-{first.configuration.env.name}-n{first.configuration.n}-{digest[:8]}"
    seeds = Seeds(int(digest[:15], 16), "fit")
    logits = EdgeLogits(first.configuration.n)
    pruned: list[tuple[int, int]] = []
    values: list[float] = []
    for number in range(rounds):
        drawn = logits.draw(graphs, seeds.child(number).child("draw").generator())
        texts = [logits.text(graph) for graph in drawn]
        seen = range(first.seed + number * boards, first.seed + (number + 1) * boards)
        grid = (f"topology.edges={','.join(dict.fromkeys(texts))}", f"seed=range({seen.start},{seen.stop})")
        limit = None if math.isinf(budget_usd) else budget_usd
        name = f"round_{number:02d}"
        done = quorum.sweep("topology=learned", *words, *grid, out=folder, name=name, budget_usd=limit)
        if done.left:
            raise UserError(f"round {number + 1}: {done.left} episodes are left: {done.reason}", "Repeat the command.")
        budget_usd -= done.spent.usd
        found = _utilities(quorum.results(done.folder).rows, objective, seen, texts)
        whole = found[~np.isnan(found).any(axis=1)]
        if len(whole):
            logits.learn(drawn, whole if METRICS[objective].better == "higher" else -whole)
        values.append(float(whole.mean()) if len(whole) else math.nan)
        if (number + 1) % EVERY == 0:
            pruned += logits.prune(share, seeds.child(number).child("prune").generator())
    left = [(logits.edges[i], float(logits.logits[i])) for i in np.flatnonzero(logits.kept)]
    return Fitted(first.configuration.n, left, pruned, values)


def _utilities(rows: Sequence[Row], objective: str, boards: range, graphs: Sequence[str]) -> NDArray[np.float64]:
    """Return the objective by board and graph; NaN where a run does not define it or does not count."""
    found = {
        (row.seed, str(row.factors.get("topology.edges", "[]")).replace(" ", "")): row.metrics.get(objective)
        for row in rows
        if row.pooled
    }
    values = [[found.get((board, graph)) for graph in graphs] for board in boards]
    return np.array([[np.nan if value is None else value for value in line] for line in values], dtype=np.float64)


def main() -> None:
    """Learn edges and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE")
    parser.add_argument("--objective", default="outcome.return", help="improve this metric")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--boards", type=int, default=4, help="new boards in each round")
    parser.add_argument("--graphs", type=int, default=4, help="graphs in each round")
    parser.add_argument("--prune", type=float, default=0.25, help="share of the edges that a pruning drops")
    parser.add_argument("--budget-usd", type=float, default=math.inf, help="for all rounds; paid models require it")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder for the episodes")
    parser.add_argument("--out", type=Path, default=Path("edges.yaml"), help="file for the edges")
    given = parser.parse_args()
    options = {"objective": given.objective, "rounds": given.rounds, "boards": given.boards, "graphs": given.graphs}
    try:
        fitted = fit(given.words, given.runs, share=given.prune, budget_usd=given.budget_usd, **options)
    except UserError as error:
        raise SystemExit(str(error)) from error
    given.out.write_text(fitted.as_yaml(), encoding="utf-8")
    print(f"{given.objective} by round: {', '.join(f'{value:.4g}' for value in fitted.values)}")
    for agent, (left, gone) in enumerate(fitted.out_edges()):
        print(f"agent_{agent}: {left} edges left, {gone} pruned")


if __name__ == "__main__":
    main()
