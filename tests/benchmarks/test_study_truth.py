"""Studies of a world in which the truth is known find it: the benchmark in small, and that its truth is one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import pytest

from benchmarks.doors import CONTENT, HONEST, STEPS, TRUTH, Doors, Guesser, Listener, Open, Wait
from benchmarks.study_truth import ARMS, measure, play
from maeil.testing import check_world


def points(team: type[Guesser], arm: str, seed: int) -> float:
    return asyncio.run(play(team, ARMS[arm], seed))


def free(board: Mapping[str, Any]) -> int:
    """Return how many of the right doors of a board open."""
    return 2 * STEPS - sum(map(sum, board["stuck"]))


def test_the_world_keeps_the_contract() -> None:
    check_world(Doors(), actions=[Open(door=1), Open(door=2), Wait()], seeds=range(4), steps=STEPS)


def test_the_true_effects_are_those_of_the_boards() -> None:
    """Who reads the truth opens every right door that does not stick, and who guesses one of them in so many."""
    gains = [free(board) * (1 - 1 / board["doors"]) for board in map(Doors().reset, range(1_000))]
    assert fmean(gains) == pytest.approx(TRUTH, abs=0.15)  # three standard errors
    assert pytest.approx(HONEST * TRUTH) == CONTENT


def test_who_does_what_it_reads_misses_no_point_with_true_statements() -> None:
    for seed in range(10):
        assert points(Listener, "truth", seed) == free(Doors().reset(seed))


def test_without_content_both_teams_guess_alike() -> None:
    """So all that they differ in is what they make of content; and each guesses again where it reads anything else."""
    for arm in ("silent", "mute", "null"):
        assert [points(Listener, arm, seed) for seed in range(5)] == [points(Guesser, arm, seed) for seed in range(5)]
    for pair in (("treatment", "null"), ("null", "mute"), ("mute", "silent"), ("treatment", "again")):
        first, second = ([points(Guesser, arm, seed) for seed in range(5)] for arm in pair)
        assert first != second


@pytest.mark.conformance
def test_studies_find_the_truth() -> None:
    """All bounds hold within three Monte Carlo errors; `python -m benchmarks.study_truth` takes 2,000 studies."""
    missed = [
        f"{team}: {figure.what}: {figure.value:.4f} +- {figure.error:.4f}"
        for team, figure in measure(studies=20, processes=2)
        if not figure.holds
    ]
    assert not missed
