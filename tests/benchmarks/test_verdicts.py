"""The independent rules of a study and those of Quorum agree on random studies, and measure errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks import verdict_rules, verdicts
from benchmarks.verdict_rules import Pilot, Planned
from benchmarks.verdicts import NULLS, Truth
from quorum.comparison.statistics.flips import sign_flip_test
from quorum.comparison.statistics.room import room_closed
from quorum.study.anytime import Plan, evidence_path
from quorum.study.noise import NoiseVerdict, noise_floor, noise_verdict
from quorum.study.planning import Expected
from quorum.study.power import power
from quorum.study.question import load_question

TOTAL = load_question("talk").effects[0]


def test_the_sign_flip_test_is_that_of_scipy_and_of_quorum() -> None:
    for draw in range(6):
        differences = np.random.default_rng(draw).normal(0.7, 1, 8).round(1)
        scipys = stats.permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=1_000)
        (own,) = verdict_rules.sign_flip_p(differences[None])
        assert own == pytest.approx(scipys.pvalue) == pytest.approx(sign_flip_test(differences))


def test_the_share_of_the_room_and_its_interval() -> None:
    random = np.random.default_rng(1)
    stated = 0
    for _ in range(80):
        boards = int(random.integers(6, 10))
        room = random.normal(1.5, 1, boards)
        gain = 0.5 * room + random.normal(0, 1, boards)
        quorums = room_closed(gain, np.zeros(boards), room, lower_is_better=False).share
        own = verdict_rules.room_rule(gain[None], room[None], 0.5)
        assert own.share[0] == pytest.approx(quorums.value, nan_ok=True)
        if math.isnan(quorums.value):
            continue
        stated += 1
        assert verdict_rules.room_interval(gain, room) == pytest.approx((quorums.low, quorums.high))
        assert own.covers[0] <= (quorums.low <= 0.5 <= quorums.high)
    assert stated > 20


@pytest.mark.parametrize("name", NULLS)
@pytest.mark.parametrize("planned", [None, Planned(0.5, 1.0), Planned(-2.0, 1.0)])
@pytest.mark.parametrize("centre", [0.0, 0.4])
def test_the_bets(name: str, planned: Planned | None, centre: float) -> None:
    differences = NULLS[name].draw(np.random.default_rng(2), (20, 40))
    bound = NULLS[name].bound
    quorums = evidence_path(differences, bound, Plan(*planned) if planned else None, centre)
    np.testing.assert_allclose(verdict_rules.bets(differences, bound, planned, centre), quorums, rtol=1e-4)


@pytest.mark.parametrize("boards", [5, 6, 12, 40])
def test_the_noise_floor_and_the_verdict(boards: int) -> None:
    random = np.random.default_rng(3)
    noise = random.standard_t(3, (60, boards)) * (random.random((60, boards)) < random.random((60, 1)))
    floors = noise_floor(noise)
    np.testing.assert_allclose(verdict_rules.floor_rule(noise) if boards > 5 else np.full(60, np.nan), floors)
    if not 6 <= boards <= 12:
        return
    differences = random.normal(0.9, 1, (60, boards))
    own = verdict_rules.verdict_rule(differences, noise, tests=3)
    for row, floor, found in zip(differences, floors, own, strict=True):
        p = min(1.0, 3 * sign_flip_test(row))
        verdict = noise_verdict(float(row.mean()), p, boards, float(floor))
        assert (verdict is NoiseVerdict.FOUND) == found


@pytest.mark.parametrize(("boards", "tests"), [(12, 1), (30, 7)])
def test_the_power_of_a_plan(boards: int, tests: int) -> None:
    stated = power(Expected(TOTAL, 0.8, 1.0).studies(1, yes_or_no=False), boards, tests)
    assert Truth(0.8, 1.0, tests).power(boards, 4_000, 1) == pytest.approx(stated, abs=0.035)
    pilot = Expected(TOTAL, 1.0, 0.7, 0.7, boards=8)
    quorums = power(pilot.studies(1, yes_or_no=False), boards, tests)
    assert verdict_rules.assurance(Pilot(1.0, 0.7, 0.7), boards, tests, 4_000) == pytest.approx(quorums, abs=0.035)


def test_a_broken_rule_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bets that forget the range err far more often than the 5 % that they should."""
    name = "nine boards -1, one +9"
    monkeypatch.setattr(verdicts, "NULLS", {name: NULLS[name]})
    assert max(row.value for row in verdicts.looks(200)) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)
    monkeypatch.setattr(verdicts, "NULLS", {name: NULLS[name]._replace(bound=1.1)})
    assert max(row.value for row in verdicts.looks(200)) > 0.2
