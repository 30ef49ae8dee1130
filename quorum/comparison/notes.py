"""What a reader must know in addition to the numbers: what is pooled, excluded, simulated, confounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from quorum.agents.simulated import CHANCE, ECHO
from quorum.comparison.comparison import Comparison
from quorum.comparison.draws import DRAW, agree, drawn_of, may_draw
from quorum.comparison.factors import value_of, varies, written
from quorum.comparison.families import Beginning, beginning
from quorum.comparison.statistics.flips import smallest_p
from quorum.comparison.tables import SIMULATED, baseline_label, decimals, failure_rate, heading, place_label
from quorum.configuration.origin import NO_CHANGE, PARENT
from quorum.display.sanitize import sanitize
from quorum.runs import Row
from quorum.runs.rows import keys_of

_FEW = 5
_LEVEL = 0.05


def notes(comparison: Comparison) -> list[str]:
    """Return every note, the most serious first."""
    pooled = (_simulated, _drawn, _runs, _budgets, _parse_failures, _fallbacks, _reduced, _builds, _cached, _wasted)
    parts = (*pooled, _boards, _family, _draws, _chance, _differences, _gaps, _unused, _design)
    return [note for part in parts for note in part(comparison)]


def _simulated(comparison: Comparison) -> Iterator[str]:
    if comparison.simulated:
        every = comparison.simulated >= set(comparison.levels)
        yield SIMULATED if every else f"{SIMULATED} It answered in: {', '.join(sorted(comparison.simulated))}."


def _drawn(comparison: Comparison) -> Iterator[str]:
    """Report answers without a mind, and how to add them to runs of a real model."""
    says = {
        CHANCE: "is drawn at random from its schema",
        ECHO: "copies the example in the prompt, with the same names for all agents",
    }
    for floor, how in says.items():
        if levels := sorted(level for level, own in comparison.floors.items() if own == floor):
            yield f"{floor.capitalize()}: in {', '.join(levels)} every answer {how}."
    if comparison.set_aside:
        yield f"{comparison.set_aside} runs without a mind (chance, echo) are excluded. To include them: --by model."
    for command in comparison.floor_commands:
        yield f"To measure chance and echo: {command}"


def _runs(comparison: Comparison) -> Iterator[str]:
    pool = comparison.pool
    left_out: Counter[str] = Counter()
    for tally in pool.tallies:
        left_out.update(tally.left_out)
    total = len(pool.rows) + sum(left_out.values())
    why = ", ".join(f"{number} {outcome}" for outcome, number in sorted(left_out.items()))
    yield f"{len(pool.rows)} of {total} {comparison.things} are pooled" + (f"; left out: {why}." if why else ".")
    if comparison.bounds:
        yield "Shares are also shown with the left-out runs counted as failures, and as successes."
    if budget := sum(tally.budget for tally in pool.tallies):
        yield f"{budget} of the pooled runs used up a budget: they are scored with their result so far."
    if pool.missing:
        yield f"{pool.missing} planned cells have not been run: the sweep is not finished."
    if pool.unfinished:
        yield f"{pool.unfinished} folders hold unfinished runs."
    if pool.repeated:
        yield f"{pool.repeated} runs repeat a cell: each cell counts once."
    damaged = [f"{name} is damaged and left out: {reason}" for name, reason in pool.damaged.items()]
    yield from _first_few(damaged, "damaged folders")
    if len(pool.versions) > 1:
        yield f"The runs were made by different versions of the code: {', '.join(pool.versions)}."


def _budgets(comparison: Comparison) -> Iterator[str]:
    if comparison.budgets is not None:
        texts = [f"Left out of the budgets: {reason}" for reason in comparison.budgets.left_out]
        yield from _first_few(texts, "runs are left out of the budgets")


def _first_few(texts: Sequence[str], what: str) -> Iterator[str]:
    yield from texts[:_FEW]
    if len(texts) > _FEW:
        yield f"... and {len(texts) - _FEW} more {what}."


def _parse_failures(comparison: Comparison) -> Iterator[str]:
    tallies = comparison.pool.tallies
    calls = sum(tally.calls for tally in tallies)
    failures = sum(tally.parse_failures for tally in tallies)
    if not calls:
        yield "No run called a language model."
    else:
        count = "" if failures != failures else f" ({failures:g})"  # noqa: PLR0124 - NaN
        yield f"Parse failures: {failure_rate(calls, failures)} of {calls:g} calls{count}."
        if empty := sum(tally.empty_answers for tally in tallies):
            yield f"Empty answers: {failure_rate(calls, empty)} of {calls:g} calls ({empty:g}), not counted above."


def _fallbacks(comparison: Comparison) -> Iterator[str]:
    rows = [row for row in comparison.pool.rows if row.metrics.get("model.fallbacks")]
    if rows:
        calls, fallen = _sum(rows, "model.calls"), _sum(rows, "model.fallbacks")
        names = ", ".join(dict.fromkeys(name for row in rows for name in row.fallbacks))
        yield (
            f"In {len(rows)} runs, a fallback model answered for one that could not be reached: {names},"
            f" in {fallen:g} of their {calls:g} calls."
        )


def _reduced(comparison: Comparison) -> Iterator[str]:
    rows = [row for row in comparison.pool.rows if row.metrics.get("model.asked_otherwise")]
    if rows:
        calls, reduced = _sum(rows, "model.calls"), _sum(rows, "model.asked_otherwise")
        yield (
            f"In {len(rows)} runs, {reduced:g} of {calls:g} calls were sent in a reduced form because the service"
            " refused the usual one: see asked_otherwise in their traces."
        )


def _builds(comparison: Comparison) -> Iterator[str]:
    """Report that a service answered with several builds, since its model may have changed between runs."""
    builds: dict[str, set[str]] = {}
    for row in comparison.pool.rows:
        builds.setdefault(", ".join(row.models), set()).update(row.fingerprints)
    for model, found in builds.items():
        if len(found) > 1:
            yield f"{len(found)} builds of {model} answered in the pooled runs: {', '.join(sorted(found))}."


def _cached(comparison: Comparison) -> Iterator[str]:
    rows = comparison.pool.rows
    cached, answers = _sum(rows, "model.cached_answers"), _sum(rows, "model.answers")
    if cached:
        what = "they were paid for earlier, and latencies exclude them"
        yield f"{cached:g} of {answers:g} answers came from the cache: {what}."


def _wasted(comparison: Comparison) -> Iterator[str]:
    """Report the cost of dropped attempts, in pooled and in excluded runs; each run counts once."""
    rows = list({row.folder: row for row in (*comparison.pool.rows, *comparison.pool.left_out)}.values())
    answers, tokens = _sum(rows, "model.wasted_answers"), _sum(rows, "model.wasted_tokens")
    if answers:
        known = all(row.metrics.get("model.wasted_usd", 0) is not None for row in rows)
        money = f"{_sum(rows, 'model.wasted_usd'):.4g} USD" if known else "money unknown"
        sizes = f"{answers:,g}, with {tokens:,g} tokens, {money}"
        yield f"Answers of dropped attempts: {sizes}; no other figure includes them."


def _sum(rows: Sequence[Row], metric: str) -> float:
    return sum(row.metrics.get(metric) or 0 for row in rows)


def _boards(comparison: Comparison) -> Iterator[str]:
    if comparison.family is not None:
        return
    groups = list(comparison.groups.values())
    runs, boards = sum(len(group.rows) for group in groups), sum(len(set(group.boards)) for group in groups)
    if boards < runs:
        sizes = f"{runs} runs, {boards} boards in {len(groups)} groups"
        yield f"Runs with the same seed are one board, which counts once, with the mean of its runs: {sizes}."
    partial = sum(group.partial_boards for group in groups)
    if partial:
        how = "they count with the mean of the runs they have"
        yield f"{partial} boards lack runs that other boards of their group have: {how}."


def _family(comparison: Comparison) -> Iterator[str]:
    """Report which branches are compared with what."""
    family, baseline = comparison.family, comparison.baseline
    if family is None:
        return
    runs = {row.factors[PARENT] for row in comparison.pool.rows if row.origin is not None}
    found = _beginnings(comparison)
    yield f"The branches start at {_points(len(set().union(*found.values())))} of {_count(len(runs), 'run')}."
    if comparison.unit == "draws":
        board = "one run" if len(runs) == 1 else "runs with one seed"
        place = f"At each {comparison.across}, they" if comparison.across is not None else "They"
        over = "intervals are over draws at these branch points, and say nothing about other runs"
        yield f"{place} all start from {board}: {over}."
    if family.stand_ins:
        yield f"At {_points(family.stand_ins)}, the run itself serves as the branch without a change: it equals draw 0."
    control = found.get(str(baseline), {}).keys()
    for level, own in found.items():
        alone = len(own.keys() - control)
        if alone:
            counterpart = baseline_label(comparison)
            hint = " The runs themselves can serve as these: also give their folder." if baseline == NO_CHANGE else ""
            yield f"{level}: {alone} of its {_points(len(own))} lack {counterpart}, and are left out.{hint}"
    paired = {frozenset(own.keys() & control) for level, own in found.items() if level != baseline}
    if len(paired) > 1:
        situations = "their gains come from different situations"
        yield f"Not all changes were made at the same branch points of the same runs: {situations}."
    if family.aside:
        yield f"Left out: {_count(family.aside, 'run')} (no branch, and no substitute for one)."
    for text in family.versions[:_FEW]:
        yield f"A run and its branches have different versions: {text}."


def _draws(comparison: Comparison) -> Iterator[str]:
    """Report how often each change was drawn, and whether the continuation is random at all."""
    if comparison.family is None:
        return
    found = _beginnings(comparison)
    counts = {len(rows) for own in found.values() for rows in own.values()}
    if counts == {1}:
        yield "Each change has one draw at each branch point."
        return
    control = found.get(str(comparison.baseline), {})
    unequal = {
        place
        for own in found.values()
        for place, rows in own.items()
        if place in control and len(rows) != len(control[place])
    }
    if unequal:
        paired, averaged = "only draws that both have are paired", "each counts with the mean of its draws"
        times = f"{min(counts)} to {max(counts)} draws"
        how = paired if comparison.unit == "draws" else averaged
        yield f"At {_points(len(unequal))}, changes have unequal numbers of draws ({times}): {how}."
    if comparison.design.alike:
        yield "All draws of a change agree in every metric: nothing that follows is random, and draws count as one."


def _chance(comparison: Comparison) -> Iterator[str]:
    """Report how often each board was drawn, and for which levels the effect of chance is unknown."""
    if comparison.family is not None or DRAW in (*comparison.by, comparison.across):
        return
    groups = list(comparison.groups.values())
    counts = [(group.level, [len(draws) for draws in drawn_of(group).values()]) for group in groups]
    several = {level for level, sizes in counts if max(sizes) > 1}
    if several:
        boards = sum(len(sizes) for _, sizes in counts)
        lacking = sum(size < max(sizes) for _, sizes in counts for size in sizes)
        if lacking:
            how = "each counts with the mean of the draws it has"
            yield f"{lacking} of {boards} boards lack draws that other boards of their group have: {how}."
        if agree(groups):
            yield "All draws of a board agree in every metric: nothing in these runs is random."
    alone = {group.level for group in groups if group.level not in several and any(map(may_draw, group.rows))}
    if alone:
        of = f" of {', '.join(level for level in comparison.levels if level in alone)}" if several else ""
        yield (
            f"Each board{of} has one draw, and its minds are random: the effect of chance alone is unknown."
            " To measure it, add 'draw=range(0,3)' to the sweep."
        )


def _gaps(comparison: Comparison) -> Iterator[str]:
    """Report the differences that chance alone often exceeds."""
    for metric in comparison.metrics:
        found = [item for item in comparison.differences if item.metric == metric and item.mean.value]
        below = [item for item in found if abs(item.mean.value) < comparison.gap(item)]
        if below:
            places = decimals(item.mean for item in below)
            named = [
                f"{place_label(comparison, item.level, item.point)} ({item.mean.value:+.{places}f}, gap"
                f" {comparison.gap(item):.{places}f})"
                for item in below[:_FEW]
            ]
            more = f", and {len(below) - _FEW} more" if len(below) > _FEW else ""
            yield (
                f"{metric}: some differences are smaller than the A/A gap, which two sweeps of one team with one draw"
                f" per board exceed in 5 % of cases: {', '.join(named)}{more}."
            )


def _points(number: int) -> str:
    return _count(number, "branch point")


def _beginnings(comparison: Comparison) -> dict[str, dict[Beginning, list[Row]]]:
    """Return the branches that count, by level and by beginning."""
    found: dict[str, dict[Beginning, list[Row]]] = {}
    for row, level in zip(comparison.pool.rows, comparison.pool.levels, strict=True):
        found.setdefault(level, {}).setdefault(beginning(row), []).append(row)
    return found


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _differences(comparison: Comparison) -> Iterator[str]:
    one = comparison.unit[:-1]
    for metric in comparison.metrics:
        found = [item for item in comparison.differences if item.metric == metric]
        if found and not any(item.differing for item in found):
            yield f"{metric}: no {one} differs from {baseline_label(comparison)}."
    boards = max((item.mean.boards for item in comparison.differences), default=0)
    more = "seeds" if one == "board" else comparison.unit
    if boards and (least := smallest_p(boards)) > _LEVEL:
        yield (
            f"Differences are over at most {_count(boards, one)}: no p-value can be below {written(least)},"
            f" and no interval can have ends. To find a difference, add {more}."
        )


def _unused(comparison: Comparison) -> Iterator[str]:
    """Report factors that vary among runs whose minds do not use them."""
    without: dict[tuple[str, str, str], list[Row]] = {}
    for row in comparison.pool.rows:
        for group, why in row.unused.items():
            without.setdefault((group, written(value_of(row, "members")), why), []).append(row)
    for (group, agents, why), rows in without.items():
        keys = keys_of(row.factors for row in rows)
        if any(varies(key, rows) for key in keys if key.partition(".")[0] == group):
            yield f"agents={agents} {why}, so {group} changes no decision, but {len(rows)} runs differ in it."


def _design(comparison: Comparison) -> Iterator[str]:
    design = comparison.design
    if design.confounded:
        values = _values(design.confounded)
        yield f"Confounded with {heading(comparison)}: {values}. Each of these varies with the levels."
    if design.crossed:
        yield f"Pooled over, the same in every level: {_values(design.crossed)}."
    if design.pooled_over:
        yield f"Pooled over, different between levels: {_values(design.pooled_over)}."
    for metric in comparison.metrics:
        undefined = sum(len(group.rows) - len(group.values(metric)) for group in comparison.groups.values())
        if undefined:
            yield f"{metric} is not defined in {undefined} of {len(comparison.pool.rows)} runs, which are left out."
    empty = [
        f"{level} at {comparison.across} = {point}"
        for level in comparison.levels
        for point in comparison.points
        if (level, point) not in comparison.groups
    ]
    if empty:
        yield f"Without runs: {', '.join(empty[:_FEW])}{' ...' if len(empty) > _FEW else ''}."


def _values(factors: Mapping[str, Sequence[str]]) -> str:
    parts = []
    for name, values in factors.items():
        more = ", ..." if len(values) > _FEW else ""
        parts.append(f"{name} ({', '.join(sanitize(value, 40) for value in values[:_FEW])}{more})")
    return "; ".join(parts)
