"""The findings of a study in words: effects above the noise floor, and effects below it, which are findings too."""

from __future__ import annotations

import math
from collections.abc import Iterator

from maeil.metrics import METRICS
from quorum.comparison.findings import boards_needed, p_words, unit_of
from quorum.comparison.statistics.flips import LEVEL
from quorum.comparison.tables import SIMULATED, decimals, interval
from quorum.study.analysis import Analysis, Effect, tokens_of
from quorum.study.askable import not_told_from
from quorum.study.noise import NoiseVerdict
from quorum.study.play import Played
from quorum.study.question import BEST_OF, TREATMENT

_MANY = 1_000
"""Number of boards above which the effect that needs them is negligible."""
_PARTS = ("turns", "envelope", "content")
"""The parts of the effect of talk, which add up to the whole on every board."""


def findings(played: Played) -> list[str]:
    """Return the findings, a sentence or two each; the first answers the question."""
    analysis = played.analysis
    found = [
        *(_not_askable(analysis) or _effects(analysis)),
        *_noise(analysis),
        *_room(analysis),
        *_at_equal_tokens(analysis),
        *_prompts(played),
        *_missing(analysis),
    ]
    return [SIMULATED, *found] if analysis.simulated else found


def _not_askable(analysis: Analysis) -> list[str]:
    """Report that the team acts as without minds, so that no effect on it says anything; else nothing."""
    floors = not_told_from(analysis)
    if not floors:
        return []
    return [
        f"This question cannot be asked of this team: none of its arms differs from {' and '.join(floors)} in"
        f" {analysis.metric.title} over {analysis.boards} boards. Choose a world in which answers without a mind do"
        " better or worse, or another model."
    ]


def _effects(analysis: Analysis) -> Iterator[str]:
    if analysis.answer is None:
        yield "The question has no answer: an arm that it needs has no runs on the treatment's boards."
    for effect in analysis.effects:
        yield _sentence(analysis, effect)
        if effect is analysis.answer:
            yield from _parts(analysis)


def _sentence(analysis: Analysis, effect: Effect) -> str:
    found = effect.difference
    places = decimals([found.mean])
    size = interval(found.mean, places, signed=True)
    says = effect.file.says[:1].upper() + effect.file.says[1:]
    if BEST_OF in (effect.file.plus, effect.file.minus):
        says += f" ({analysis.tries})"
    unit = unit_of(analysis.metric.name)
    measured = f"{analysis.metric.title} {size}{unit}, p {p_words(found.p_holm)}, {found.mean.boards} boards"
    if not found.differing:
        return f"{says}: no board differs."
    if effect.verdict is NoiseVerdict.TOO_FEW:
        return f"{says}: too few boards for a verdict. {measured}."
    if effect.verdict is NoiseVerdict.ABOVE:
        better = (found.mean.value > 0) == (analysis.metric.better == "higher")
        return f"{says}: {'better' if better else 'worse'}. {measured}."
    needed = boards_needed(found) or 0
    within_reach = found.mean.boards < needed <= _MANY
    more = f" To find one of this size, you need about {needed} boards." if within_reach else ""
    return f"{says}: no effect above the noise floor. {measured}.{more}"


def _parts(analysis: Analysis) -> Iterator[str]:
    """Describe the parts of the effect of talk, if they are over the same boards, and the effect of true statements."""
    found = {effect.file.name: effect for effect in analysis.effects}
    parts = [found[name] for name in _PARTS if name in found]
    if "total" not in found or len(parts) < len(_PARTS):
        return
    total = found["total"].difference.mean
    if {part.difference.mean.boards for part in parts} == {total.boards}:
        said = ", ".join(f"{part.difference.mean.value:+.3g} from {part.file.says}" for part in parts)
        yield f"Talk as a whole gives {total.value:+.3g}{unit_of(analysis.metric.name)}: {said}."
    if "truth" in found and found["content"].verdict is NoiseVerdict.ABOVE:
        share = found["truth"].difference.mean.value / found["content"].difference.mean.value
        yield f"True statements instead of messages have {share:.0%} of the effect of what messages say."


def _noise(analysis: Analysis) -> Iterator[str]:
    if analysis.same is None or math.isnan(analysis.floor):
        yield "The noise floor is unknown: there are too few runs of the same team with other draws."
        return
    own = interval(analysis.same.mean, decimals([analysis.same.mean]), signed=True)
    yield (
        f"The noise floor is {analysis.floor:.3g}{unit_of(analysis.metric.name)}: the means of two equal arms differ by"
        f" more in 5 % of cases. The same team with other draws differs from itself by {own}."
    )


def _room(analysis: Analysis) -> Iterator[str]:
    if TREATMENT not in analysis.room:
        return
    found = analysis.room[TREATMENT]
    without = f" {found.without} of {found.boards + found.without} boards have no room." if found.without else ""
    if not found.boards:
        yield f"No board has room: the reference is never better than the silent team.{without}"
        return
    share = interval(found.share, 2)
    yield f"The team closes {share} of the room between the silent team and the reference with full knowledge.{without}"


def _at_equal_tokens(analysis: Analysis) -> Iterator[str]:
    """Report which arms differ from the treatment at the mean tokens of the cheapest arm with a model."""
    found = analysis.comparison.budgets
    if found is None:
        return
    metric = METRICS[found.metrics[0]]
    groups = {level: group for (level, _), group in analysis.comparison.groups.items()}
    spent = {arm: tokens_of(group) for arm, group in groups.items()}
    least = min(tokens for tokens in spent.values() if tokens > 0)
    budgets = found.budgets[None]
    place = min(range(1, len(budgets)), key=lambda place: abs(budgets[place] - least))
    others = {
        arm: line[place]
        for arm in groups
        if spent[arm] > 0 and (line := found.differences.get((metric.name, arm, None))) is not None
    }
    differ = [
        f"{arm} {interval(item.mean, decimals([item.mean]), signed=True)} (p {p_words(item.p_holm)})"
        for arm, item in others.items()
        if item.p_holm <= LEVEL
    ]
    start = f"At equal tokens ({budgets[place]:,.0f} per run)"
    if differ:
        yield f"{start}, {metric.title} differs from that of the treatment: {', '.join(differ)}."
    else:
        yield f"{start}, no arm differs significantly from the treatment in {metric.title}."


def _prompts(played: Played) -> Iterator[str]:
    audits = played.audits
    if played.not_audited:
        yield f"The prompts of control arms were not compared with the treatment's: {played.not_audited}."
    calls, equal = sum(audit.calls for audit in audits), sum(audit.equal for audit in audits)
    if calls:
        but = "except for the bytes of messages"
        yield f"The prompts of control arms equal the treatment's, {but}, in {equal} of {calls} calls."


def _missing(analysis: Analysis) -> Iterator[str]:
    for arm in analysis.study.arms:
        if (arm, None) not in analysis.comparison.groups:
            yield f"The arm {arm} has no run that counts."
    for arm, number in analysis.left_out.items():
        yield f"In the arm {arm}, {number} runs ended in an error and are left out."
