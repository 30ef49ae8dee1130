"""What `quorum fit topology` does: rounds of episodes under drawn graphs, each a sweep in its own folder."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rich.table import Table

from maeil.inside import make_inside
from maeil.metrics import METRICS
from maeil.seeds import Seeds
from maeil.user_errors import UserError
from quorum.agents.llm.spending import Spent
from quorum.experiments.common.budgets import require_budgets
from quorum.experiments.common.files import make_folder
from quorum.experiments.common.locks import one_at_work
from quorum.experiments.common.outputs import require_writable
from quorum.experiments.configuration.aside import split_words
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.glossary import metric_hint
from quorum.experiments.configuration.option_folders import ConfigDir
from quorum.experiments.configuration.registry import engines, trackers
from quorum.experiments.results.results_folder import read_results
from quorum.experiments.results.rows import Row
from quorum.experiments.sweep.command import run_sweep_command, show_plan
from quorum.experiments.sweep.estimate import Forecast
from quorum.experiments.sweep.fit.edge_logits import Drawn, EdgeLogits
from quorum.experiments.sweep.pilots import Pilots
from quorum.experiments.sweep.run import SweepRequest, Unfinished
from quorum.experiments.sweep.spending import SweepBudget

TOPOLOGY = "learned"
EVERY = 5
"""Rounds from one pruning to the next (AgentPrune)."""

Edges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class FitRequest:
    """The arguments of `quorum fit topology`.

    Attributes:
        words: `KEY=VALUE` of the configuration, and of the engine. `seed` names the first board.
        metric: what is to be better.
        rounds: of episodes; after every fifth, edges are pruned.
        boards: in each round, new ones each time.
        draws: graphs of a round; each is played on all of its boards.
        prune: share of the edges that are left that is dropped at a time.
        out: folder for the episodes of all fits.
        plugins: modules that register components.
        config_dir: folders with more options of the groups.
        budget: what all of its rounds may spend together.
        command: that goes on with it.
    """

    words: tuple[str, ...]
    metric: str
    rounds: int
    boards: int
    draws: int
    prune: float
    out: Path
    plugins: tuple[str, ...] = ()
    config_dir: ConfigDir = ()
    budget: SweepBudget = SweepBudget()  # noqa: RUF009 (frozen)
    command: str = ""

    def __post_init__(self) -> None:
        """Check the metric, and that a comparison is possible.

        Raises:
            UserError: there is no such metric, or nobody knows which of its values are better.
        """
        if self.metric not in METRICS:
            raise UserError(f"--objective {self.metric}: there is no such metric", metric_hint(self.metric))
        if METRICS[self.metric].better is None:
            raise UserError(f"--objective {self.metric}: neither higher nor lower values of it are better")
        require_budgets(**self.budget.arguments)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A learned topology.

    Attributes:
        agents: of the team.
        metric: what was to be better.
        folder: of the episodes.
        episodes: how many were played for it.
        simulated: whether simulated models answered in them.
        edges: that are left, with the logit of each.
        pruned: in the order in which they were dropped.
        values: mean of the metric in each round.
    """

    agents: int
    metric: str
    folder: Path
    episodes: int
    simulated: bool
    edges: Sequence[tuple[tuple[int, int], float]]
    pruned: Edges
    values: Sequence[float]

    def out_edges(self) -> list[tuple[int, int]]:
        """Return for each agent how many of its outgoing edges are left, and how many are pruned."""
        left, gone = [a for (a, _), _ in self.edges], [a for a, _ in self.pruned]
        return [(left.count(agent), gone.count(agent)) for agent in range(self.agents)]

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "agents": self.agents,
            "metric": self.metric,
            "folder": str(self.folder),
            "episodes": self.episodes,
            "simulated": self.simulated,
            "values": [None if math.isnan(value) else value for value in self.values],
            "edges": [list(edge) for edge, _ in self.edges],
            "logits": [logit for _, logit in self.edges],
            "pruned": [list(edge) for edge in self.pruned],
        }

    def table(self) -> Table:
        """Return the outgoing edges of each agent for the terminal."""
        table = Table("agent", "edges left", "edges pruned", "mean logit of those left", box=None)
        for agent, (left, gone) in enumerate(self.out_edges()):
            own = [logit for (a, _), logit in self.edges if a == agent]
            table.add_row(str(agent), str(left), str(gone), f"{np.mean(own):.3f}" if own else "-")
        return table

    def as_yaml(self) -> str:
        """Return what `topology.edges=FILE` reads, the strongest edges first."""
        plain = self.plain()
        head = {name: plain[name] for name in ("agents", "metric", "episodes", "simulated", "pruned")}
        ranked = sorted(self.edges, key=lambda entry: (-entry[1], entry[0]))
        edges = [f"- [{a}, {b}]  # logit {logit:.4f}\n" for (a, b), logit in ranked]
        text: str = yaml.safe_dump(head, sort_keys=False, default_flow_style=None, width=110)
        return f"# Written by `quorum fit topology`.\n{text}edges:{' []' if not edges else ''}\n{''.join(edges)}"


def fit_topology(request: FitRequest, show: Callable[[str], None], *, quiet: bool) -> Fitted:
    """Learn who should write to whom.

    What is drawn depends on the configuration, the metric and the results alone. So the same command draws the same
    graphs again, and finds those episodes done that were played before.

    Args:
        request: what is to be learned.
        show: called with a line for each round.
        quiet: whether to show nothing of the episodes.

    Raises:
        UserError: the configuration is not valid, another command is at work on the same fit, or its budget is used up.
        Unfinished: a round was not played to its end.
    """
    first, folder, seeds = _begun(request)
    require_writable(folder, f"--runs {request.out}", "Give another folder: --runs DIR.")
    make_folder(request.out)
    make_inside(request.out, folder.name)
    with one_at_work(folder, "fit", "Wait for it or stop it; it plays the same episodes."):
        return _fit(request, first, folder, seeds, None if quiet else show)


def estimate_fit(request: FitRequest) -> dict[str, Any]:
    """Estimate what the rounds of a fit take that were not played yet, as JSON-ready data. Nothing is written.

    The graphs of a later round are drawn as if its earlier ones had taught nothing.

    Raises:
        UserError: the configuration is not valid.
    """
    rounds: list[Forecast] = []
    _fit(request, *_begun(request), expected=rounds)
    answers, tokens = (math.fsum(getattr(one, what) for one in rounds) for what in ("answers", "tokens"))
    usd = None if any(one.usd is None for one in rounds) else math.fsum(one.usd or 0.0 for one in rounds)
    return {
        "rounds": len(rounds),
        "episodes": sum(len(one.cells) for one in rounds),
        "answers": round(answers),
        "tokens": round(tokens),
        "usd": None if usd is None else round(usd, 6),
        "seconds": round(math.fsum(one.seconds for one in rounds), 1),
        "simulated": any(one.stands_in or one.simulated for one in rounds),
    }


def _begun(request: FitRequest) -> tuple[Cell, Path, Seeds]:
    """Return the first cell of a fit, its folder, and the seeds of what is drawn."""
    _, words = split_words(request.words, engines, trackers)
    if wrong := next((word for word in words if word.startswith(("topology=", "topology.edges="))), None):
        raise UserError(f"{wrong}: the topology is what is learned", "Leave it out; topology.rounds=N can be set.")
    first = Cell.compose([f"topology={TOPOLOGY}", *words], request.config_dir)
    if "topology" in first.configuration.unused:
        raise UserError(
            f"agents={first.configuration.agents.name} does not talk", "Choose minds that do: agents=naive."
        )
    n = first.configuration.n
    if n < 2:
        raise UserError(f"n={n}: nobody is there to write to", "Learn the topology of a team: n=2 or more.")
    asked = f"{first.hash} {request.metric} {request.boards} {request.draws} {request.prune}"
    digest = hashlib.sha256(asked.encode()).hexdigest()
    folder = request.out / f"fit-{first.configuration.env.name}-n{n}-{digest[:8]}"
    return first, folder, Seeds(int(digest[:15], 16), "fit")


def _fit(
    request: FitRequest,
    first: Cell,
    folder: Path,
    seeds: Seeds,
    show: Callable[[str], None] | None = None,
    *,
    expected: list[Forecast] | None = None,
) -> Fitted:
    """Play the rounds of a fit in its folder; with `expected`, only add to it what each round takes that is missing."""
    engine, words = split_words(request.words, engines, trackers)
    n = first.configuration.n
    logits = EdgeLogits(n)
    pilots = Pilots()
    rest = [word for word in words if not word.startswith("seed=")]
    pruned: list[tuple[int, int]] = []
    values: list[float] = []
    simulated, episodes, spent = False, 0, Spent()
    for number in range(request.rounds):
        place = seeds.child(number)
        drawn = logits.draw(request.draws, place.child("draw").generator())
        boards = range(first.seed + number * request.boards, first.seed + (number + 1) * request.boards)
        graphs = [_text(logits, graph) for graph in drawn]
        grid = f"topology.edges={','.join(dict.fromkeys(graphs))}"
        seed = f"seed=range({boards.start},{boards.stop})"
        sweep = SweepRequest(
            words=(f"topology={TOPOLOGY}", *rest, grid, seed, *engine),
            out=folder,
            name=f"round_{number:02d}",
            **(request.budget if request.budget.reached(spent) else request.budget.less(spent)).arguments,
            said_again=request.command,
            plugins=request.plugins,
            config_dir=request.config_dir,
        )
        if expected is not None and (forecast := show_plan(sweep, pilots)).cells:
            expected.append(forecast)
            continue
        if (bound := request.budget.reached(spent)) and show_plan(sweep, Pilots(0.0)).cells:
            raise UserError(f"{bound}: it is used up before round {number + 1}", "A larger one resumes the fit.")
        make_inside(folder, f"round_{number:02d}")  # which refuses a link, where the user has named none
        report = run_sweep_command(sweep, quiet=True)
        if report.exit_code or report.left:
            raise Unfinished(report)
        spent += report.used
        rows = read_results(folder / f"round_{number:02d}").rows
        simulated |= any(row.simulated for row in rows)
        episodes += len(rows)
        found = _values(rows, request.metric, boards, graphs)
        values.append(float(np.nanmean(found)) if not np.isnan(found).all() else float("nan"))
        whole = found[~np.isnan(found).any(axis=1)]
        if len(whole):
            logits.learn(drawn, whole if METRICS[request.metric].better == "higher" else -whole)
        if (number + 1) % EVERY == 0:
            pruned += logits.prune(request.prune, place.child("prune").generator())
        if show is not None:
            show(
                f"round {number + 1} of {request.rounds}: {request.metric} {values[-1]:.4g}, {logits.kept.sum()} edges"
            )
    left = [(logits.edges[i], float(logits.logits[i])) for i in np.flatnonzero(logits.kept)]
    return Fitted(n, request.metric, folder, episodes, simulated, left, pruned, values)


def _text(logits: EdgeLogits, graph: Drawn) -> str:
    """Write a graph as a value of `topology.edges`."""
    return json.dumps([list(logits.edges[i]) for i in np.flatnonzero(graph)], separators=(",", ":"))


def _values(
    rows: Sequence[Row], metric: str, boards: range, graphs: Sequence[str]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the metric by board and graph; NaN where a run does not define it, or does not count."""
    found = {
        (row.seed, str(row.factors.get("topology.edges", "[]")).replace(" ", "")): row.metrics.get(metric)
        for row in rows
        if row.pooled
    }
    values = [[found.get((board, graph)) for graph in graphs] for board in boards]
    return np.array([[np.nan if value is None else value for value in line] for line in values], dtype=np.float64)
