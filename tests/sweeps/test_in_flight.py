"""Answers in flight at a kill are charged once, at an estimate, and those that arrived are not."""

from __future__ import annotations

from pathlib import Path

import msgspec
import orjson
import pytest

from quorum.agents.llm.spending import Spent
from quorum.sweeps.accounts import EVERYTHING, Accounts, Amounts
from quorum.sweeps.in_flight import IN_FLIGHT, charge, charge_killed, read_in_flight
from quorum.sweeps.ledger import LEDGER
from quorum.sweeps.spending import SweepBudget
from quorum.sweeps.stopping import Stop
from quorum_base.user_errors import UserError
from tests.sweeps.conftest import Sweep

EXPECTED, ANSWER = Amounts(0.1, 10, 1), Amounts(0.3, 30, 1)
CELLS = ("agents=asker", "llm=parrot", "n=1", "max_steps=9", "env.length=3", "llm.says='{\"cells\": 3}'", "llm.usd=0.5")


def opened(*, batched: bool = False, reserved: Amounts = EVERYTHING) -> Accounts:
    accounts = Accounts(SweepBudget(usd=100.0), batched=batched)
    accounts.reserve("cell", Amounts(), reserved)
    return accounts


def leave(folder: Path, answers: int, *, cached: bool = False) -> None:
    """Leave what a killed attempt at the cell had recorded."""
    partial = folder / "cell.partial-1234"
    partial.mkdir(parents=True, exist_ok=True)
    reply = {"usage": {"prompt": 20, "completion": 10}, "usd": 0.3, "repairs": 0, "wall": {"cache_hit": cached}}
    record = orjson.dumps({"agent": "a", "key": "k", "reply": reply}) + b"\n"
    (partial / "calls.jsonl").write_bytes(record * answers)


def test_a_call_in_flight_counts_as_the_dearest_answer_or_what_was_expected_of_it(tmp_path: Path) -> None:
    accounts = opened()
    leave(tmp_path, 0)
    accounts.open("cell", EXPECTED)
    assert charge(tmp_path, accounts, "cell") == Spent(1, 10, 0.1)  # nothing else is known
    accounts.close("cell", EXPECTED, ANSWER)
    leave(tmp_path, 1)
    accounts.open("cell", EXPECTED)
    assert charge(tmp_path, accounts, "cell") == Spent(1, 30, pytest.approx(0.3))
    accounts.close("cell", EXPECTED, Amounts(0.5, 50, 1))
    accounts.close("cell", Amounts(), Amounts(0.1, 10, 1))
    leave(tmp_path, 3)
    accounts.open("cell", EXPECTED)
    assert charge(tmp_path, accounts, "cell") == Spent(1, 50, pytest.approx(0.5))
    dear = Amounts(0.9, 90, 1)
    accounts.close("cell", EXPECTED, Amounts())  # none came
    accounts.open("cell", dear)
    assert charge(tmp_path, accounts, "cell") == Spent(1, 90, pytest.approx(0.9))


def test_a_lost_answer_counts_as_the_dearest_of_its_kind_and_one_of_a_cache_counts_for_nobody(tmp_path: Path) -> None:
    accounts = Accounts(SweepBudget(usd=100.0))
    accounts.reserve("cell", Amounts(), Amounts(), "small")
    accounts.reserve("other", Amounts(), Amounts(), "large")
    accounts.open("other", EXPECTED)
    accounts.close("other", EXPECTED, Amounts(9.0, 900, 1))
    leave(tmp_path, 0)
    accounts.open("cell", EXPECTED)
    assert charge(tmp_path, accounts, "cell") == Spent(1, 900, pytest.approx(9.0)), "none of its kind has come yet"
    accounts.close("cell", EXPECTED, ANSWER)
    accounts.open("cell", EXPECTED)
    accounts.close("cell", EXPECTED, Amounts(0.7, 70, 1), cached=True)
    leave(tmp_path, 1)
    accounts.open("cell", EXPECTED)
    (tmp_path / LEDGER).write_bytes(msgspec.json.encode(accounts))
    assert charge_killed(tmp_path) == {"small": ANSWER, "large": Amounts(9.0, 900, 1)}, "for the next command"
    assert read_in_flight(tmp_path) == Spent(1, 30, pytest.approx(0.3))


def test_before_the_first_answer_of_a_sweep_the_reservation_says_what_one_takes(tmp_path: Path) -> None:
    accounts = opened(reserved=Amounts(2.0, 400, 10))
    leave(tmp_path, 0)
    accounts.open("cell", EXPECTED)
    assert charge(tmp_path, accounts, "cell") == Spent(1, 40, pytest.approx(0.2))


def test_an_answer_that_stands_in_the_calls_is_not_charged_and_one_that_died_on_its_way_to_them_is(
    tmp_path: Path,
) -> None:
    accounts = opened()
    for _ in range(3):
        accounts.open("cell", EXPECTED)
        accounts.close("cell", EXPECTED, ANSWER)
    leave(tmp_path / "all", 3)
    assert charge(tmp_path / "all", accounts, "cell") == Spent() == read_in_flight(tmp_path / "all")
    leave(tmp_path / "two", 2)
    assert charge(tmp_path / "two", accounts, "cell") == Spent(1, 30, pytest.approx(0.3))


def test_answers_of_a_cache_are_no_loss(tmp_path: Path) -> None:
    accounts = opened()
    leave(tmp_path, 1, cached=True)
    accounts.open("cell", EXPECTED)
    accounts.close("cell", EXPECTED, ANSWER, cached=True)
    assert charge(tmp_path, accounts, "cell") == Spent()
    accounts.open("cell", EXPECTED)
    assert charge(tmp_path, accounts, "cell").answers == 1


def test_calls_in_batches_outlive_a_kill_and_are_not_charged(tmp_path: Path) -> None:
    accounts = opened(batched=True)
    leave(tmp_path, 0)
    accounts.open("cell", EXPECTED)
    assert charge(tmp_path, accounts, "cell") == Spent()


def test_whenever_charging_is_killed_it_charges_once(tmp_path: Path) -> None:
    accounts = opened()
    leave(tmp_path, 1)
    accounts.open("cell", EXPECTED)
    accounts.close("cell", EXPECTED, ANSWER)
    accounts.open("cell", EXPECTED)
    (tmp_path / LEDGER).write_bytes(msgspec.json.encode(accounts))
    for _ in range(3):  # killed before the attempt was put aside
        charge_killed(tmp_path)
        assert read_in_flight(tmp_path) == Spent(1, 30, pytest.approx(0.3)), "of two calls one is recorded"
    (tmp_path / "cell.partial-1234").rename(tmp_path / "aside")  # and after it
    charge_killed(tmp_path)
    assert read_in_flight(tmp_path).answers == 1


def test_a_resumed_sweep_counts_what_was_in_flight_and_says_so_whatever_runs_later(
    sweep: Sweep, tmp_path: Path
) -> None:
    words = (*CELLS, "seed=range(0,4)")
    first = sweep(*words, budget_usd=1.2)
    assert (first.stop, len(first.finished), first.in_flight) == (Stop.BUDGET, 2, Spent())
    accounts = opened()
    accounts.open("cell", Amounts(0.5, 2, 1))
    leave(tmp_path / "s", 0)
    (tmp_path / "s" / LEDGER).write_bytes(msgspec.json.encode(accounts))
    more = sweep(*words, budget_usd=2.0)
    assert (len(more.finished), more.spent.usd, more.in_flight) == (1, 1.5, Spent(1, 2, 0.5))
    assert more.to_json()["in_flight"] == {"answers": 1, "tokens": 2, "usd": 0.5}
    rows = [str(cell) for column in more.table().columns for cell in column.cells]
    assert any("up to 1 answers were in flight when" in row and "counted at $0.50" in row for row in rows)
    whole = sweep(*words)
    assert (whole.left, whole.spent.usd, whole.in_flight.usd) == (0, 2.0, 0.5)
    assert sweep(*words, budget_usd=2.2).overrun.startswith("over budget: $2.50")


def test_a_damaged_file_of_what_is_charged_is_named(sweep: Sweep, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / IN_FLIGHT).write_text("{")
    with pytest.raises(UserError, match=rf"s/{IN_FLIGHT}: damaged"):
        sweep(*CELLS, "seed=0", budget_usd=1.0)
