"""The tables of a comparison, as rows of text; `formats` writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from maeil.metrics import METRICS
from quorum.comparison.comparison import Comparison
from quorum.comparison.coordination import coordination, is_single_mind
from quorum.comparison.differences import Difference
from quorum.comparison.draws import Noise
from quorum.comparison.factors import NONE, short, written
from quorum.comparison.formats import ARROWS, Table
from quorum.comparison.metrics import arrow
from quorum.comparison.spent import BUDGETS, AtBudgets
from quorum.comparison.statistics.intervals import Estimate
from quorum.comparison.statistics.room import rooms_closed
from quorum.configuration.origin import NO_CHANGE, Scalar

SIMULATED = "Simulated language model: its results say nothing about a real model."
_Line = tuple[str, Scalar, Sequence[str]]
"""A level, a value of `across`, and the cells of their row."""
STATISTIC_NAMES = {"mean": "mean", "median": "median", "iqm": "interquartile mean"}


def tables(comparison: Comparison) -> list[Table]:
    """Return every table: runs, metrics, differences from the baseline, and draws."""
    shown = _levels if comparison.across is None else _across
    others = (_bounds, _differences, _noise, at_budgets, room_tables, coordination_table)
    found = [runs_table(comparison), *(table for make in (shown, *others) for table in make(comparison))]
    if not comparison.simulated:
        return found
    return [replace(table, caption=f"{table.caption} {SIMULATED}".lstrip()) for table in found]


def heading(comparison: Comparison) -> str:
    """Describe the comparison: `topology across n`."""
    by = " and ".join(short(name) for name in comparison.by)
    return f"{by} across {short(comparison.across)}" if comparison.across is not None else by


def runs_table(comparison: Comparison) -> Table:
    """Return the runs that count and those that do not, by level."""
    tallies = comparison.pool.tallies
    outcomes = sorted({outcome for tally in tallies for outcome in tally.left_out})
    budget = any(tally.budget for tally in tallies)
    header = [_by(comparison), "pooled", *(["of them: budget"] if budget else [])]
    header += (f"left out: {outcome}" for outcome in outcomes)
    header += ["calls", "parse failures", "empty answers", "language model"]
    rows = []
    for tally in tallies:
        row = [tally.level, str(tally.pooled), *([str(tally.budget)] if budget else [])]
        row += [str(tally.left_out.get(outcome, 0)) for outcome in outcomes]
        row += [written(tally.calls), failure_rate(tally.calls, tally.parse_failures)]
        row += [failure_rate(tally.calls, tally.empty_answers)]
        row += [", ".join(tally.models) if tally.simulated else "real" if tally.models else "none"]
        rows.append(tuple(row))
    return Table("runs", tuple(header), tuple(rows), words="Pooled runs and left-out runs")


def failure_rate(calls: float, failures: float) -> str:
    """Format the share of the calls whose reply could not be read; a dash without calls."""
    if not calls:
        return NONE
    return f"{failures / calls:.1%}" if math.isfinite(failures / calls) else "unknown"


def _across(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each metric. Rows are levels or values of `across`, whichever are more, to keep it narrow."""
    assert comparison.across is not None
    across = short(comparison.across)
    points = [written(point) for point in comparison.points]
    levels = [level_label(comparison, level) for level in comparison.levels]
    upright = len(points) >= len(levels)
    columns = (across, *levels) if upright else (_by(comparison), *(f"{across} = {text}" for text in points))
    for metric in comparison.metrics:
        by_point = [
            [comparison.estimates.get((metric, level, point)) for level in comparison.levels]
            for point in comparison.points
        ]
        lines = by_point if upright else list(zip(*by_point, strict=True))
        places = [decimals(found for line in lines for found in line if found is not None)] * (len(columns) - 1)
        header = (columns[0], *_sizes(comparison), *columns[1:])
        rows = tuple(_row(comparison, *line, places) for line in zip(points if upright else levels, lines, strict=True))
        yield Table(_title(comparison, metric), header, rows, _caption(comparison), name=metric)


def _levels(comparison: Comparison) -> Iterator[Table]:
    """Yield one table: a row for each level, a column for each metric."""
    found = [
        [comparison.estimates[metric, level, None] for metric in comparison.metrics] for level in comparison.levels
    ]
    places = [decimals(column) for column in zip(*found, strict=True)]
    labels = [level_label(comparison, level) for level in comparison.levels]
    rows = tuple(_row(comparison, *line, places) for line in zip(labels, found, strict=True))
    header = (_by(comparison), *_sizes(comparison), *(metric + arrow(metric) for metric in comparison.metrics))
    name = STATISTIC_NAMES[comparison.statistic]
    yield Table(f"{name} by {heading(comparison)}", header, rows, _caption(comparison), name="metrics")


def _sizes(comparison: Comparison) -> tuple[str, ...]:
    """Return the headings of the columns with sample sizes."""
    return (comparison.things, comparison.unit) if comparison.clustered else (comparison.things,)


def _row(
    comparison: Comparison, label: str, found: Sequence[Estimate | None], places: Sequence[int]
) -> tuple[str, ...]:
    there = [estimate for estimate in found if estimate is not None]
    sizes = [_range([estimate.runs for estimate in there]), _range([estimate.boards for estimate in there])]
    return label, *sizes[: len(_sizes(comparison))], *map(interval, found, places)


def _by_place(
    comparison: Comparison, title: str, header: Sequence[str], lines: Iterable[_Line], *, caption: str, name: str
) -> Iterator[Table]:
    """Yield a table with a row for each level and value of `across`; none without lines."""
    places = (_by(comparison), *([short(comparison.across)] if comparison.across is not None else []))
    rows = tuple(
        (level_label(comparison, level), *([written(point)] if len(places) > 1 else []), *cells)
        for level, point, cells in lines
    )
    if rows:
        yield Table(title, (*places, *header), rows, caption, labels=len(places), name=name)


def _bounds(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each share: a row for each group with excluded runs."""
    header = (comparison.things, "left out", "as shown", "all failures", "all successes")
    caption = (
        "Errors, limits and unfinished runs. Whatever their results would have been, the"
        f" {STATISTIC_NAMES[comparison.statistic]} of all runs lies between the last two."
    )
    for metric in comparison.metrics:
        lines = []
        for (level, point), group in comparison.groups.items():
            if (bounds := comparison.bounds.get((metric, level, point))) is not None:
                shown = comparison.estimates[metric, level, point]
                sizes = (str(shown.runs), str(len(group.left_out)))
                lines.append((level, point, (*sizes, *(interval(one, 3) for one in (shown, *bounds)))))
        title = f"{metric}{arrow(metric)}: left-out runs counted as failures and as successes"
        yield from _by_place(comparison, title, header, lines, caption=caption, name=f"{metric} left out")


def _differences(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each metric: a row per difference. If no board differs there is none; the notes say so."""
    family = comparison.family is not None
    what = "gain" if family else "difference"
    for metric in comparison.metrics:
        found = [item for item in comparison.differences if item.metric == metric]
        if not any(item.differing for item in found):
            continue
        better = "P(better)" if METRICS[metric].better else "P(greater)"
        bounded = any(not math.isnan(item.lowest) for item in found)
        header = [comparison.unit, *(["branch points"] if family else []), what, "p", "p (Holm)", better]
        header += ["left out at worst, best"] if bounded else []
        places = decimals(item.mean for item in found)
        lines = [(item.level, item.point, _difference(item, comparison, places, bounded=bounded)) for item in found]
        one = comparison.unit[:-1]
        more = f", or would not with one more {one} of -1 and one of 1" if METRICS[metric].rate else ""
        caption = (
            f"{_mean_of_differences(comparison)} with its 95 % interval: all values that the two-sided sign-flip test"
            f" does not reject{more}. So it leaves out 0 exactly if p is at most 0.05. Holm's correction covers the"
            f" rows with enough {comparison.unit} to reject. {better} counts a tie as half; its interval holds"
            " for any distribution, so it may be wider than the test's."
        )
        if bounded:
            caption += (
                " At worst, all left-out runs failed for the level and succeeded for the baseline; at best, the"
                " reverse."
            )
        if comparison.design.boards_differ:
            caption += " One seed gives the levels different boards, so pairs share only the seed."
        title = f"{metric}{arrow(metric)}: {what} {'over' if family else 'from'} {baseline_label(comparison)}"
        yield from _by_place(comparison, title, header, lines, caption=caption, name=f"{metric} {what}")


def _noise(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each metric that varies: a row for each group with several draws of a board."""
    for metric in comparison.metrics:
        found = {place[1:]: noise for place, noise in comparison.noise.items() if place[0] == metric}
        if not any(noise.between or noise.within for noise in found.values()):
            continue
        most = max(len(noise.passes) for noise in found.values())
        header = ["boards", "draws", "SD of boards", "SD of draws", "share of draws", "largest A/A gap", "A/A gap"]
        caption = (
            "SD: root of the variance between boards, and between draws of a board (unbiased, 0 if negative)."
            " Largest A/A gap: between the means of two draws over the same boards. A/A gap: exceeded in 5 % of cases"
            " by two sweeps of these boards with one draw each: 1.96 sqrt(2 v / boards), v the mean variance of draws."
        )
        if most:
            header += ("boards that flip", "flip rate", *(f"pass^{k + 1}" for k in range(most)))
            caption += (
                " Flip rate: probability that two draws of a board differ. pass^k: that k draws of a board all succeed,"
                " over the boards with k draws."
            )
        places = decimals(comparison.estimates[metric, *place] for place in found)
        lines = [(level, point, _chance(noise, places, most)) for (level, point), noise in found.items()]
        title = f"{metric}: what chance alone changes"
        yield from _by_place(comparison, title, header, lines, caption=caption, name=f"{metric} draws")


def _chance(noise: Noise, places: int, most: int) -> list[str]:
    """Return the cells of what chance changes, with `most` values of pass^k."""
    cells = [str(noise.boards), _range([noise.fewest, noise.most])]
    cells += [_number(deviation, places) for deviation in np.sqrt(np.maximum((noise.between, noise.within), 0.0))]
    cells += [_number(noise.share, 2), _number(noise.largest_gap, places), _number(noise.gap, places)]
    if most:
        cells += [f"{noise.flipping} of {noise.several}", _number(noise.flip_rate, 2)]
        cells += [_number(rate, 2) for rate in noise.passes] + [NONE] * (most - len(noise.passes))
    return cells


def _number(number: float, places: int) -> str:
    return NONE if math.isnan(number) else f"{number:.{places}f}"


def place_label(comparison: Comparison, level: str, point: Scalar) -> str:
    """Format a level and its value of `across`: `debate at n = 4`."""
    return level if comparison.across is None else f"{level} at {short(comparison.across)} = {written(point)}"


def room_tables(comparison: Comparison) -> Iterator[Table]:
    """Yield a table for each metric with a better direction: the share of the room that each level closes."""
    silent, reference = comparison.baseline, comparison.room
    if silent is None or reference is None:
        return
    for metric in (name for name in comparison.metrics if METRICS[name].better):
        lines: list[_Line] = []
        for point in comparison.points:
            cells = {level: group.cells(metric) for (level, at), group in comparison.groups.items() if at == point}
            closed = rooms_closed(cells, silent, reference, lower_is_better=METRICS[metric].better == "lower")
            for level, found in closed.items():
                room = interval(found.room, decimals([found.room]))
                lines.append((level, point, (str(found.room.boards), room, interval(found.share, 2))))
        title = f"{metric}: share of the room between {silent} and {reference}"
        caption = (
            f"Room of a board: how much better {reference} is than {silent}. Gain: how much better the level is."
            " Share: the mean gain divided by the mean room, over all boards; none where the room is not significantly"
            " above 0. All with 95 % intervals."
        )
        header = ("boards", "room", "share closed")
        yield from _by_place(comparison, title, header, lines, caption=caption, name=f"{metric} room")


def coordination_table(comparison: Comparison) -> Iterator[Table]:
    """Yield the table of what coordination costs and gains, if the baseline is a single mind that thinks."""
    lines = []
    if comparison.baseline in comparison.floors:
        return
    for (level, point), group in comparison.groups.items():
        single = comparison.groups.get((str(comparison.baseline), point))
        if level == comparison.baseline or single is None or not is_single_mind(single):
            continue
        if (found := coordination(group, single)) is not None:
            measures = (found.efficiency, found.overhead, found.amplification, found.synergy)
            lines.append((level, point, (str(found.synergy.boards), *(interval(one, 2) for one in measures))))
    header = ("boards", "efficiency E_c", "overhead O", "error amplification A_e", "synergy")
    caption = (
        'As defined in "Towards a science of scaling agent systems" (arXiv 2512.08296), from means over the same'
        " boards: success / (turns / turns of the single mind), turns / turns of the single mind - 1, runs without"
        " success / those of the single mind, and completion minus that of the single mind."
    )
    title = f"Coordination against the single mind of {comparison.baseline}"
    yield from _by_place(comparison, title, header, lines, caption=caption, name="coordination")


_EVERY = 2
"""Every how many budgets the table has a row."""


def at_budgets(comparison: Comparison) -> Iterator[Table]:
    """Yield the tables of equal budgets: for each metric the levels, and their differences from the baseline."""
    found = comparison.budgets
    if found is None:
        return
    across = [short(comparison.across)] if comparison.across is not None else []
    words = BUDGETS[found.kind]
    for metric in found.metrics:
        header = (*across, words, *(level_label(comparison, level) for level in comparison.levels))
        rows = []
        for point, budgets in found.budgets.items():
            lines = [found.estimates.get((metric, level, point)) for level in comparison.levels]
            for place in range(_EVERY, len(budgets), _EVERY):
                cells = [interval(line[place] if line is not None else None, 3) for line in lines]
                rows.append((*map(written, [point] if across else []), amount(budgets[place], found.kind), *cells))
        title = f"{metric}{arrow(metric)} at equal {words}"
        caption = f"{_caption(comparison)} Read from the traces: a run that ended by itself keeps its last score."
        yield Table(title, header, tuple(rows), caption, labels=1 + len(across), name=f"{metric} at {words}")
        if found.differences:
            yield from _lead(comparison, found, metric, title)


def _lead(comparison: Comparison, found: AtBudgets, metric: str, title: str) -> Iterator[Table]:
    """Yield the differences from the baseline at equal budgets, and where they change."""
    words = BUDGETS[found.kind]
    header = (f"difference at half of the {words}", "at all", "changes sign at", "interval leaves out 0 from")
    lines = []
    for (name, level, point), line in found.differences.items():
        if name == metric:
            cells = [interval(item.mean, 3, signed=True) for item in (line[len(line) // 2], line[-1])]
            crossings = [amount(budget, found.kind) for budget in found.crossings(metric, level, point)]
            apart = [
                f"{amount(budget, found.kind)} ({'+' if sign > 0 else '-'})"
                for budget, sign in found.apart(metric, level, point)
            ]
            lines.append((level, point, (*cells, *(", ".join(budgets) or NONE for budgets in (crossings, apart)))))
    caption = (
        "Paired over boards. Each interval of the sign-flip test holds at one budget; for all budgets together, they"
        f" hold less often. Sign changes are searched at {len(line) - 1} budgets in equal steps."
    )
    title = f"{title}: difference from {baseline_label(comparison)}"
    yield from _by_place(comparison, title, header, lines, caption=caption, name=f"{metric} difference at {words}")


def amount(budget: float, kind: str) -> str:
    """Format a budget: counts as whole numbers, money and time with two digits."""
    return f"{budget:.2g}" if kind in ("usd", "seconds") else f"{budget:,.0f}"


def baseline_label(comparison: Comparison) -> str:
    """Name the baseline of differences."""
    unchanged = comparison.family is not None and comparison.baseline == NO_CHANGE
    return "branches without a change" if unchanged else str(comparison.baseline)


def _mean_of_differences(comparison: Comparison) -> str:
    if comparison.family is None:
        return "Mean difference over the same boards"
    within = "At each branch point of a run, the mean over draws with the change minus that without, averaged"
    if comparison.unit == "draws":
        return "Mean over draws of the difference between equal draws from the same branch points of the same run"
    return f"{within} over the branch points of a {comparison.unit[:-1]}, and then over {comparison.unit},"


def _difference(item: Difference, comparison: Comparison, places: int, *, bounded: bool) -> list[str]:
    alike = item.mean.boards > 0 and item.differing == 0
    cells = [f"{item.mean.boards} ({item.unpaired} unpaired)" if item.unpaired else str(item.mean.boards)]
    cells += [str(item.strata)] if comparison.family is not None else []
    cells += [f"no {comparison.unit[:-1]} differs" if alike else interval(item.mean, places, signed=True)]
    cells += [p_value(item.p), p_value(item.p_holm), interval(item.improvement, 2)]
    if bounded:
        ends = [_unsigned_zero(end, places) for end in (item.lowest, item.highest) if not math.isnan(end)]
        cells.append(", ".join(f"{end:+.{places}f}" for end in ends) or NONE)
    return cells


def level_label(comparison: Comparison, level: str) -> str:
    """Return the label of a level, marked `simulated` if only some levels are, and `chance` or `echo` if it is."""
    if floor := comparison.floors.get(level):
        return level if level == floor else f"{level} ({floor})"
    some = comparison.simulated and not comparison.simulated >= set(comparison.levels)
    return f"{level} (simulated)" if some and level in comparison.simulated else level


def interval(estimate: Estimate | None, places: int, *, signed: bool = False) -> str:
    """Format an estimate with its interval: `0.93 [0.85, 0.98]`.

    Args:
        estimate: None if there are no runs.
        places: number of decimals.
        signed: whether to show the sign of a positive value.
    """
    if estimate is None or math.isnan(estimate.value):
        return NONE
    ends = [end for end in (estimate.low, estimate.high) if not math.isnan(end)]
    value = f"{_unsigned_zero(estimate.value, places):{'+' if signed else ''}.{places}f}"
    return f"{value} [{', '.join(f'{_unsigned_zero(end, places):.{places}f}' for end in ends)}]" if ends else value


def decimals(estimates: Iterable[Estimate]) -> int:
    """Return the decimals of a column: its largest value, or half its widest interval, gets about three digits."""
    sizes = [size for e in estimates for size in (abs(e.value), (e.high - e.low) / 2) if not math.isnan(size)]
    size = max(sizes, default=0.0)
    if size == 0:
        return 2
    return min(6, max(0, 2 - math.floor(math.log10(size)))) if size < 1000 else 0


def _unsigned_zero(number: float, places: int) -> float:
    return round(number, places) + 0.0


def p_value(p: float) -> str:
    """Write a p-value."""
    if math.isnan(p):
        return NONE
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _title(comparison: Comparison, metric: str) -> str:
    unit = f" ({METRICS[metric].unit})" if METRICS[metric].unit else ""
    return f"{metric}{arrow(metric)}{unit}: {STATISTIC_NAMES[comparison.statistic]} by {heading(comparison)}"


def _caption(comparison: Comparison) -> str:
    return f"[95 % interval] of the {STATISTIC_NAMES[comparison.statistic]}. {ARROWS}"


def _by(comparison: Comparison) -> str:
    return " / ".join(short(name) for name in comparison.by)


def _range(runs: list[int]) -> str:
    if not runs:
        return "0"
    return str(runs[0]) if len(set(runs)) == 1 else f"{min(runs)}-{max(runs)}"
