"""How verdicts are held against labels."""

from __future__ import annotations

import pytest

from quorum.experiments.blame.accuracy import Accuracy, Share, Truth
from quorum.experiments.blame.verdict import Verdict

TRUTH = Truth("run", "cube", "late", "agent_1", 10, 40)


def judged(*verdicts: Verdict, steps: int = 3) -> Accuracy:
    return Accuracy.of([(TRUTH, verdict) for verdict in verdicts], steps)


def test_agent_and_step_are_counted_each_for_itself_and_together() -> None:
    found = judged(
        Verdict("m", "agent_1", 10),
        Verdict("m", "agent_1", 4),
        Verdict("m", "agent_0", 10),
        Verdict("m", "agent_1", 13),
    )
    assert [share.hits for share in (found.agent, found.step, found.near, found.both)] == [3, 2, 3, 1]


def test_who_names_nobody_is_wrong_and_counts() -> None:
    found = judged(Verdict("m", None, None), Verdict("m", "agent_1", 10))
    assert (found.agent, found.step, found.near, found.both) == (Share(1, 2),) * 4


def test_what_a_method_takes_is_told_in_the_mean() -> None:
    found = judged(Verdict("m", None, None, reruns=3, calls=8), Verdict("m", None, None, reruns=4))
    assert (found.reruns, found.calls) == (3.5, 4)


@pytest.mark.parametrize(
    ("hits", "episodes", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662), (0, 0, 0.0, 1.0)],
)
def test_intervals_are_those_of_wilson(hits: int, episodes: int, low: float, high: float) -> None:
    """The third is the example of Newcombe (1998), table I, method 3."""
    assert Share(hits, episodes).interval == pytest.approx((low, high), abs=5e-5)
