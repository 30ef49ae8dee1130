"""What `quorum blame` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quorum.experiments.blame.kinds import WORDS
from quorum.experiments.blame.search import Blame, Claim
from quorum.experiments.blame.shapley import Share

_MOST = 8
"""Flips and sets that are shown."""


def lines(blame: Blame) -> Iterator[str]:
    """Tell what was found of a run, line by line."""
    end = blame.ending
    goals = f", {end.reached} of {end.goals} goals" if end.goals else f", score {end.score:g}"
    yield f"{blame.run}: {end.outcome} after {end.steps} steps{goals}"
    if not blame.failed:
        yield f"a success ({blame.question.success.text}): nobody is to blame"
        yield "to ask why it was not better: --success 'steps<=N' or 'score>=X'"
        return
    verdict = blame.verdict
    if verdict.agent is None:
        yield f"verdict: {verdict.reason}"
    else:
        tally = blame.claims[0].flip.tally
        low, high = tally.interval
        how = "exact" if blame.exact else f"{tally.wins} of {tally.draws} draws, 95 % interval {low:.2f} to {high:.2f}"
        sure = f"confidence {verdict.confidence:g}, {how}" if verdict.confidence is not None else "one draw: --draws K"
        what = WORDS.get(verdict.kind, verdict.kind)
        yield f"verdict: {verdict.agent} at step {verdict.t} (time {verdict.t_hat:g}): {what} [{verdict.kind}] ({sure})"
    yield (
        f"{blame.decisions} decisions, {blame.candidates} of which {blame.reference} would have made otherwise; "
        f"{blame.reruns} re-runs" + (f", {blame.calls} calls, {blame.usd:.4f} USD" if blame.calls else "")
    )
    yield from _claims(blame.claims)
    yield from _shares(blame)
    for note in blame.notes:
        yield f"notice: {note}"


def _claims(claims: Sequence[Claim]) -> Iterator[str]:
    if claims:
        yield "corrections that make it a success, the earliest first:"
    for claim in claims[:_MOST]:
        one = claim.flip.decision
        how = "from then on" if claim.flip.persists else "this turn"
        yield f"  {one.agent} at {one.instant}: {WORDS[claim.kind]} ({how})"
        yield f"    {claim.command}"
    if len(claims) > _MOST:
        yield f"  and {len(claims) - _MOST} more: --json has all"


def _shares(blame: Blame) -> Iterator[str]:
    work = blame.teamwork
    if work is None or not work.success:
        return
    how = "all coalitions" if work.exact else "sampled, with 95 % intervals"
    yield f"shares of the agents when {blame.reference} decides for them from step {work.at} on ({how}):"
    measure = blame.question.success.measure
    rows = [("  agent", "success", measure)]
    for name, success, graded in zip(work.players, work.success, work.graded, strict=True):
        rows.append((f"  {name}", _share(success, exact=work.exact), _share(graded, exact=work.exact)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for names, command in list(zip(work.sets, blame.sets, strict=True))[:_MOST]:
        yield f"  enough together: {', '.join(names)}"
        yield f"    {command}"
    if len(work.sets) > _MOST:
        yield f"  and {len(work.sets) - _MOST} more sets: --json has all"


def _share(share: Share, *, exact: bool) -> str:
    return f"{share.value:+.3f}" if exact else f"{share.value:+.3f} [{share.low:+.3f}, {share.high:+.3f}]"
