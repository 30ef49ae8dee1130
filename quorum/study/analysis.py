"""Analyse the runs of a study: its effects against the noise floor, the room that arms close, the cost of both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import comb
from statistics import fmean

import numpy as np

from maeil.metrics import METRICS, Metric
from quorum.comparison import Comparison, Group, Question, compare
from quorum.comparison.budgets import budget_curves
from quorum.comparison.differences import Cells, Difference, Pairing, differences
from quorum.comparison.statistics.intervals import Floats
from quorum.comparison.statistics.room import RoomClosed, rooms_closed
from quorum.runs import Results, Row
from quorum.study.anytime import Plan, anytime_interval, evidence
from quorum.study.noise import NoiseVerdict, noise_floor, noise_verdict
from quorum.study.question import AGAIN, BEST_OF, TREATMENT, EffectFile
from quorum.study.study import Study
from quorum_base.user_errors import UserError

ACTED = ("communication.gain_after_talk", "communication.attempts_after_talk")
"""Metrics over the steps in which talk can have had an effect."""
SILENT, REFERENCE, SOLO = "silent", "reference", "solo"


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect.

    Attributes:
        file: its definition.
        difference: difference of its two arms over the same boards. The first effect answers the question and is tested
            alone; Holm's method corrects p of the others.
        verdict: whether it is above the noise floor.
    """

    file: EffectFile
    difference: Difference
    verdict: NoiseVerdict


@dataclass(frozen=True, slots=True)
class Analysis:
    """The results of a study.

    Attributes:
        study: the study.
        comparison: its arms, each a level, with `treatment` as the baseline.
        metric: the main metric.
        effects: in the order of the question; effects of arms that were not played are missing.
        same: the treatment against itself, in other draws; None without such runs.
        floor: the noise floor: a mean difference that two equal arms exceed in 5 % of cases; NaN if it is unknown.
        tries: number of tries of one mind that cost as much as the team; the best of them makes the arm `best_of`.
        room: the share of the room that each arm closes, by arm; empty without a reference.
        acted: differences over the steps before which some agent had read a message, for effects with such steps in
            both arms; the level of each is the name of the effect.
        left_out: number of runs that ended with an error or are missing, by arm.
    """

    study: Study
    comparison: Comparison
    metric: Metric
    effects: tuple[Effect, ...]
    same: Difference | None
    floor: float
    tries: int
    room: Mapping[str, RoomClosed]
    acted: tuple[Difference, ...]
    left_out: Mapping[str, int]

    @property
    def simulated(self) -> bool:
        """Whether a simulated model answered in some arm."""
        return bool(self.comparison.simulated)

    @property
    def answer(self) -> Effect | None:
        """The effect that answers the question; None if its arms have no runs."""
        first = self.effects[:1]
        return first[0] if first and first[0].file == self.study.question.effects[0] else None

    @property
    def boards(self) -> int:
        """Number of boards on which the treatment has runs."""
        return len(set(self.comparison.groups[TREATMENT, None].boards.tolist()))

    def by_board(self, metric: str) -> Floats:
        """Return the differences of a metric that answer the question, one per board, in the order of the seeds.

        Boards are added in that order; shape (boards,).
        """
        first = self.study.question.effects[0]
        plus, minus = (self.comparison.groups.get((arm, None)) for arm in (first.plus, first.minus))
        if plus is None or minus is None:
            return np.array([])
        return _by_board(plus.cells(metric), minus.cells(metric))


def _anytime(found: Difference, boards: Floats, metric: Metric, planned: Plan | None) -> Difference:
    """Return a difference with the anytime-valid p-value and interval."""
    p = 1 / evidence(boards, planned, share=metric.rate)
    low, high = anytime_interval(boards, planned, share=metric.rate)
    # A rejected centre stays rejected, so the mean itself can end up outside. A wider interval is valid as well.
    mean = replace(found.mean, low=min(low, found.mean.value), high=max(high, found.mean.value))
    return replace(found, p=p, p_holm=p, mean=mean)


def compare_arms(study: Study, results: Results, seeds: Collection[int]) -> Comparison:
    """Compare the arms of a study on some boards, with the treatment as the baseline if other arms have runs.

    Raises:
        UserError: no run counts, or the runs come from different versions of the code.
    """
    own = replace(results, rows=tuple(row for row in results.rows if _belongs(row, study, seeds)))
    alone = {row.arm for row in own.rows if row.pooled} <= {TREATMENT}
    baseline = None if alone else TREATMENT
    accepted = study.request.accept_versions
    return compare([own], Question(("arm",), "none", study.metrics, baseline=baseline, accept_versions=accepted))


def analyse(study: Study, results: Results, seeds: Collection[int]) -> Analysis:
    """Analyse the runs of a study.

    Args:
        study: the study.
        results: results of its folder.
        seeds: the boards that count.

    Raises:
        UserError: no run of the treatment counts, or the runs come from different versions of the code.
    """
    comparison = compare_arms(study, results, seeds)
    if study.question.equal:
        with suppress(UserError):  # no arm has spent any
            comparison = replace(comparison, budgets=budget_curves(comparison, study.question.equal))
    metric = METRICS[study.metrics[0]]
    groups = {level: group for (level, _), group in comparison.groups.items()}
    cells = {level: group.cells(metric.name) for level, group in groups.items()}
    tries = _tries(groups, cells.get(SOLO, {}))
    if tries:
        cells[BEST_OF] = {cell: [best_of(values, tries, metric)] for cell, values in cells[SOLO].items()}
    found = judge(study.question.effects, cells, metric, study.planned, anytime=study.until is not None)
    return Analysis(
        study=study,
        comparison=comparison,
        metric=metric,
        effects=found.effects,
        same=found.same,
        floor=found.floor,
        tries=tries,
        room=rooms_closed(cells, SILENT, REFERENCE, lower_is_better=metric.better == "lower"),
        acted=tuple(_acted(study.question.effects, groups)),
        left_out={level: len(group.left_out) for level, group in groups.items() if group.left_out},
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """Effects with their verdicts against the noise floor.

    Attributes:
        effects: in order; effects of arms without runs are missing.
        same: the treatment against itself, in other draws; None without such runs.
        floor: the noise floor; NaN if it is unknown.
    """

    effects: tuple[Effect, ...]
    same: Difference | None
    floor: float


def judge(
    files: Sequence[EffectFile],
    cells: Mapping[str, Cells],
    metric: Metric,
    planned: Plan | None = None,
    *,
    anytime: bool = False,
) -> Judged:
    """Compare effects with the noise floor.

    Args:
        files: the effects; the first one is tested alone, the others are corrected by Holm's method.
        cells: the values of each arm, by board.
        metric: the metric.
        planned: what was expected of the first effect.
        anytime: whether p and interval of the first effect must be valid however often the study is looked at.
    """
    there = [file for file in files if file.plus in cells and file.minus in cells]
    pairings = [Pairing(file.name, None, cells[file.plus], cells[file.minus]) for file in there]
    alone = int(files[0] in there)  # without the first effect's arms, no other becomes the answer
    found = [*differences(metric, pairings[:alone]), *differences(metric, pairings[alone:])]
    if anytime and alone:
        found[0] = _anytime(found[0], _by_board(pairings[0].level_cells, pairings[0].baseline_cells), metric, planned)
    noise, same = np.array([]), None
    if AGAIN in cells:
        noise = _by_board(cells[AGAIN], cells[TREATMENT])
        same = differences(metric, [Pairing(AGAIN, None, cells[AGAIN], cells[TREATMENT])])[0]
    effects = (
        Effect(file, difference, noise_verdict(difference.mean.value, difference.p_holm, difference.differing, noise))
        for file, difference in zip(there, found, strict=True)
    )
    return Judged(tuple(effects), same, noise_floor(noise))


def _belongs(row: Row, study: Study, seeds: Collection[int]) -> bool:
    arm = study.arms.get(row.arm or "")
    return arm is not None and row.seed in seeds and row.factors.get("draw", 0) in arm.draws


def tokens_of(group: Group) -> float:
    """Return the mean number of tokens that a run of a group reads and writes; NaN without model calls."""
    return sum(map(group.mean, ("model.prompt_tokens", "model.completion_tokens")))


def _tries(groups: Mapping[str, Group], tried_on: Cells) -> int:
    """Return how many tries of the single mind cost as many tokens as the team, at most those played; 0 for none."""
    if not tried_on:
        return 0
    team, one = (tokens_of(groups[arm]) for arm in (TREATMENT, SOLO))
    tried = min(map(len, tried_on.values()))
    return int(np.clip(round(team / one), 1, tried)) if one > 0 and team > 0 else tried


def best_of(values: Sequence[float], tries: int, metric: Metric) -> float:
    """Return the expected best of `tries` tries: the mean over all choices of that many values.

    Of n values in ascending order, the i-th is the greatest of C(i - 1, k - 1) of the C(n, k) choices of k.

    Args:
        values: values of one board, at least as many as tries.
        tries: k.
        metric: defines which values are better.
    """
    ordered = sorted(values, reverse=metric.better == "lower")
    ways = comb(len(ordered), tries)
    return sum(value * comb(place, tries - 1) / ways for place, value in enumerate(ordered))


def _by_board(plus: Cells, minus: Cells) -> Floats:
    """Return the mean difference of each board that both have, shape (boards,), in the order of the seeds."""
    boards = sorted(plus.keys() & minus.keys(), key=lambda cell: (cell[0], repr(cell)))
    return np.array([fmean(plus[board]) - fmean(minus[board]) for board in boards])


def _acted(files: Sequence[EffectFile], groups: Mapping[str, Group]) -> Iterator[Difference]:
    """Yield the differences over the steps in which talk can have had an effect, metric by metric."""
    for name in ACTED:
        cells = {arm: found for arm, group in groups.items() if (found := group.cells(name))}
        there = [file for file in files if {file.plus, file.minus} <= cells.keys()]
        yield from differences(METRICS[name], [Pairing(f.name, None, cells[f.plus], cells[f.minus]) for f in there])
