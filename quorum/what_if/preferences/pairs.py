"""Preference pairs: two answers to one prompt, and how much better the episode went on with the chosen one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maeil.metrics import METRICS
from quorum.comparison.statistics.flips import sign_flip_interval
from quorum.comparison.statistics.intervals import Estimate, estimate
from quorum.what_if.preferences.decisions import digest_of
from quorum.what_if.preferences.design import Design
from quorum.what_if.preferences.experiment import Experiment, Findings


@dataclass(frozen=True, slots=True)
class Margin:
    """How much better the chosen answer is, in units of the metric.

    Attributes:
        mean: mean over draws.
        low: lower end of its paired 95 % interval over draws; None with too few draws.
        high: upper end.
        draws: number of draws.
    """

    mean: float
    low: float | None
    high: float | None
    draws: int

    @classmethod
    def of(cls, differences: Sequence[float], *, rate: bool) -> Margin:
        """Return the margin of differences by draw."""
        found = np.array(differences)
        low, high = (None if math.isnan(end) else end for end in sign_flip_interval(found, share=rate))
        return cls(float(found.mean()), low, high, len(found))

    def columns(self, prefix: str = "") -> dict[str, float | None]:
        """Return it as columns of a data set."""
        return {
            f"{prefix}margin": self.mean,
            f"{prefix}low": self.low,
            f"{prefix}high": self.high,
            f"{prefix}draws": self.draws,
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """A preference pair.

    Attributes:
        experiment: number of its decision among all.
        row: its row in the data set.
        margin: its margin in the draws that chose the answer.
        fresh: its margin in fresh draws; None if there were none.
    """

    experiment: int
    row: dict[str, Any]
    margin: Margin
    fresh: Margin | None


@dataclass(slots=True)
class Pairs:
    """The pairs of several decisions, and what did not become a pair.

    Attributes:
        design: what was measured.
        runs: number of runs.
        pairs: the pairs.
        decisions: number of decisions whose measurement is complete.
        unfinished: number of others.
        answers: number of distinct answers, including the recorded ones.
        ties: number of pairs of distinct answers with equal mean outcomes.
        unusable: number of sampled replies that are no answers of the requested form.
    """

    design: Design
    runs: int
    pairs: list[Pair] = field(default_factory=list)
    decisions: int = 0
    unfinished: int = 0
    answers: int = 0
    ties: int = 0
    unusable: int = 0

    def add(self, number: int, experiment: Experiment, found: Findings) -> None:
        """Add the pairs of a decision, if its measurement is complete."""
        if not found.complete:
            self.unfinished += 1
            return
        design, rate = self.design, METRICS[self.design.outcome].rate
        chosen = experiment.pairs(found)
        replies = len(found.replies)
        self.decisions += 1
        self.answers += replies
        self.unusable += found.unusable
        self.ties += replies * (replies - 1) // 2 - len(chosen)
        for better, worse in chosen:
            margin = Margin.of(found.differences(design, better, worse, design.choosing), rate=rate)
            fresh = None
            if design.fresh:
                fresh = Margin.of(found.differences(design, better, worse, design.again), rate=rate)
            row = {
                **_columns(experiment),
                "chosen": _answer(found, better),
                "rejected": _answer(found, worse),
                **margin.columns(),
                **(fresh.columns("fresh_") if fresh is not None else {}),
                "metric": design.outcome,
            }
            self.pairs.append(Pair(number, row, margin, fresh))

    def mean_margins(self) -> tuple[Estimate, Estimate | None]:
        """Return the mean margin over pairs in the draws that chose the answers, and in fresh ones.

        The intervals are over decisions, because the pairs of one decision share answers.
        """
        boards = np.array([pair.experiment for pair in self.pairs])
        first = estimate(np.array([pair.margin.mean for pair in self.pairs]), boards=boards)
        fresh = [pair.fresh.mean for pair in self.pairs if pair.fresh is not None]
        return first, estimate(np.array(fresh), boards=boards) if fresh else None


def _columns(experiment: Experiment) -> dict[str, Any]:
    """Return the prompt of a decision, and where it comes from."""
    parent, decision = experiment.parent, experiment.decision
    call, c = decision.call, parent.configuration
    return {
        "prompt": [{"role": said["role"], "content": said["content"]} for said in call["request"]["messages"]],
        "prompt_digest": digest_of(call),
        "run": parent.name,
        "board": c.seed,
        "n": c.n,
        "world": c.env.name,
        "topology": c.topology.name,
        "agent": decision.agent,
        "turn": ",".join(call.get("turn", ())),
        "step": decision.instant.t,
        "model": call["reply"]["model"],
        "simulated": call["reply"]["simulated"],
    }


def _answer(found: Findings, digest: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": found.replies[digest]["text"]}]
