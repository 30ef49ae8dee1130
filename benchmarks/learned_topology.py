"""Whether AgentPrune drops the edges of useless agents, and what this gains at equal tokens.

    python -m benchmarks.learned_topology              # the figures of docs/topologies.md: some six minutes
    python -m benchmarks.learned_topology --default    # the default objective: four teams of four, a useless agent each
    python -m benchmarks.learned_topology --quick      # few rounds on one board: a trial

Two of eight agents are useless: they say which block they will work on, like the others, and all their plans are
invalid (`llm.agents.NAME.invalid=1`). They therefore talk again in every step, and interrupt all who hear them. A fit
learns to write fewer tokens. The script makes two fits, with other agents useless in each. The test is exact: of all
ways to name two of eight agents in each fit, the share that has at least as many outgoing edges pruned. Then the first
graph plays new boards together with others, with the same budget of tokens.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from examples.agent_prune import Fitted, fit
from quorum.runs.results_folder import read_results
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepRequest

Edges = Sequence[tuple[int, int]]
N = 8
USELESS = ((0, 1), (4, 5))
"""The useless agents of each fit."""
TEAM = (
    "env=cube", "env.side=12", "env.blocks={3:2}", "agents=naive", "max_steps=60", "max_repairs=0", "agents.repairs=0",
)  # fmt: skip
METRIC = "model.completion_tokens"
NEW_BOARDS = 1000
"""The first board that no fit has seen."""


def useless(agents: Sequence[int]) -> tuple[str, ...]:
    """Return the arguments that make agents useless."""
    return tuple(f"llm.agents.agent_{agent}.invalid=1.0" for agent in agents)


def fit_tokens(agents: Sequence[int], out: Path, *, quick: bool) -> Fitted:
    """Learn the edges of a team with some useless agents."""
    rounds, boards, draws = (5, 1, 2) if quick else (10, 2, 20)
    words = (*TEAM, f"n={N}", *useless(agents))
    return fit(words, out, objective=METRIC, rounds=rounds, boards=boards, graphs=draws)


def fit_by_default(out: Path, console: Console, *, quick: bool) -> None:
    """Learn the edges of four teams of four with one useless agent each by the default objective."""
    named = [(agent,) for agent in range(4)]
    draws = 2 if quick else 20
    fits = [fit((*TEAM, "n=4", *useless(agents)), out, rounds=5, boards=1, graphs=draws) for agents in named]
    gone = sum(fitted.out_edges()[agent][1] for fitted, (agent,) in zip(fits, named, strict=True))
    expected = sum(pruned for fitted in fits for _, pruned in fitted.out_edges()) / 4
    console.print(f"pruned {gone} of the 12 edges of useless agents, {expected:g} expected by chance")
    console.print(f"permutation test: p = {permutation(fits, named):.4f}")


def permutation(fits: Sequence[Fitted], named: Sequence[Sequence[int]]) -> float:
    """Return the share of all ways to name the useless agents of each fit that has as many of their edges pruned."""
    gone = [[pruned for _, pruned in fitted.out_edges()] for fitted in fits]
    ways = [
        [sum(one[a] for a in pair) for pair in itertools.combinations(range(len(one)), len(named[0]))] for one in gone
    ]
    seen = sum(one[a] for one, pair in zip(gone, named, strict=True) for a in pair)
    sums = [sum(way) for way in itertools.product(*ways)]
    return sum(total >= seen for total in sums) / len(sums)


def graphs(learned: Edges) -> dict[str, Edges]:
    """Return the graphs to compare."""
    full = [(a, b) for a in range(N) for b in range(N) if a != b]
    ring = [(a, (a + step) % N) for a in range(N) for step in (1, -1)]
    drawn = sorted(random.Random(0).sample(full, len(learned)))
    return {"learned": sorted(learned), "full": full, "ring": ring, "random": drawn, "none": []}


def play(arms: dict[str, Edges], tokens: int, boards: int, out: Path) -> dict[str, dict[str, list[float]]]:
    """Play new boards under each graph, and under edges matched again in each round; return their metrics."""
    texts = {arm: "[" + ",".join(f"[{a},{b}]" for a, b in edges) + "]" for arm, edges in arms.items()}
    common = (
        *TEAM,
        f"n={N}",
        *useless(USELESS[0]),
        f"budget.tokens={tokens}",
        f"seed=range({NEW_BOARDS},{NEW_BOARDS + boards})",
    )
    graphs, matched = f"tokens_{tokens}", f"tokens_{tokens}_dytopo"
    words = (*common, "topology=learned", f"topology.edges={','.join(texts.values())}")
    run_sweep_command(SweepRequest(words, out, graphs), quiet=True)
    run_sweep_command(SweepRequest((*common, "topology=dytopo"), out, matched), quiet=True)
    arm_of = {text: arm for arm, text in texts.items()}
    found: dict[str, dict[str, list[float]]] = {arm: {} for arm in (*arms, "dytopo")}
    for row in (*read_results(out / graphs).rows, *read_results(out / matched).rows):
        edges = str(row.factors.get("topology.edges")).replace(" ", "")
        for name in ("outcome.success", "outcome.completion", "outcome.steps_or_limit", "communication.messages"):
            value = row.metrics[name]
            assert value is not None
            found[arm_of.get(edges, "dytopo")].setdefault(name, []).append(value)
    return found


def main() -> None:
    """Print the test and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--default", action="store_true", help="fit by the default objective, and play no new boards")
    parser.add_argument("--quick", action="store_true", help="a trial run")
    parser.add_argument("--out", type=Path, help="folder of the episodes, kept to resume; default: a temporary one")
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as passing:
        out = arguments.out or Path(passing)
        if arguments.default:
            fit_by_default(out, console, quick=arguments.quick)
            return
        fits = [fit_tokens(agents, out, quick=arguments.quick) for agents in USELESS]
        for agents, fitted in zip(USELESS, fits, strict=True):
            console.print(
                f"useless {agents}; outgoing edges pruned of agents 0 to 7:", [p for _, p in fitted.out_edges()]
            )
        console.print(f"permutation test: p = {permutation(fits, USELESS):.4f}")
        boards, budgets = (1, (100_000,)) if arguments.quick else (12, (100_000, 200_000))
        for tokens in budgets:
            arms = graphs([edge for edge, _ in fits[0].edges])
            table = Table("graph", "edges", "success", "completion", "steps", "messages", title=f"{tokens:,} tokens")
            for arm, metrics in play(arms, tokens, boards, out).items():
                means = [f"{statistics.mean(values):.2f}" for values in metrics.values()]
                table.add_row(arm, str(len(arms[arm])) if arm in arms else "matched", *means)
            console.print(table)


if __name__ == "__main__":
    main()
