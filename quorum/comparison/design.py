"""The design of a comparison: what varies besides the compared factor, and what that means.

Draws of a board are averaged, whatever their number, unless they are compared (`draws`). Besides the levels, the values
of `across` and the seeds, a factor of the runs may

- be **crossed**: every level has the same values of it (`n` in a comparison of topologies over all n). Its values are
  strata: runs are paired within them, and then averaged by board;
- be **pooled over**: it varies within a level, and differently in different levels;
- be **confounded**: it has one value in each level, the levels differ in it, and it is not part of what is compared.
  Then the comparison cannot separate the two, and says so.

If branches are compared by their changes (`families`), the beginnings are the strata. The unit is the board, as usual;
if all branches come from one board, it is the draw.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from maeil.metrics import reproducible
from quorum.comparison.factors import in_order, value_of, values_of, written
from quorum.comparison.families import beginning
from quorum.configuration.origin import DRAW, PARENT, Scalar
from quorum.configuration.providers.config import is_operational
from quorum.runs import Row
from quorum.runs.rows import keys_of

Unit = Literal["boards", "runs", "draws"]
"""The unit of an interval. Boards are called runs if each board has exactly one run with branches."""
_WHOLE = {"arm", "change", "inputs", "sweep", "version"}
"""Factors that include everything that varies with them."""
_MINDS = {"agents", "llm", "budget", "prompts"}
_BRINGS = {"agents": _MINDS, "llm": _MINDS, "model": _MINDS, "env": {"n", "max_steps"}}
"""By the section of a compared factor: the other sections that are part of it."""


@dataclass(frozen=True, slots=True)
class Design:
    """What varies among the runs.

    Attributes:
        crossed: factors with their values.
        pooled_over: factors with their values.
        confounded: factors with their values.
        boards_differ: whether one seed gives different boards in different levels, because the world or n is compared.
        unit: the unit that intervals are taken over.
        family: whether branches are compared by their changes.
        alike: whether all draws of a change at one branch point agree, so that they count as one.
    """

    crossed: Mapping[str, tuple[str, ...]]
    pooled_over: Mapping[str, tuple[str, ...]]
    confounded: Mapping[str, tuple[str, ...]]
    boards_differ: bool
    unit: Unit = "boards"
    family: bool = False
    alike: bool = False

    def board(self, row: Row) -> Scalar:
        """Return the key of a board: the seed, or the draw of a branch if draws differ."""
        if self.unit == "draws" and row.origin is not None:
            return 0 if self.alike else row.factors[DRAW]
        return row.seed

    def stratum(self, row: Row) -> tuple[Scalar, ...]:
        """Return the values of the crossed factors in a run; for a branch in a family, its beginning."""
        if self.family:
            return beginning(row)
        return tuple(value_of(row, factor) for factor in self.crossed)


def find_design(
    rows: Sequence[Row], levels: Sequence[str], by: Sequence[str], across: str | None, *, family: bool = False
) -> Design:
    """Find what varies among the runs.

    Args:
        rows: the runs that count.
        levels: the label of each run.
        by: the factors that are compared.
        across: the factor to compare across.
        family: whether branches are compared by their changes.
    """
    own = {*by, "seed", DRAW, *([across] if across is not None else [])}
    if family:
        own.update(keys_of(row.origin.factors for row in rows if row.origin is not None))
    crossed: dict[str, tuple[str, ...]] = {}
    pooled: dict[str, tuple[str, ...]] = {}
    confounded: dict[str, tuple[str, ...]] = {}
    points = [value_of(row, across) if across is not None else None for row in rows]
    places = list(zip(levels, points, strict=True))
    varying: list[list[Scalar]] = []
    aligned: list[list[Scalar]] = []
    inputs = keys_of(row.inputs for row in rows)
    factors = keys_of(mapping for row in rows for mapping in (row.factors, row.inputs))
    for factor in sorted(factors, key=lambda factor: not factor.endswith(".name")):  # options before their settings
        values = values_of(rows, factor)
        distinct = set(values) - {None} if factor in inputs else set(values)  # minds differ in templates
        if factor in own or len(distinct) == 1:
            continue
        along = _determined(values, places)
        if is_operational(factor) and not along:
            continue  # such runs are cells of one kind
        others = aligned if along else varying
        if any(_determined(values, list(zip(other, points, strict=True))) for other in [points, *others]):
            continue  # implied by another factor, as `env.n` by `n`, and a topology's settings by its name
        shown = tuple(written(value) for value in in_order(values) if value in distinct)
        if not along:
            target = crossed if _same_everywhere(values, levels) else pooled
            target[factor] = shown
        elif not (_are_prompts(by) if factor in inputs else _goes_with(factor, by)):
            confounded[factor] = shown
        else:
            continue
        others.append(values)
    boards_differ = any(factor == "n" or factor.startswith("env.") for factor in by)
    unit: Unit = _unit(rows, points) if family else "boards"
    alike = family and _alike(rows, levels)
    return Design(crossed, pooled, confounded, boards_differ, unit, family=family, alike=alike)


def _alike(rows: Sequence[Row], levels: Sequence[str]) -> bool:
    """Whether some change has several draws from one branch point, and all of them agree in every metric."""
    drawn: dict[Hashable, list[Mapping[str, float | None]]] = {}
    for row, level in zip(rows, levels, strict=True):
        drawn.setdefault((level, *beginning(row)), []).append(reproducible(row.metrics))
    several = [found for found in drawn.values() if len(found) > 1]
    return bool(several) and all(other == found[0] for found in several for other in found[1:])


def _unit(rows: Sequence[Row], points: Sequence[Scalar]) -> Unit:
    """Return the unit of intervals over branches, at each value of `across`."""
    runs: dict[Scalar, set[tuple[int, Scalar]]] = {}
    for row, point in zip(rows, points, strict=True):
        if row.origin is not None:
            runs.setdefault(point, set()).add((row.seed, row.factors[PARENT]))
    boards = {point: {seed for seed, _ in found} for point, found in runs.items()}
    if all(len(found) == 1 for found in boards.values()):
        return "draws"
    return "runs" if all(len(boards[point]) == len(runs[point]) for point in runs) else "boards"


def _determined(values: Sequence[Scalar], keys: Sequence[Hashable]) -> bool:
    """Whether equal keys always have equal values."""
    found: dict[Hashable, Scalar] = {}
    return all(found.setdefault(key, value) == value for key, value in zip(keys, values, strict=True))


def _same_everywhere(values: Sequence[Scalar], levels: Sequence[str]) -> bool:
    sets: dict[str, set[Scalar]] = {}
    for level, value in zip(levels, values, strict=True):
        sets.setdefault(level, set()).add(value)
    return len({frozenset(found) for found in sets.values()}) == 1


def _are_prompts(by: Sequence[str]) -> bool:
    """Whether prompt templates, or a factor that includes everything, are compared."""
    return any(compared in _WHOLE or "prompts" in compared for compared in by)


def _goes_with(factor: str, by: Sequence[str]) -> bool:
    """Whether a factor is part of what is compared, as `topology.rounds` is of the topology and `env.n` of `n`."""
    group, _, knob = _as_part(factor).partition(".")
    owns = {compared: _as_part(compared).partition(".")[0] for compared in by}
    return any(
        compared in _WHOLE or knob == compared or group == own or group in _BRINGS.get(own, ())
        for compared, own in owns.items()
    )


def _as_part(factor: str) -> str:
    """Return the configuration section of a factor; `members` belongs to `agents`."""
    return "agents" if factor == "members" else factor
