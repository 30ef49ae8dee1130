"""Budgets of a whole sweep: the model `parrot` says what each answer costs, and one answer is an episode's all."""

from __future__ import annotations

from pathlib import Path

import pytest

from quorum.sweeps.spending import Costs, SweepBudget
from quorum.sweeps.stopping import Stop
from quorum_base.user_errors import UserError
from tests.sweeps.conftest import Sweep

CELLS = ("agents=asker", "llm=parrot", "n=1", "max_steps=9", "env.length=3", "llm.says='{\"cells\": 3}'")


def test_money_stops_the_sweep_before_it_is_overspent_and_more_of_it_goes_on(sweep: Sweep) -> None:
    words = (*CELLS, "seed=range(0,6)", "llm.usd=0.5")
    first = sweep(*words, budget_usd=1.6)
    assert (first.stop, first.exit_code) == (Stop.BUDGET, 0)
    assert (len(first.finished), first.left, first.spent.usd) == (3, 3, 1.5)
    assert "the remaining budget of the sweep does not cover another cell (--budget-usd 1.6)" in first.complaint
    assert "3 cells are left; continue with: quorum sweep" in first.complaint
    assert first.request.command.endswith("--budget-usd 1.6")
    same = sweep(*words, budget_usd=1.6)
    assert (len(same.finished), same.spent.usd) == (0, 1.5)
    more = sweep(*words, budget_usd=3.0)
    assert (len(more.finished), more.left, more.spent.usd, more.stop) == (3, 0, 3.0, None)


def test_tokens_and_answers_are_budgets_too(sweep: Sweep) -> None:
    summary = sweep(*CELLS, "seed=range(0,6)", budget_tokens=5)  # the mind says 2 of each answer
    assert (summary.stop, len(summary.finished), summary.spent.tokens) == (Stop.BUDGET, 2, 4)
    summary = sweep(*CELLS, "seed=range(0,6)", budget_calls=4)
    assert (summary.stop, len(summary.finished), summary.spent.answers) == (Stop.BUDGET, 2, 4)


def test_a_budget_in_money_needs_prices_before_the_first_answer(sweep: Sweep, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the price of 'parrot' is unknown") as refused:
        sweep(*CELLS, "seed=range(0,6)", budget_usd=5.0)
    assert "--budget-tokens N" in str(refused.value)
    assert not (tmp_path / "s").exists()


def test_what_was_paid_at_an_unknown_price_is_not_taken_for_nothing(sweep: Sweep) -> None:
    assert len(sweep(*CELLS, "seed=range(0,6)", limit=2).finished) == 2
    outcome = sweep(*CELLS, "seed=range(0,6)", budget_usd=5.0)
    assert (outcome.stop, outcome.exit_code, outcome.finished) == (Stop.STUCK, 2, ())
    assert "the price of answers that the sweep has already paid for is unknown" in outcome.complaint


def test_teams_without_models_cost_nothing_of_a_budget(sweep: Sweep) -> None:
    assert sweep("agents=walker", "n=1", "seed=0,1", budget_usd=0.01).left == 0


def test_attempts_that_failed_and_were_repeated_count_in_what_is_spent(sweep: Sweep) -> None:
    words = ("agents=asker", "llm=parrot", "n=1", "llm.usd=0.5", "llm.says=nonsense")
    first = sweep(*words)
    assert first.failed
    again = sweep(*words, retry_failed=True)
    assert again.spent.answers == 2 * first.spent.answers > 0
    assert again.spent.usd == pytest.approx(2 * first.spent.usd)
    assert sweep(*words, retry_failed=True, budget_usd=first.spent.usd).stop is Stop.BUDGET


def test_nothing_is_expected_of_a_kind_before_one_of_it_is_done() -> None:
    assert Costs().expected("a") is None
    assert SweepBudget(usd=1.0).exceeded(1.0, 10**9) == ""
    assert SweepBudget(usd=1.0, tokens=5).exceeded(0.5, 6) == "--budget-tokens 5"
