"""The tables of a study."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from maeil.metrics import METRICS
from quorum.comparison.differences import Difference
from quorum.comparison.factors import NONE
from quorum.comparison.formats import Table
from quorum.comparison.metrics import arrow
from quorum.comparison.tables import SIMULATED, coordination_table, decimals, interval, p_value, room_tables
from quorum.comparison.tables import tables as comparison_tables
from quorum.study.analysis import REFERENCE, SILENT, Analysis
from quorum.study.audit import ControlAudit
from quorum.study.play import Played


def tables(played: Played) -> list[Table]:
    """Return the tables: effects, arms, room, and those of a comparison of the arms."""
    analysis = played.analysis
    between = replace(analysis.comparison, baseline=SILENT, room=REFERENCE, metrics=(analysis.metric.name,))
    own = [_effects(analysis), *room_tables(between), *_acted(analysis), *_prompts(played.audits), _arms(analysis)]
    single = analysis.study.question.single
    if single in analysis.comparison.levels:
        own += coordination_table(replace(analysis.comparison, baseline=single))
    if analysis.simulated:
        own = [replace(table, caption=f"{table.caption} {SIMULATED}".lstrip()) for table in own]
    return [*own, *comparison_tables(analysis.comparison)]


def _effects(analysis: Analysis) -> Table:
    found = analysis.effects
    places = decimals(effect.difference.mean for effect in found)
    rows = tuple(
        (one.file.name, f"{one.file.plus} - {one.file.minus}", *_paired(one.difference, places), str(one.verdict))
        for one in found
    )
    caption = (
        f"Noise floor: {'unknown' if math.isnan(analysis.floor) else f'{analysis.floor:.{places}f}'}. Mean paired"
        " difference over boards with its 95 % interval; p by the sign-flip test: the first row answers the question,"
        " and the others are corrected by Holm. Found: p (Holm) is at most 0.05, and the difference is greater than the"
        " floor if it is known. Two equal arms differ by more than the floor in at most 5 % of cases."
    )
    if analysis.study.until is not None:
        caption += (
            " p and interval of the first row are by bets on its mean, and hold however often you look at the study;"
            " those of the others are as if you had planned these boards."
        )
    header = ("effect", "arms", "boards", "difference", "p", "p (Holm)", "verdict")
    name = analysis.metric.name
    return Table(f"{name}{arrow(name)}: effects", header, rows, caption, labels=2, name="effects")


def _paired(found: Difference, places: int) -> tuple[str, ...]:
    """Return the cells of a paired difference: its boards, its size, and its p-values."""
    return str(found.mean.boards), interval(found.mean, places, signed=True), p_value(found.p), p_value(found.p_holm)


def _acted(analysis: Analysis) -> Iterator[Table]:
    """Yield the effects over the steps in which talk can have had an effect."""
    if not analysis.acted:
        return
    rows = tuple(
        (found.level, METRICS[found.metric].title, *_paired(found, decimals([found.mean]))) for found in analysis.acted
    )
    caption = (
        "Covers the steps before which somebody had read a message. The arm itself may affect which steps these are, so"
        " no finding rests on this table."
    )
    header = ("effect", "metric", "boards", "difference", "p", "p (Holm)")
    yield Table("effects in the steps that talk can have influenced", header, rows, caption, labels=2, name="acted")


def _prompts(audits: Sequence[ControlAudit]) -> Iterator[Table]:
    """Yield the comparison of the prompts of control arms with those of the treatment."""
    arms: dict[str, list[ControlAudit]] = {}
    for audit in audits:
        arms.setdefault(audit.arm, []).append(audit)
    if not arms:
        return
    rows = []
    for arm, own in arms.items():
        counts = [sum(getattr(a, name) for a in own) for name in ("calls", "equal", "altered", "missing")]
        digests = (f"{a.treatment[:8]} {'=' if a.treatment == a.control else '/'} {a.control[:8]}" for a in own)
        rows.append((arm, *map(str, counts), ", ".join(digests)))
    caption = (
        f"{len(audits) // len(arms)} runs of the treatment, played again with their recorded answers and the messages"
        " of each arm. Equal: the same except for the bytes of messages. Altered: the arm changed what agents read."
        " Missing: calls that a mind makes only after reading something. Digests cover all prompts, without message"
        " bytes."
    )
    header = ("arm", "calls", "equal", "altered", "missing", "digests, treatment and arm")
    yield Table("prompts of control arms", header, tuple(rows), caption, name="prompts")


def _arms(analysis: Analysis) -> Table:
    """Return the description of each arm, or the reason why it was not played."""
    study = analysis.study
    rows = [
        (name, arm.says, " ".join(arm.words) or NONE, ", ".join(map(str, arm.draws)))
        for name, arm in study.arms.items()
    ]
    rows += [(name, "not played", reason, NONE) for name, reason in study.skipped.items()]
    return Table("arms", ("arm", "description", "words", "draws"), tuple(rows), labels=3)
