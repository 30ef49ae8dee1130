"""Simulated runs without a cause: every change saves the run by luck alone. How often does the search name somebody?

    python -m benchmarks.attribution.luck --runs 100

No world is played. A run has 60 turns of two agents, and the reference policy decides 2 to 12 of them differently.
Each change saves the run with the same probability, drawn from its actions, so a re-run ends the same way every time.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from benchmarks.attribution.score import SURE
from maeil.mind import Act
from quorum.agents.llm.spending import Spent
from quorum.what_if.blame.decisions import Choice, Decision, Decisions
from quorum.what_if.blame.ending import FINISHED, Ending, Success
from quorum.what_if.blame.reruns import Correction
from quorum.what_if.blame.search import verdict_of
from quorum.what_if.blame.trials import Experiment

SHARES = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Probabilities that a change saves the run."""
TURNS = 60
TEAM = ("agent_0", "agent_1")
WAIT = {"action": "wait", "steps": 1}


@dataclass
class Luck:
    """Stands for the attempts of a search.

    Attributes:
        share: probability that a change saves the run.
        seed: of the run.
    """

    share: float
    seed: int
    success: Success = FINISHED
    known: set[str] = field(default_factory=set)
    spent: Spent = field(default_factory=Spent)

    def ending(self, correction: Correction) -> Ending:
        """Draw how the run ends with a change."""
        lucky = random.Random(f"{self.seed} {correction.key}").random() < self.share
        return Ending("success" if lucky else "truncated", TURNS)


def names_somebody(share: float, seed: int, *, exact: bool) -> bool:
    """Return whether the search names an agent with a probability of at least `SURE`."""
    wrong = 2 + seed % 11
    turns = []
    for t in range(TURNS):
        own, other = (Choice(({"action": f"{who}_{t}"},), None, False, ()) for who in ("own", "other"))
        acts = frozenset({Act.PLAN})
        turns.append(Decision(TEAM[t % 2], t, t, acts, own, other if t < wrong else own, heard=False))
    attempts: Any = Luck(share, seed)
    search = Experiment(Decisions(tuple(turns)), TEAM, attempts, turns[:wrong], WAIT, exact=exact)
    search.run(None)
    reruns: Any = SimpleNamespace(reference=SimpleNamespace(players=TEAM, label="reference"), command=lambda *_: "")
    found = verdict_of(search, (), reruns, lambda _: "idle", TURNS)
    return found.agent is not None and (found.probability or 0.0) >= SURE


def table(runs: int) -> Iterator[str]:
    """Yield a row for each probability: how many runs name somebody, with exact re-runs and with draws."""
    yield "| probability that a change saves the run | exact re-runs | with draws |"
    yield "|---|---|---|"
    for share in SHARES:
        exact, drawn = (
            sum(names_somebody(share, seed, exact=is_so) for seed in range(runs)) for is_so in (True, False)
        )
        yield f"| {share:g} | {exact} of {runs} | {drawn} of {runs} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    for line in table(parser.parse_args().runs):
        print(line)
