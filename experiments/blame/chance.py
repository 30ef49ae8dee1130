"""The baselines of attribution, which look at nothing: a turn that is drawn at random, and always the first one."""

from __future__ import annotations

import numpy as np

from quorum.experiments.blame.transcript import Transcript
from quorum.experiments.blame.verdict import Verdict

CHANCE = "chance"
FIRST = "first"


def by_chance(transcript: Transcript, rng: np.random.Generator) -> Verdict:
    """Draw one of the turns in which something was decided, each as likely as the others.

    Args:
        transcript: of the run.
        rng: for the draw.
    """
    turns = [turn for turn in transcript.turns if turn.decides]
    if not turns:
        return Verdict(CHANCE, None, None, reason="nobody decides anything")
    drawn = turns[int(rng.integers(len(turns)))]
    return Verdict(CHANCE, drawn.agent, drawn.t, drawn.t_hat, confidence=1 / len(turns))


def by_first(transcript: Transcript) -> Verdict:
    """Name the first turn in which something was decided: right where faults that count are done early.

    Args:
        transcript: of the run.
    """
    turn = next((turn for turn in transcript.turns if turn.decides), None)
    if turn is None:
        return Verdict(FIRST, None, None, reason="nobody decides anything")
    return Verdict(FIRST, turn.agent, turn.t, turn.t_hat)
