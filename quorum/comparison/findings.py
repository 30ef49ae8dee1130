"""The findings of a comparison in words: significant differences, and how many boards finding others takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from maeil.metrics import METRICS
from quorum.comparison.comparison import Comparison
from quorum.comparison.differences import Difference
from quorum.comparison.factors import written
from quorum.comparison.statistics.flips import FEWEST, LEVEL, about_boards
from quorum.comparison.tables import STATISTIC_NAMES, baseline_label, decimals, interval, p_value, place_label

_POWER = 0.8
_FEW = 4


def findings(comparison: Comparison) -> list[str]:
    """Return one or more sentences for each metric, in the order of the metrics."""
    return [sentence for metric in comparison.metrics for sentence in _of(comparison, metric)]


def constant(comparison: Comparison, metric: str) -> float | None:
    """Return the value that a metric has in every run that counts; None if runs differ, or if none defines it."""
    values = {float(value) for group in comparison.groups.values() for value in group.values(metric)}
    return values.pop() if len(values) == 1 else None


def boards_needed(difference: Difference) -> int | None:
    """Return about how many boards are needed to detect this difference with power 0.8; None if it has no size."""
    mean, deviation = difference.mean.value, difference.deviation
    if math.isnan(mean) or math.isnan(deviation) or mean == 0 or deviation == 0:
        return None
    return about_boards(mean, deviation, _POWER)


def _of(comparison: Comparison, metric: str) -> Iterator[str]:
    title = METRICS[metric].title[:1].upper() + METRICS[metric].title[1:]
    same = constant(comparison, metric)
    if same is not None:
        runs = sum(len(group.values(metric)) for group in comparison.groups.values())
        yield f"{title} is {written(same)} in all {runs} {comparison.things} that define it."
        return
    found = [item for item in comparison.differences if item.metric == metric and not math.isnan(item.mean.value)]
    significant = [item for item in found if item.p_holm <= LEVEL]
    if significant:
        yield from _significant(comparison, title, significant)
    elif found:
        yield _nothing(comparison, title, found)
    else:
        yield from _means(comparison, metric, title)


def _significant(comparison: Comparison, title: str, found: Sequence[Difference]) -> Iterator[str]:
    largest = sorted(found, key=lambda item: -abs(item.mean.value))
    places = decimals(item.mean for item in found)
    parts = [
        f"{place_label(comparison, item.level, item.point)}{_direction(item)}:"
        f" {interval(item.mean, places, signed=True)}{unit_of(item.metric)} (p {p_words(item.p_holm)},"
        f" {item.mean.boards} {comparison.unit}{_below_gap(comparison, item, places)})"
        for item in largest[:_FEW]
    ]
    more = f"; and {len(largest) - _FEW} more" if len(largest) > _FEW else ""
    yield f"{title}: difference from {baseline_label(comparison)}: {'; '.join(parts)}{more}. p is corrected by Holm."


def _nothing(comparison: Comparison, title: str, found: Sequence[Difference]) -> str:
    largest = max(found, key=lambda item: abs(item.mean.value))
    start = f"{title}: no significant difference from {baseline_label(comparison)}."
    if not largest.differing:
        return f"{start} No {comparison.unit[:-1]} differs."
    size = interval(largest.mean, decimals([largest.mean]), signed=True)
    place = place_label(comparison, largest.level, largest.point)
    seen = f"The largest is {size}{unit_of(largest.metric)}, {place} ({_chances(largest)})."
    needed, there = boards_needed(largest) or FEWEST, largest.mean.boards
    if needed <= there:
        found_in = "a difference of this size is found in at most four of five cases"
        return f"{start} {seen} Over these {there} {comparison.unit}, {found_in}."
    return f"{start} {seen} To find one of this size, you need about {needed} {comparison.unit}; there are {there}."


def _means(comparison: Comparison, metric: str, title: str) -> Iterator[str]:
    """Yield the highest and the lowest values, if nothing is compared with a baseline."""
    known = {
        (level, point): estimate
        for (name, level, point), estimate in comparison.estimates.items()
        if name == metric and not math.isnan(estimate.value)
    }
    if not known:
        yield f"{title} is not defined in any run."
        return
    places = decimals(known.values())
    ends = [choose(known, key=lambda key: known[key].value) for choose in (max, min)]
    parts = [
        f"{place_label(comparison, *key)}, {interval(known[key], places)}{unit_of(metric)}"
        for key in dict.fromkeys(ends)
    ]
    words = ("highest", "lowest") if len(parts) > 1 else ("",)
    ends_in_words = "; ".join(f"{word} for {part}".strip() for word, part in zip(words, parts, strict=True))
    yield f"{title} ({STATISTIC_NAMES[comparison.statistic]}): {ends_in_words}."


def _direction(item: Difference) -> str:
    better = METRICS[item.metric].better
    if better is None:
        return ""
    return " is better" if (item.mean.value > 0) == (better == "higher") else " is worse"


def _below_gap(comparison: Comparison, item: Difference, places: int) -> str:
    gap = comparison.gap(item)
    return f", smaller than the A/A gap of {gap:.{places}f}" if abs(item.mean.value) < gap else ""


def unit_of(metric: str) -> str:
    """Return the unit of a metric as text after a number; empty if it has none."""
    return f" {METRICS[metric].unit}" if METRICS[metric].unit else ""


def _chances(item: Difference) -> str:
    corrected = f", by Holm's correction {p_value(item.p_holm)}" if item.p_holm != item.p else ""
    return f"p {p_words(item.p)}{corrected}"


def p_words(p: float) -> str:
    """Return a p-value as text after the letter p."""
    return p_value(p) if p < 0.001 else f"= {p_value(p)}"
