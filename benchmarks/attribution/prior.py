"""Estimates the two prior values of `quorum blame` from recorded experiments of the open half.

    python -m benchmarks.attribution prior open.jsonl

- `ANYWAY`, the shape of the Beta distribution of the probability that a correction helps although its turn is not the
  cause: the maximum of the likelihood of all trials in failures without a fault.
- `NOBODY`, the prior probability that no single decision is the cause: the maximum of the mean log score of the
  posterior, in which failures with and without a fault weigh the same. The truth of a planted fault is its decision, or
  none if the reference policy decides it in the same way.

Both are estimates for a population in which every second failure has a single cause: no benchmark knows how many of
your failures have one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from statistics import fmean

import numpy as np

from benchmarks.attribution.methods import Evidence, Trials
from benchmarks.attribution.score import Record
from quorum.what_if.blame.posterior import Tally, beta, likelihoods
from quorum.what_if.blame.trials import Suspect, chances

SHAPES = tuple(product((0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0), (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)))
"""Shapes of the Beta distribution to compare."""
PRIORS = tuple(number / 20 for number in range(1, 20))
"""Prior probabilities of none to compare."""


def estimate(records: Sequence[Record]) -> Iterator[str]:
    """Yield the estimates, and how the mean log score and the likelihood depend on the values."""
    seen = [(one, found) for one in records for answer in one.answers if (found := answer.evidence) is not None]
    free = [found for one, found in seen if one.label is not None and one.label.agent is None]
    fits = {shape: sum(none_likelihood(found, shape) for found in free) for shape in SHAPES}
    anyway = max(fits, key=lambda shape: fits[shape])
    yield f"failures without a fault: {len(free)} experiments; with one: {len(seen) - len(free)}"
    yield f"ANYWAY = {anyway}, log likelihood {fits[anyway]:.1f}"
    for shape, fit in sorted(fits.items(), key=lambda pair: -pair[1])[1:6]:
        yield f"  {shape}: {fit - fits[anyway]:.1f}"
    scores = {nobody: score(seen, nobody, anyway) for nobody in PRIORS}
    yield f"NOBODY = {max(scores, key=lambda nobody: scores[nobody]):g}"
    for nobody, value in scores.items():
        yield f"  {nobody:g}: mean log score {value:.3f}"


def none_likelihood(found: Evidence, anyway: tuple[float, float]) -> float:
    """Return the log likelihood of the trials of single decisions if none of them is the cause."""
    singles, _ = suspects_of(found)
    helpful, useless = likelihoods([(one.corrected, one.placebo) for one in singles])
    points, weights = beta(anyway)
    each = np.log(helpful[..., None] * points + useless[..., None] * (1 - points))
    logs = each.sum(0) + found.same * np.log1p(-points)
    return float(np.log((np.exp(logs) * weights).sum(-1).mean()))


def score(seen: Sequence[tuple[Record, Evidence]], nobody: float, anyway: tuple[float, float]) -> float:
    """Return the mean log score of the posterior, with the same weight for failures with and without a fault."""
    logs: dict[bool, list[float]] = {True: [], False: []}
    for record, found in seen:
        label = record.label
        if label is None:
            continue
        singles, joint = suspects_of(found)
        *each, none = chances(singles, joint, found.same, exact=found.exact, nobody=nobody, anyway=anyway)
        right = [
            chance
            for one, chance in zip(_singles(found), each, strict=False)
            if (one.agent, one.t) == (label.agent, label.t)
        ]
        logs[label.agent is None].append(math.log(max(sum(right) if right else none, 1e-6)))
    return fmean(fmean(part) for part in logs.values() if part)


def _singles(found: Evidence) -> list[Trials]:
    return [one for one in found.trials if not one.joint]


def suspects_of(found: Evidence) -> tuple[list[Suspect], list[Suspect]]:
    """Return the single suspects, the untried ones last, and the joint ones."""
    singles, joint = ([_suspect(one) for one in found.trials if one.joint is joint] for joint in (False, True))
    return [*singles, *(Suspect(()) for _ in range(found.untried))], joint


def _suspect(one: Trials) -> Suspect:
    return Suspect((), corrected=Tally(*one.corrected), placebo=Tally(*one.placebo))
