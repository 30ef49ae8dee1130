"""What a sweep is expected to take, before it is run.

For each kind of cell (all that differ in nothing but the seed) the best of these is taken, and it is said how many
cells rest on each:

- `finished`: the mean of finished cells of the kind, in the sweep's own folder;
- `scaled`: the mean of finished cells of the same minds and model, of the nearest team size, in proportion to that;
- `tried`: one episode of the kind, played now; a simulated model stands in for a real one and the real one's price is
  put on its tokens, and each of its answers is taken to last `SECONDS_PER_CALL`. At most `MOST_TRIALS` kinds are tried,
  the smallest teams of each; the others are scaled from those. Of branches one is tried at each instant, and what is
  recorded of their runs costs nothing;
- `unknown`: none of them was possible; such cells are left out of the sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, fsum
from pathlib import Path
from typing import Any

import orjson
from rich.console import RenderableType
from rich.table import Table

from quorum.agents.llm.prices import BATCH
from quorum.agents.llm.spending import dollars
from quorum.experiments.branch.planned_cell import Parents, PlannedBranchCell
from quorum.experiments.common.consoles import Text
from quorum.experiments.common.durations import clock_time
from quorum.experiments.configuration.cell import PlannedCell
from quorum.experiments.configuration.team_label import team_label
from quorum.experiments.episode.trial import SECONDS_PER_CALL, SIMULATED, Expected, stands_in, tried
from quorum.experiments.sweep.batches import batching_of
from quorum.experiments.sweep.engines.protocol import Engine
from quorum.experiments.sweep.plan import SweepPlan
from quorum.experiments.sweep.run import SweepStatus
from quorum.experiments.sweep.sweep_folder import SweepFolder
from quorum.experiments.sweep.variation import varied

_TIERS = {"": "in the usual tier", BATCH: "in batches: engine.batch=true"}
MOST_TRIALS = 8
"""Kinds of cells that are tried, at most."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a sweep is expected to take.

    Attributes:
        folder: of the sweep.
        planned: its cells.
        done: those of them that are done.
        damaged: those that are there and not whole, and why, by name: they would be run again.
        cells: those that would be run now.
        arms: of its cells, by name; none where it has no named arms.
        varied: team sizes and components of its cells, by group, where there are several; of arms only what they share.
        repeated: points of the grid that name a cell which another one names, too.
        notices: what else is to be told of the plan.
        answers: expected of language models.
        tokens: expected tokens.
        usd: expected money; None when a model's price is not known, or what its cells take.
        seconds: expected wall time with the engine.
        sources: number of cells by what their estimate rests on.
        tried_with: what stood in for real models in trials; empty where nothing did.
        simulated: whether simulated models answer in the sweep itself, so that the money is made up.
        by_tier: the money in each tier of service, where that is known of all cells; the usual one has the empty name.
        waves: batches that come one after the other, at least; None where requests do not go out in batches.
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
    answers: float
    tokens: float
    usd: float | None
    seconds: float
    sources: Mapping[str, int]
    tried_with: str
    simulated: bool
    by_tier: Mapping[str, float] = field(default_factory=dict)
    waves: int | None = None

    def plain(self) -> dict[str, Any]:
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
            "answers": round(self.answers),
            "tokens": round(self.tokens),
            "usd": None if self.usd is None else round(self.usd, 6),
            "seconds": round(self.seconds, 1),
            "estimated_from": dict(self.sources),
            "simulated": bool(self.tried_with) or self.simulated,
            "usd_by_tier": {tier or "usual": round(usd, 6) for tier, usd in self.by_tier.items()},
            "waves": self.waves,
        }

    def table(self) -> RenderableType:
        """Return it for the terminal: first what it comes to, then what that rests on. No cell is named.

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
        why = "what some cells take is not known" if self.sources.get("unknown") else "the model's price is not known"
        money = f"unknown: {why}" if self.usd is None else dollars(self.usd)
        yield "money", f"{money} (simulated)" if self.simulated else money
        if self.waves is None:
            yield "time", f"about {clock_time(self.seconds)}"
        else:
            yield "time", f"at least {self.waves} waves of batches, each within 24 hours"

    def _details(self) -> Iterator[tuple[str, str]]:
        yield "", ""
        yield "folder", str(self.folder)
        for name, reason in self.damaged.items():
            yield "damaged", f"{name}: {reason}"
        for notice in self.notices:
            yield "notice", notice
        for place, (tier, usd) in enumerate(self.by_tier.items()):
            tiered = f"{dollars(usd)} {_TIERS.get(tier) or f'with llm.service_tier={tier}'}"
            yield "" if place else "money by tier", tiered
        words = {
            "finished": "from finished cells of the same kind",
            "scaled": "in proportion to cells of another team size or arm",
            "tried": f"from one episode of the kind, played now{self.tried_with}",
            "unknown": "unknown, left out",
        }
        for source, number in self.sources.items():
            yield "estimated", f"{number} episodes {words[source]}"


def forecast(plan: SweepPlan, status: SweepStatus, folder: SweepFolder, engine: Engine, limit: int | None) -> Forecast:
    """Estimate what a sweep takes.

    Args:
        plan: what is to be run.
        status: what there is of it.
        folder: of the sweep.
        engine: would run it.
        limit: cells to run, at most; None: all that are missing.
    """
    cells = status.missing[:limit]
    estimates = _Estimates(status)
    kinds = {cell.kind: cell for cell in cells}
    found = {cell.kind: estimates.of(cell) for cell in sorted(kinds.values(), key=_size)}
    known = [(cell, e) for cell in cells if (e := found[cell.kind].of(cell)) is not None]
    priceless = any(expected.priceless for _, expected in known)
    priceless |= any(cell.uses_models and found[cell.kind].expected is None for cell in cells)
    models = [expected for cell, expected in known if cell.uses_models]
    common = set.intersection(*(set(expected.by_tier) for expected in models)) if models and not priceless else set()
    by_tier = {tier: fsum(expected.by_tier[tier] for expected in models) for tier in sorted(common)}
    batching = batching_of(engine) is not None
    usd = None if priceless else fsum(expected.usd for _, expected in known)
    seconds = 0.0
    for waits in (False, True):
        alike = [expected.seconds for cell, expected in known if found[cell.kind].waits is waits]
        if alike:
            seconds += max(*alike, fsum(alike) / engine.width(uses_models=waits))
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
        answers=sum(expected.answers for _, expected in known),
        tokens=sum(expected.tokens for _, expected in known),
        usd=by_tier.get(BATCH, usd) if batching else usd,
        seconds=seconds,
        sources=Counter(found[cell.kind].source for cell in cells),
        tried_with=estimates.tried_with,
        simulated=any(cell.uses_models and _raw(cell)["llm"]["name"] == SIMULATED for cell in cells),
        by_tier=by_tier,
        # Agents think beside each other at best, and each of their thoughts waits for the last.
        waves=max((ceil(e.answers / _size(cell)) for cell, e in known), default=0) if batching else None,
    )


@dataclass(frozen=True, slots=True)
class _Estimate:
    """An estimate of a kind.

    Attributes:
        expected: what a cell takes; None where it is not known.
        source: what that rests on.
        waits: whether its seconds are mostly spent on waiting, beside which others can run.
        left: of a branch that was tried, the thoughts that its run has from the instant on; 0 for all else.
    """

    expected: Expected | None
    source: str
    waits: bool
    left: int = 0

    def of(self, cell: PlannedCell) -> Expected | None:
        """Return what a cell of the kind takes: of a branch, in proportion to what its own run has left."""
        if self.expected is None or not self.left or not isinstance(cell, PlannedBranchCell):
            return self.expected
        return _times(self.expected, cell.left / self.left)


def _times(e: Expected, share: float) -> Expected:
    """Return what takes so many times as much."""
    return Expected(
        e.answers * share,
        e.tokens * share,
        e.usd * share,
        e.seconds * share,
        priceless=e.priceless,
        by_tier={tier: usd * share for tier, usd in e.by_tier.items()},
    )


class _Estimates:
    def __init__(self, status: SweepStatus) -> None:
        self._costs = status.costs
        self._known: list[tuple[PlannedCell, _Estimate]] = []
        self._trials = 0
        self._parents = Parents()
        self.tried_with = ""
        for cell in {cell.kind: cell for cell in status.cells}.values():
            if (expected := self._costs.expected(cell.kind)) is not None:
                self._known.append((cell, _Estimate(expected, "finished", cell.uses_models)))

    def of(self, cell: PlannedCell) -> _Estimate:
        """Estimate a cell of a kind that was not asked for before."""
        own = next((estimate for known, estimate in self._known if known.kind == cell.kind), None)
        if own is not None:
            return own
        near = self._nearest(cell, _team(cell))
        instant = isinstance(cell, PlannedBranchCell) and self._nearest(cell, _team(cell)[:1]) is None
        if near is None and (self._trials < MOST_TRIALS or instant):
            self._trials += 1
            estimate = self._tried(cell)
            self._known.append((cell, estimate))
            return estimate
        return near or self._nearest(cell, _team(cell)[:1]) or _Estimate(None, "unknown", waits=False)

    def _nearest(self, cell: PlannedCell, team: Sequence[object]) -> _Estimate | None:
        """Scale the estimate of the team that is alike and nearest in size."""
        size = _size(cell)
        alike = [
            (_size(known), estimate, expected)
            for known, estimate in self._known
            if (expected := estimate.expected) is not None and tuple(_team(known)[: len(team)]) == tuple(team)
        ]
        if not alike:
            return None
        other, estimate, e = min(alike, key=lambda found: abs(found[0] - size))
        return replace(estimate, expected=_times(e, size / other), source="scaled")

    def _tried(self, cell: PlannedCell) -> _Estimate:
        """Play an episode of the kind, without a network."""
        raw = _raw(cell)
        try:
            branching = self._parents.branch(cell).branching if isinstance(cell, PlannedBranchCell) else None
            expected = tried(raw, uses_models=cell.uses_models, branching=branching)
        except Exception:  # whatever is wrong with the cell, the sweep itself tells it
            return _Estimate(None, "unknown", waits=False)
        waits = stands_in(raw, uses_models=cell.uses_models)
        if waits:
            self.tried_with = f" with a simulated model; {SECONDS_PER_CALL:g} s an answer are assumed"
        return _Estimate(expected, "tried", waits, cell.left if isinstance(cell, PlannedBranchCell) else 0)


def _varied(cells: Sequence[PlannedCell]) -> dict[str, tuple[str, ...]]:
    raws = [_raw(cell) for cell in {cell.kind: cell for cell in cells}.values()]
    sizes = sorted({raw["n"] for raw in raws})
    found = {"n": tuple(map(str, sizes))} if len(sizes) > 1 else {}
    arms = any(cell.arm for cell in cells)
    return found | {group: several for group, several in varied(raws).items() if group == "env" or not arms}


def _team(cell: PlannedCell) -> tuple[object, ...]:
    """Return what makes teams alike, the most telling first."""
    raw = _raw(cell)
    minds = (team_label(raw["agents"]), raw["llm"] if cell.uses_models else None)
    alike = (minds, raw["env"]["name"], raw["topology"])
    # What is left of an episode after an instant says nothing of what is left after another one.
    return (str(cell.instant), *alike) if isinstance(cell, PlannedBranchCell) else alike


def _size(cell: PlannedCell) -> int:
    size: int = _raw(cell)["n"]
    return size


def _raw(cell: PlannedCell) -> dict[str, Any]:
    raw: dict[str, Any] = orjson.loads(cell.configuration)
    return raw
