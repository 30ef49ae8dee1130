"""Forecasts what a sweep takes before it runs. Writes nothing and calls only the simulated model.

For each kind of cell (cells that differ only in the seed; for branches, also per run) the forecast uses the best
available source, and shows how many cells rest on each:

- `finished`: the mean of finished cells of the kind, in the sweep's own folder;
- `scaled`: finished cells with the same minds and real model, scaled by the ratio of pilots of both kinds;
- `recorded`: for a branch with the team of its run, what the run took after the branch point;
- `played`: pilots of the kind, played with the simulated model (`quorum/sweeps/pilots.py`);
- `partial`: a pilot that ran out of time, scaled by its steps;
- `extrapolated`: pilots of other kinds, scaled by team size;
- `unknown`: no source; the sums exclude such cells.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, fsum
from pathlib import Path
from typing import Any

import orjson
from rich.console import RenderableType
from rich.table import Table

from quorum.agents.llm.prices import BATCH, SET_PRICES
from quorum.agents.llm.spending import dollars
from quorum.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.configuration.schema import Configuration
from quorum.configuration.team_label import team_label
from quorum.display.consoles import Text
from quorum.episode.expected import SECONDS_PER_CALL, Expected, Rest, price, price_rest
from quorum.episode.planned_cell import PlannedCell
from quorum.episode.substitute import WITHOUT_MIND, asks_real_models
from quorum.storage.outputs import clock_time
from quorum.sweeps.engines.protocol import Engine
from quorum.sweeps.grid import varied
from quorum.sweeps.pilots import EXTRAPOLATED, PARTIAL, PLAYED, Guess, Pilots
from quorum.sweeps.plan import SweepPlan
from quorum.sweeps.run import SweepStatus
from quorum.sweeps.sweep_folder import SweepFolder

_TIERS = {"": "in the standard tier", BATCH: "in batches: engine=batch"}


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a sweep is expected to take.

    Attributes:
        folder: folder of the sweep.
        planned: its cells.
        done: its finished cells.
        damaged: reasons why existing cells are damaged, by name; they would run again.
        cells: cells that would run now.
        arms: its arms, by name; empty if it has no named arms.
        varied: team sizes and components that vary between its cells, by group; with arms, only team sizes and worlds.
        repeated: grid points that name the same cell as another point.
        notices: remarks on the plan.
        words: the `KEY=VALUES` arguments of the command.
        answers: expected model answers.
        tokens: expected tokens.
        usd: expected cost; None if a model's price or a cell's usage is unknown.
        seconds: expected wall time with the engine.
        sources: number of cells by source of their estimate.
        stands_in: whether figures of the simulated model stand in for those of a real one.
        simulated: whether the sweep itself uses simulated models, so that its cost is fictitious.
        by_tier: cost in each service tier, if known for all cells; the default tier has the empty name.
        waves: minimum number of consecutive batches; None if requests do not go out in batches.
        sizes: team sizes from which others are extrapolated.
    """

    folder: Path
    planned: int
    done: int
    damaged: Mapping[str, str]
    cells: tuple[PlannedCell, ...]
    arms: tuple[str, ...]
    varied: Mapping[str, tuple[str, ...]]
    repeated: int
    notices: tuple[str, ...]
    words: tuple[str, ...]
    answers: float
    tokens: float
    usd: float | None
    seconds: float
    sources: Mapping[str, int]
    stands_in: bool
    simulated: bool
    by_tier: Mapping[str, float] = field(default_factory=dict)
    waves: int | None = None
    sizes: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "folder": str(self.folder),
            "cells": self.planned,
            "done": self.done,
            "damaged": dict(self.damaged),
            "to_run": [{"name": cell.name, "hash": cell.hash, "arm": cell.arm} for cell in self.cells],
            "arms": list(self.arms),
            "varied": {key: list(values) for key, values in self.varied.items()},
            "repeated": self.repeated,
            "notices": list(self.notices),
            "arguments": list(self.words),
            "answers": round(self.answers),
            "tokens": round(self.tokens),
            "usd": None if self.usd is None else round(self.usd, 6),
            "seconds": round(self.seconds, 1),
            "estimated_from": dict(self.sources),
            "simulated": self.stands_in or self.simulated,
            "usd_by_tier": {tier or "usual": round(usd, 6) for tier, usd in self.by_tier.items()},
            "waves": self.waves,
        }

    def table(self) -> RenderableType:
        """Return it for the terminal: first the totals, then their sources. It names no cells.

        A sweep may have tens of thousands of cells.
        """
        table = Table.grid(padding=(0, 2))
        for label, value in (*self._summary(), *self._details()):
            table.add_row(label, Text(value, overflow="fold"))
        return table

    def _summary(self) -> Iterator[tuple[str, str]]:
        repeated = f" ({self.repeated} more points repeat them)" if self.repeated else ""
        yield "episodes", f"{self.planned}{repeated}: {self.done} done, {len(self.cells)} to run now"
        if self.arms:
            yield "arms", f"{len(self.arms)}: {', '.join(self.arms)}"
        if self.varied:
            yield "varied", " ".join(f"{key}={','.join(values)}" for key, values in self.varied.items())
        yield "model answers", f"{self.answers:,.0f}"
        yield "tokens", f"{self.tokens:,.0f}"
        priceless = f"the model's price is unknown; set {SET_PRICES}"
        why = "the cost of some cells is unknown" if self.sources.get("unknown") else priceless
        money = f"unknown: {why}" if self.usd is None else dollars(self.usd)
        yield "money", f"{money} (simulated)" if self.simulated else money
        if self.waves is None:
            yield "time", f"about {clock_time(self.seconds)}"
        else:
            yield "time", f"at least {self.waves} waves of batches, each within 24 hours"

    def _details(self) -> Iterator[tuple[str, str]]:
        yield "", ""
        yield "folder", str(self.folder)
        yield "arguments", shlex.join(self.words)
        for name, reason in self.damaged.items():
            yield "damaged", f"{name}: {reason}"
        for notice in self.notices:
            yield "notice", notice
        for place, (tier, usd) in enumerate(self.by_tier.items()):
            tiered = f"{dollars(usd)} {_TIERS.get(tier) or f'with llm.service_tier={tier}'}"
            yield "" if place else "money by tier", tiered
        at = f", at {SECONDS_PER_CALL:g} s an answer" if self.stands_in else ""
        words = {
            "finished": "from finished cells of the same kind",
            "scaled": "from finished cells of other kinds, in proportion to pilots or team sizes",
            "recorded": f"from the rest of their own runs{at}",
            PLAYED: f"from boards of their kind, played with the simulated model{at}",
            PARTIAL: f"from the first steps of a board of their kind, played with the simulated model{at}",
            EXTRAPOLATED: f"extrapolated from n={','.join(map(str, self.sizes))}, played with the simulated model{at}",
            "unknown": "unknown, left out",
        }
        for source, number in self.sources.items():
            yield "estimated", f"{number} episodes {words[source]}"
        if self.stands_in:
            yield "not known", "how the real model plays, and how many tokens it uses for thinking"


def forecast(
    plan: SweepPlan,
    status: SweepStatus,
    folder: SweepFolder,
    engine: Engine,
    limit: int | None,
    *,
    pilots: Pilots | None = None,
) -> Forecast:
    """Estimate what a sweep takes.

    Args:
        plan: the plan to run.
        status: the current state of the sweep.
        folder: folder of the sweep.
        engine: engine that would run it.
        limit: maximum number of cells to run; None: all missing cells.
        pilots: pilots to play in their remaining time; None: new pilots for this sweep only.
    """
    cells = status.missing[:limit]
    estimates = Estimates(cells, status, pilots if pilots is not None else Pilots())
    found = {_alike(cell): estimates.of(cell) for cell in {_alike(cell): cell for cell in cells}.values()}
    estimated = [(cell, *found[_alike(cell)]) for cell in cells]
    known = [(cell, expected) for cell, expected, _ in estimated if expected is not None]
    priceless = any(expected.priceless for _, expected in known)
    priceless |= any(cell.uses_models and expected is None for cell, expected, _ in estimated)
    models = [e for cell, e in known if cell.uses_models and _raw(cell)["llm"]["name"] not in WITHOUT_MIND]
    common = set.intersection(*(set(expected.by_tier) for expected in models)) if models and not priceless else set()
    by_tier = {tier: fsum(expected.by_tier[tier] for expected in models) for tier in sorted(common)}
    usd = None if priceless else fsum(expected.usd for _, expected in known)
    return Forecast(
        folder=folder.path,
        planned=len(plan.cells),
        done=len(status.done),
        damaged=status.damaged,
        cells=cells,
        arms=tuple(dict.fromkeys(cell.arm for cell in plan.cells if cell.arm)),
        varied=_varied(plan.cells),
        repeated=plan.repeated,
        notices=plan.notices,
        words=plan.words,
        answers=fsum(expected.answers for _, expected in known),
        tokens=fsum(expected.tokens for _, expected in known),
        usd=by_tier.get(BATCH, usd) if engine.courier else usd,
        seconds=_seconds(known, estimates, engine),
        sources=Counter(source for *_, source in estimated),
        stands_in=estimates.stands_in,
        simulated=any(cell.uses_models and _raw(cell)["llm"]["name"] == "simulated" for cell in cells),
        by_tier=by_tier,
        # At best, agents think in parallel, and each of an agent's calls waits for the previous one.
        waves=max((ceil(e.answers / _size(cell)) for cell, e in known), default=0) if engine.courier else None,
        sizes=tuple(sorted(estimates.sizes)),
    )


def _seconds(known: Sequence[tuple[PlannedCell, Expected]], estimates: Estimates, engine: Engine) -> float:
    """Return the wall time of cells, bounded by the longest cell, their number, and the limits of each model."""
    computing: list[float] = []
    waiting: list[float] = []
    by_model: dict[str, tuple[ModelConfig, list[Expected]]] = {}
    for cell, expected in known:
        if not estimates.real(cell):
            computing.append(expected.seconds)
            continue
        waiting.append(expected.seconds)
        model = estimates.configuration(cell).llm
        by_model.setdefault(f"{model.name} {model.address} {model.label}", (model, []))[1].append(expected)
    seconds = 0.0
    if computing:
        seconds += max(*computing, fsum(computing) / engine.width(uses_models=False))
    if waiting:
        bounds = [_least_seconds(model, cells) for model, cells in by_model.values()]
        seconds += max(*waiting, fsum(waiting) / engine.width(uses_models=True), *bounds)
    return seconds


def _least_seconds(model: ModelConfig, cells: Sequence[Expected]) -> float:
    """Return the least time for a model's answers under its limits on concurrency, requests and tokens a minute."""
    answers, tokens = fsum(e.answers for e in cells), fsum(e.tokens for e in cells)
    if not isinstance(model, ProviderConfig):
        return 0.0
    least = answers * SECONDS_PER_CALL / model.max_concurrency
    for amount, rate in ((answers, model.requests_per_minute), (tokens, model.tokens_per_minute)):
        least = max(least, 60 * amount / rate if rate is not None else 0.0)
    return least


def _alike(cell: PlannedCell) -> tuple[str, Rest | None]:
    return cell.kind, cell.rest


class Estimates:
    """Estimates of what the cells of a sweep take.

    Args:
        cells: cells to estimate.
        status: the current state of the sweep.
        pilots: pilots to play.
    """

    def __init__(self, cells: Sequence[PlannedCell], status: SweepStatus, pilots: Pilots) -> None:
        self._pilots = pilots
        self._models: dict[bytes, Configuration] = {}
        self._finished: dict[str, tuple[PlannedCell, Expected]] = {}
        self.stands_in = False
        """Whether figures of the simulated model stand in for those of a real one."""
        self.sizes: set[int] = set()
        """Sizes of the teams from which others are extrapolated."""
        for cell in {cell.kind: cell for cell in status.cells}.values():
            if (found := status.costs.expected(cell.kind)) is not None:
                self._finished[cell.kind] = cell, found
        unknown = [c for c in cells if c.kind not in self._finished and not _shows_cost(c)]
        pilots.play([*unknown, *(cell for cell, _ in self._finished.values() if unknown and self.real(cell))])

    def of(self, cell: PlannedCell) -> tuple[Expected | None, str]:
        """Estimate a cell; return the source of the estimate, too. None if it is unknown."""
        if cell.kind in self._finished:
            return self._finished[cell.kind][1], "finished"
        rest, real = cell.rest, self.real(cell)
        if rest is not None and rest.shows_cost and cell.uses_models:
            self.stands_in |= real and rest.simulated
            return price_rest(self.configuration(cell), rest), "recorded"
        guess = self._pilots.expected(cell)
        if (real or guess is None) and (scaled := self._scaled(cell, guess)) is not None:
            return scaled, "scaled"
        if guess is None:
            return None, "unknown"
        self.stands_in |= real
        self.sizes.update(guess.sizes)
        taken = guess.taken if rest is None else guess.taken.times(rest.thoughts / max(guess.taken.thoughts, 1.0))
        return price(self.configuration(cell), taken), guess.source

    def configuration(self, cell: PlannedCell) -> Configuration:
        """Return a configuration with the models of a cell; cells with equal models share it."""
        key = orjson.dumps([_raw(cell)["llm"], cell.uses_models])
        if key not in self._models:
            self._models[key] = cell.cell().configuration
        return self._models[key]

    def real(self, cell: PlannedCell) -> bool:
        """Whether a cell calls real models."""
        return cell.uses_models and asks_real_models(self.configuration(cell))

    def _scaled(self, cell: PlannedCell, guess: Guess | None) -> Expected | None:
        """Scale the mean of finished cells of the same team at the nearest size."""
        size = _size(cell)
        for length in (3, 1):
            team = _team(cell)[:length]
            alike = [(known, found) for known, found in self._finished.values() if _team(known)[:length] == team]
            if alike:
                known, found = min(alike, key=lambda one: abs(_size(one[0]) - size))
                pilot = self._pilots.expected(known)
                if guess is None or pilot is None or not pilot.taken.tokens:
                    return found.times(size / _size(known))
                return found.times(guess.taken.tokens / pilot.taken.tokens)
        return None


def _varied(cells: Sequence[PlannedCell]) -> dict[str, tuple[str, ...]]:
    raws = [_raw(cell) for cell in {cell.kind: cell for cell in cells}.values()]
    sizes = sorted({raw["n"] for raw in raws})
    found = {"n": tuple(map(str, sizes))} if len(sizes) > 1 else {}
    arms = any(cell.arm for cell in cells)
    return found | {group: several for group, several in varied(raws).items() if group == "env" or not arms}


def _shows_cost(cell: PlannedCell) -> bool:
    return cell.rest is not None and cell.rest.shows_cost and cell.uses_models


def _team(cell: PlannedCell) -> tuple[object, ...]:
    """Return the features that make teams comparable, the most significant first."""
    raw = _raw(cell)
    minds = (team_label(raw["agents"]), raw["llm"] if cell.uses_models else None)
    alike = (minds, raw["env"]["name"], raw["topology"])
    # What remains of an episode after one step does not predict what remains after another.
    return (cell.origin.label, *alike) if cell.origin is not None else alike


def _size(cell: PlannedCell) -> int:
    size: int = _raw(cell)["n"]
    return size


def _raw(cell: PlannedCell) -> dict[str, Any]:
    raw: dict[str, Any] = orjson.loads(cell.configuration)
    return raw
