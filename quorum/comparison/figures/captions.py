"""What a figure shows, in words: for readers of a paper, and for those who cannot see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from maeil.metrics import METRICS
from quorum.comparison.comparison import Comparison
from quorum.comparison.figures.style import clipped, name_of, sentence
from quorum.comparison.statistics.flips import LEVEL
from quorum.comparison.tables import SIMULATED, STATISTIC_NAMES, baseline_label


def subject(comparison: Comparison, metrics: Iterable[str]) -> str:
    """Return the metrics and the compared factors: `Success and steps by topology across n`."""
    across = f" across {name_of(comparison.across)}" if comparison.across is not None else ""
    return sentence(f"{_listed(_titles(metrics))} by {_listed(map(name_of, comparison.by))}{across}")


def statistic(comparison: Comparison, *, differences: bool) -> str:
    """Return what a mark shows: `mean`, or `mean difference from individual`."""
    if not differences:
        return STATISTIC_NAMES[comparison.statistic]
    what = "mean difference from" if comparison.family is None else "mean gain over"
    return f"{what} {clipped(baseline_label(comparison))}"


def caption(comparison: Comparison, metrics: Sequence[str], *, differences: bool) -> str:
    """Return the caption for a paper: metrics, boards, draws, model, intervals and correction."""
    what = statistic(comparison, differences=differences)
    models = dict.fromkeys(model for tally in comparison.pool.tallies for model in tally.models)
    intervals = f"Bars: 95 % intervals over {comparison.unit}"
    if differences:
        intervals += (
            ", of the sign-flip test on paired differences, not corrected for their number. Filled marks: p is at most"
            f" {LEVEL} after Holm's correction over the differences of a metric"
        )
    sentences = [
        f"{subject(comparison, metrics)}: {what}, over {_sizes(comparison, metrics, differences=differences)}",
        f"Language model: {', '.join(models)}" if models else "No language model",
        SIMULATED.removesuffix(".") if comparison.simulated else "",
        intervals,
        "; ".join(_directions(metrics)),
    ]
    return " ".join(f"{sentence(one)}." for one in sentences if one)


def _sizes(comparison: Comparison, metrics: Sequence[str], *, differences: bool) -> str:
    """Return the numbers of boards, of draws and of runs."""
    if differences:
        boards = [item.mean.boards for item in comparison.differences if item.metric in metrics]
    else:
        boards = [found.boards for (metric, *_), found in comparison.estimates.items() if metric in metrics]
    text = _range(boards, comparison.unit)
    if comparison.family is None:
        several = [noise for (metric, *_), noise in comparison.noise.items() if metric in metrics]
        once = [1] if len(several) < len(metrics) * len(comparison.groups) else []
        text += f" with {_range([n for one in several for n in (one.fewest, one.most)] + once, 'draws')} each"
    left_out = f", {len(comparison.pool.left_out)} more left out" if comparison.pool.left_out else ""
    return f"{text} ({_range([len(comparison.pool.rows)], comparison.things)}{left_out})"


def _range(numbers: Sequence[int], things: str) -> str:
    low, high = min(numbers), max(numbers)
    singular = {"branches": "branch"}.get(things, things[:-1])
    return f"{low} to {high} {things}" if low < high else f"{low} {things if low != 1 else singular}"


def _directions(metrics: Iterable[str]) -> Iterator[str]:
    for way in ("higher", "lower"):
        if found := [metric for metric in metrics if METRICS[metric].better == way]:
            yield f"{way} is better in {_listed(_titles(found))}"


def _titles(metrics: Iterable[str]) -> list[str]:
    return [METRICS[metric].title for metric in metrics]


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
