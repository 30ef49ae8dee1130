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


@dataclass(slots=True)
class Pairs:
    """The pairs of several decisions, and what did not become a pair.

    Attributes:
        design: what was measured.
        runs: number of runs.
        rows: the pairs, as rows of a data set.
        origins: for each pair, the number of its decision.
        decisions: number of decisions whose measurement is complete.
        unfinished: number of others.
        answers: number of distinct answers, including the recorded ones.
        ties: number of pairs of distinct answers with equal mean outcomes.
        unusable: number of sampled replies that are no answers of the requested form.
    """

    design: Design
    runs: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    decisions: int = 0
    unfinished: int = 0
    answers: int = 0
    ties: int = 0
    unusable: int = 0

    def add(self, experiment: Experiment, found: Findings) -> None:
        """Add the pairs of a decision, if its measurement is complete."""
        if not found.complete:
            self.unfinished += 1
            return
        design, replies, pairs = self.design, len(found.replies), experiment.pairs(found)
        self.decisions += 1
        self.answers += replies
        self.unusable += found.unusable
        self.ties += replies * (replies - 1) // 2 - len(pairs)
        for chosen, rejected in pairs:
            row = {**_columns(experiment), "chosen": _answer(found, chosen), "rejected": _answer(found, rejected)}
            for prefix, draws in (("", design.choosing), ("fresh_", design.again)):
                if draws:
                    row |= margin(found.differences(design, chosen, rejected, draws), design.outcome, prefix)
            self.rows.append({**row, "metric": design.outcome})
            self.origins.append(self.decisions)

    def mean(self, column: str) -> Estimate:
        """Return the mean of a column; its interval is over decisions, because pairs of one decision share answers."""
        return estimate(np.array([row[column] for row in self.rows]), boards=np.array(self.origins))


def margin(differences: Sequence[float], metric: str, prefix: str = "") -> dict[str, float | None]:
    """Return the mean of differences by draw and the ends of its paired 95 % interval, as columns of a data set.

    An end is None with too few draws.
    """
    found = np.array(differences)
    low, high = sign_flip_interval(found, share=METRICS[metric].rate)
    ends = {"low": None if math.isnan(low) else low, "high": None if math.isnan(high) else high}
    columns = {"margin": float(found.mean()), **ends, "draws": len(found)}
    return {f"{prefix}{name}": value for name, value in columns.items()}


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
