"""The numbers of a comparison in full: as records, CSV and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from maeil.metrics import METRICS
from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.groups import Group
from quorum.experiments.compare.statistics import STATISTICS, Estimate
from quorum.experiments.results.results_folder import csv_text
from quorum.experiments.results.rows import Scalar

Record = Mapping[str, Scalar]


def estimates(comparison: Comparison) -> Iterator[Record]:
    """Yield a record for each metric, level and value of `across`, with all statistics."""
    for metric in comparison.metrics:
        for group in comparison.groups.values():
            values = group.values(metric)
            yield {
                "metric": metric,
                "unit": METRICS[metric].unit,
                "better": METRICS[metric].better,
                **_place(comparison, group.level, group.point),
                "simulated": group.level in comparison.simulated,
                "runs": len(values),
                "boards": comparison.estimate(metric, group, comparison.statistic).boards,
                "undefined": len(group.rows) - len(values),
                "left_out": len(group.left_out),
                **{
                    key: number
                    for name in STATISTICS
                    for key, number in _ends(name, comparison.estimate(metric, group, name)).items()
                },
                **_bounds(comparison, metric, group),
                "standard_deviation": float(values.std(ddof=1)) if len(values) > 1 else None,
                "minimum": float(values.min()) if len(values) else None,
                "maximum": float(values.max()) if len(values) else None,
            }


def differences(comparison: Comparison) -> Iterator[Record]:
    """Yield a record for each difference from the baseline."""
    for item in comparison.differences:
        yield {
            "metric": item.metric,
            "better": METRICS[item.metric].better,
            "baseline": comparison.baseline,
            **_place(comparison, item.level, item.point),
            "simulated": bool(comparison.simulated & {item.level, comparison.baseline}),
            "runs": item.mean.runs,
            **({"over": comparison.unit, "instants": item.strata} if comparison.family is not None else {}),
            "boards": item.mean.boards,
            "differing": item.differing,
            "unpaired": item.unpaired,
            **_ends("difference", item.mean),
            "standard_deviation": _number(item.deviation),
            "p": _number(item.p),
            "p_holm": _number(item.p_holm),
            **_ends("probability_of_improvement", item.improvement),
            "difference_lowest": _number(item.lowest),
            "difference_highest": _number(item.highest),
        }


def curves(comparison: Comparison) -> Iterator[Record]:
    """Yield a record for each level, value of `across` and step, with the score after it."""
    for (level, point), curve in comparison.curves.items():
        for step, found in zip(curve.steps, curve.estimates, strict=True):
            yield {
                **_place(comparison, level, point),
                "simulated": level in comparison.simulated,
                "runs": found.runs,
                "boards": found.boards,
                "step": step,
                **_ends("score", found),
            }


def as_json(comparison: Comparison, notes: Sequence[str]) -> dict[str, Any]:
    """Return the comparison as JSON-ready data: what is pooled, every estimate, every difference."""
    return {
        "by": list(comparison.by),
        "across": comparison.across,
        "baseline": comparison.baseline,
        "simulated": sorted(comparison.simulated),
        "notes": list(notes),
        "runs": [
            {name: _number(value) if isinstance(value, float) else value for name, value in asdict(tally).items()}
            for tally in comparison.pool.tallies
        ],
        "estimates": list(estimates(comparison)),
        "differences": list(differences(comparison)),
    }


def as_csv(records: Iterator[Record]) -> str:
    """Write records as CSV: numbers in full, nothing for what is not defined."""
    lines = list(records)
    return csv_text([list(lines[0]), *(line.values() for line in lines)] if lines else [])


def _place(comparison: Comparison, level: str, point: Scalar) -> Record:
    across = {comparison.across: point} if comparison.across is not None else {}
    return {" / ".join(comparison.by): level, **across}


def _bounds(comparison: Comparison, metric: str, group: Group) -> Record:
    """Return the statistic that is shown with the runs that are left out as failures and as successes."""
    none = Estimate(math.nan, math.nan, math.nan, 0, 0)
    ends = comparison.bounds.get((metric, group.level, group.point), (none, none))
    return {
        key: number
        for name, found in zip(("if_failures", "if_successes"), ends, strict=True)
        for key, number in _ends(name, found).items()
    }


def _ends(name: str, found: Estimate) -> Record:
    return {name: _number(found.value), f"{name}_low": _number(found.low), f"{name}_high": _number(found.high)}


def _number(number: float) -> float | None:
    return None if math.isnan(number) else number
