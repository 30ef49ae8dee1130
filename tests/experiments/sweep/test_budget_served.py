"""A budget bounds what a server serves, killed or not; and what it served is booked once, whatever is killed when."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from quorum.agents.llm.spending import Spent
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.experiments.results.finished import dropped_attempts, finished_cell
from quorum.experiments.sweep.command import run_sweep_command
from quorum.experiments.sweep.run import SweepRequest
from quorum.experiments.sweep.stopping import Stop
from tests.conftest import command, environment
from tests.experiments.episode.till import PRICES, Then, Till
from tests.serving import served

BRAIN = SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0)))
GRID = ("env=squeeze", "agents=naive", "max_steps=5")
KILLS = 40


def asks(address: str) -> tuple[str, ...]:
    return ("llm=openai", "llm.model=simulated", f"llm.base_url={address}", "llm.api_key_env=null", PRICES)


def booked(sweep: Path) -> Spent:
    """Return what stands in the books: of all finished cells, and of attempts that were put aside."""
    cells = (finished_cell(file.parent).spent for file in sweep.glob("*/meta.json") if ".partial-" not in str(file))
    return sum((*cells, *dropped_attempts(sweep).values()), Spent())


@pytest.mark.parametrize(
    ("words", "under_way"),
    [
        (("n=1,2", "seed=range(0,4)", "engine.workers=2"), 12),
        (("n=2", "topology=individual,debate", "seed=range(0,3)", "engine.workers=1"), 12),
    ],
    ids=["two workers", "two topologies"],
)
def test_a_server_serves_no_more_than_the_budget_and_what_was_under_way(
    words: tuple[str, ...], under_way: int, tmp_path: Path
) -> None:
    till = Till(BRAIN)
    with served(till) as addresses:
        grid = (*GRID, *words, *asks(addresses.openai), "llm.cache=false")
        first = run_sweep_command(SweepRequest(grid, tmp_path, "s", budget_usd=0.02), quiet=True)
        assert first.stop is Stop.BUDGET
        assert 0.005 < till.usd <= 0.02 + under_way * till.dearest
        assert first.spent.usd == pytest.approx(till.usd)
        assert first.request.command.endswith("--budget-usd 0.02")
        more = run_sweep_command(SweepRequest(grid, tmp_path, "s", budget_usd=10.0), quiet=True)
    assert (more.stop, more.left, more.failed) == (None, 0, ())
    assert booked(tmp_path / "s").usd == pytest.approx(till.usd)
    assert not list((tmp_path / "s").glob(".budget*"))


def test_a_cell_that_the_budget_cuts_is_unfinished_and_goes_on_with_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An estimate would know that the budget is too short for the cell.
    monkeypatch.setattr("quorum.experiments.sweep.command._expectations", lambda *_: lambda _: None)
    till = Till(BRAIN)
    with served(till) as addresses:
        grid = (*GRID, "n=2", "seed=0", *asks(addresses.openai), "llm.cache=false", "engine.workers=1")
        whole = run_sweep_command(SweepRequest(grid, tmp_path, "whole"), quiet=True)
        assert whole.left == 0
        answers = till.answers
        cut = run_sweep_command(SweepRequest(grid, tmp_path, "s", budget_calls=answers - 1), quiet=True)
        assert (cut.stop, cut.left, cut.finished, cut.spent.answers) == (Stop.BUDGET, 1, (), answers - 1)
        assert "cells that it cut keep their answers" in cut.complaint
        more = run_sweep_command(SweepRequest(grid, tmp_path, "s", budget_calls=answers), quiet=True)
    assert (more.stop, more.left, more.spent.answers, more.spent.cached) == (None, 0, answers, answers - 1)
    assert till.answers == 2 * answers
    assert more.overrun == ""


def test_an_attempt_that_failed_with_its_server_gets_its_answers_back_when_it_is_retried(tmp_path: Path) -> None:
    till = Till(BRAIN, after=5, then=Then.REJECT)
    with served(till) as addresses:
        grid = (*GRID, "n=2", "seed=0", *asks(addresses.openai), "llm.cache=false", "engine.workers=1")
        first = run_sweep_command(SweepRequest(grid, tmp_path, "s"), quiet=True)
        assert len(first.failed) == 1
        till.after, paid = None, till.answers
        assert first.spent.answers == paid > 0
        again = run_sweep_command(SweepRequest(grid, tmp_path, "s", retry_failed=True), quiet=True)
    assert (again.left, again.failed, again.spent.cached) == (0, (), paid)
    assert again.spent.answers == till.answers
    assert again.spent.usd == pytest.approx(till.usd)
    assert booked(tmp_path / "s").answers == till.answers


def kill_and_resume(till: Till, line: list[str], rng: random.Random, kills: int, **more: Any) -> int:
    """Kill a sweep so many times, each after some more answers; return how often something was under way."""
    hit = 0
    for _ in range(kills):
        aim = till.answers + rng.randint(1, 4)
        with subprocess.Popen(line, env=environment(), start_new_session=True, **more) as sweep:
            until = time.monotonic() + 120
            while till.answers < aim and sweep.poll() is None and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.05))
            if sweep.poll() is None:
                hit += 1
                os.killpg(sweep.pid, signal.SIGKILL)
        if till.answers < aim:
            break
    return hit


def killed(tmp_path: Path, kills: int, seeds: int, budget: float) -> dict[str, float]:
    """Kill a sweep with a budget again and again, finish it under a larger one; return what both sides booked."""
    till, rng, under_way = Till(BRAIN), random.Random(47), 2 * seeds
    with served(till) as addresses:
        words = (*GRID, "n=2", f"seed=range(0,{seeds})", *asks(addresses.openai), "llm.cache=false")
        words = (*words, "engine.workers=1", "--out", str(tmp_path), "--name", "s", "--json")
        hit = kill_and_resume(till, command("sweep", *words, "--budget-usd", f"{budget}"), rng, kills, stdout=-3)
        bounded = till.usd
        assert bounded <= budget + under_way * till.dearest * (hit + 1)
        line = command("sweep", *words, "--budget-usd", "100")
        done = json.loads(subprocess.run(line, env=environment(), stdout=-1, check=True).stdout)
    books = booked(tmp_path / "s")
    assert (done["left"], done["failed"], done["over_budget"]) == (0, [], None)
    assert (done["answers"], done["tokens"]) == (books.answers, books.tokens)
    lost = till.answers - books.answers  # they died on their way to a killed process
    assert 0 <= lost <= under_way * hit
    assert 0 <= till.prompt + till.completion - books.tokens <= lost * (till.prompt + till.completion)
    return {"kills": hit, "served": till.answers, "booked": books.answers, "lost": lost,
            "tokens served": till.prompt + till.completion, "tokens booked": books.tokens,
            "usd before": bounded, "usd served": till.usd, "usd booked": books.usd}  # fmt: skip


@pytest.mark.conformance
def test_a_sweep_that_is_killed_at_random_keeps_to_its_budget_over_all_attempts(tmp_path: Path) -> None:
    assert killed(tmp_path, kills=4, seeds=3, budget=0.03)["kills"] > 0


@pytest.mark.conformance
def test_of_forty_kills_nothing_is_lost_and_nothing_booked_twice(tmp_path: Path) -> None:
    assert killed(tmp_path, kills=KILLS, seeds=8, budget=1.0)["kills"] > KILLS / 2
