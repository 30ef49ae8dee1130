"""Choose the runs that statistics are computed from, and record which are excluded and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from maeil.outcomes import Outcome
from quorum.configuration.providers.config import is_operational
from quorum.runs import Results, Row
from quorum_base.user_errors import UserError

_ONE_OF_MANY = {"seed", "branch", "parent", "at", "draw"}
"""Factors that distinguish runs of one configuration."""
_WHY = {
    Outcome.ERROR: "ended with an error",
    "unfinished": "not finished",
}


@dataclass(frozen=True, slots=True)
class Tally:
    """The runs of one level.

    Attributes:
        level: its label.
        pooled: number of runs that count.
        budget: number of these that their budget ended.
        left_out: number of the other runs by outcome.
        calls: calls of language models in the runs that count.
        parse_failures: number of these calls whose reply could not be read; NaN if a run does not record it.
        empty_answers: number of these calls without any answer; 0 in runs of versions that did not distinguish them.
        simulated: whether a language model was simulated, or no mind answered.
        floor: `chance` or `echo` if no mind answered; else empty.
        models: names of the language models that answered.
    """

    level: str
    pooled: int
    budget: int
    left_out: Mapping[str, int]
    calls: float
    parse_failures: float
    empty_answers: float
    simulated: bool
    floor: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """The runs of a comparison.

    Attributes:
        rows: the runs that count.
        levels: the label of each of them.
        left_out: the others, each cell once: they ended with an error, or have not ended.
        left_out_levels: the label of each of those.
        tallies: for every level, in the order of the rows.
        repeated: number of runs of a cell that another folder or arm also has; each cell counts once per level.
        missing: number of planned cells that were not run.
        unfinished: number of folders of unfinished runs.
        damaged: folders that cannot be read, with the reason.
        versions: versions of the code of the runs that count.
    """

    rows: tuple[Row, ...]
    levels: tuple[str, ...]
    left_out: tuple[Row, ...]
    left_out_levels: tuple[str, ...]
    tallies: tuple[Tally, ...]
    repeated: int
    missing: int
    unfinished: int
    damaged: Mapping[str, str]
    versions: tuple[str, ...]


def pool(results: Sequence[Results], level: Callable[[Row], str]) -> Pool:
    """Choose the runs that count.

    Args:
        results: results of one or more folders.
        level: returns the label of a run's level.

    Raises:
        UserError: no run counts.
    """
    every: dict[tuple[str, str], Row] = {}
    rows = [row for part in results for row in part.rows]
    for row in rows:
        key = (level(row), row.hash)
        if key not in every or (row.pooled and not every[key].pooled):
            every[key] = row
    counted = [row for row in every.values() if row.pooled]
    if not counted:
        why = ", ".join(f"{number} {_WHY.get(o, o)}" for o, number in Counter(r.outcome for r in rows).items())
        raise UserError(
            f"{', '.join(str(part.folder) for part in results)}: there is no run to compare: {why or 'none was run'}"
        )
    others = [row for row in every.values() if not row.pooled]
    labels = list(dict.fromkeys(label for label, _ in every))
    return Pool(
        rows=tuple(counted),
        levels=tuple(level(row) for row in counted),
        left_out=tuple(others),
        left_out_levels=tuple(level(row) for row in others),
        tallies=tuple(_tally(label, [r for (own, _), r in every.items() if own == label]) for label in labels),
        repeated=len(rows) - len(every),
        missing=sum(len(part.missing) for part in results),
        unfinished=sum(part.unfinished for part in results),
        damaged={str(part.folder / item.name): item.reason for part in results for item in part.damaged},
        versions=tuple(sorted({row.version for row in counted})),
    )


def refuse_mixed_versions(pool: Pool) -> None:
    """Make sure that all runs come from one version of the code.

    Raises:
        UserError: they do not.
    """
    if len(pool.versions) > 1:
        counts = Counter(row.version for row in pool.rows)
        which = ", ".join(f"{counts[version]} by {version}" for version in pool.versions)
        raise UserError(
            f"the runs were made by different versions of the code: {which}",
            "The code itself may make a difference. Compare the versions with --by version, run the sweep"
            " again in a new folder, or take the runs as they are with --accept-versions.",
        )


def refuse_mixed_inputs(pool: Pool) -> None:
    """Make sure that runs of a level with one configuration also had the same prompts and plug-ins.

    Raises:
        UserError: they did not.
    """
    if len({frozenset(row.inputs.items()) for row in pool.rows}) == 1:
        return
    found: dict[tuple[object, ...], Row] = {}
    without = {key for row in pool.rows for key in row.factors if key in _ONE_OF_MANY or is_operational(key)}
    for row, level in zip(pool.rows, pool.levels, strict=True):
        alike = (level, *(value for key, value in row.factors.items() if key not in without))
        other = found.setdefault(alike, row)
        changed = sorted(key for key in {**other.inputs, **row.inputs} if other.inputs.get(key) != row.inputs.get(key))
        if changed:
            raise UserError(
                f"runs of one configuration had different inputs: {', '.join(changed)} differ between {other.name} "
                f"and {row.name}",
                "They are two experiments. Compare them with --by inputs, keep each in its own folder, or take the"
                " runs as they are with --accept-versions.",
            )


def _tally(label: str, rows: Iterable[Row]) -> Tally:
    every = list(rows)
    counted = [row for row in every if row.pooled]
    return Tally(
        level=label,
        pooled=len(counted),
        budget=sum(row.outcome == Outcome.BUDGET for row in counted),
        left_out=dict(Counter(row.outcome for row in every if not row.pooled)),
        calls=_total("model.calls", counted),
        parse_failures=_total("model.parse_failures", counted),
        empty_answers=fsum(row.metrics.get("model.empty_answers") or 0.0 for row in counted),
        simulated=any(row.simulated for row in counted),
        floor=_floor(counted),
        models=tuple(sorted({name for row in counted for name in row.models})),
    )


def _floor(rows: Iterable[Row]) -> str:
    found = {row.floor for row in rows if row.models}
    return found.pop() if len(found) == 1 else ""


def _total(metric: str, rows: Iterable[Row]) -> float:
    values = [row.metrics.get(metric) for row in rows]
    return fsum(float("nan") if value is None else value for value in values)
