"""A budget bounds what a server serves, killed or not; and what it served is booked once, whatever is killed when."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from quorum.agents.llm.protocol import Reply, Request, Usage
from quorum.agents.llm.spending import Spent
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.runs.finished import dropped_attempts, finished_cell
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepRequest
from quorum.sweeps.stopping import Stop
from tests.conftest import command, environment
from tests.episode.till import INPUT, OUTPUT, PRICES, Then, Till
from tests.serving import served

BRAIN = SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0)))
GRID = ("env=squeeze", "agents=naive", "max_steps=5")
KILLS, EPISODES = 40, 4


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
    monkeypatch.setattr("quorum.sweeps.command._expectations", lambda *_, **__: lambda _: None)
    till = Till(BRAIN)
    with served(till) as addresses:
        grid = (*GRID, "n=2", "seed=0", *asks(addresses.openai), "llm.cache=false", "engine.workers=1")
        whole = run_sweep_command(SweepRequest(grid, tmp_path, "whole"), quiet=True)
        assert whole.left == 0
        answers = till.answers
        cut = run_sweep_command(SweepRequest(grid, tmp_path, "s", budget_calls=answers - 1), quiet=True)
        assert (cut.stop, cut.left, cut.finished, cut.spent.answers) == (Stop.BUDGET, 1, (), answers - 1)
        assert "cells that it stopped keep their answers" in cut.complaint
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


def test_an_attempt_that_was_killed_between_its_end_and_its_move_into_place_gives_its_answers_back(
    tmp_path: Path,
) -> None:
    till = Till(BRAIN)
    with served(till) as addresses:
        grid = (*GRID, "n=2", "seed=0", *asks(addresses.openai), "llm.cache=false", "engine.workers=1")
        (done,) = run_sweep_command(SweepRequest(grid, tmp_path, "s"), quiet=True).finished
        paid = till.answers
        folder = tmp_path / "s" / done.name
        folder.rename(folder.with_name(f"{done.name}.partial-1234"))
        again = run_sweep_command(SweepRequest(grid, tmp_path, "s"), quiet=True)
    assert (again.left, again.failed, again.spent.cached) == (0, (), paid)
    assert till.answers == paid
    assert booked(tmp_path / "s").usd == pytest.approx(till.usd)


class Numbered:
    """A brain that numbers its answers: each has one token more than the one before."""

    def __init__(self) -> None:
        self.served: list[tuple[int, int, float]] = []
        """Of each answer: the command that asked, its completion tokens, and the money."""
        self.command = 0

    async def complete(self, request: Request) -> Reply:
        reply = await BRAIN.complete(request)
        usage = Usage(prompt=reply.usage.prompt, completion=200 + len(self.served))
        self.served.append((self.command, usage.completion, (usage.prompt * INPUT + usage.completion * OUTPUT) / 1e6))
        return replace(reply, usage=usage)

    @property
    def usd(self) -> float:
        return sum(usd for _, _, usd in self.served)


def numbers_in(folder: Path) -> list[int]:
    """Return which answers stand in the calls of an attempt; its last line may be cut off."""
    path = folder / "calls.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    calls = map(json.loads, lines)
    return [call["reply"]["usage"]["completion"] for call in calls if call.get("reply")]


def numbers_booked(sweep: Path) -> list[int]:
    """Return the answers in the books: of finished cells, and of attempts put aside what their cell did not get."""
    runs = {file.parent.name: numbers_in(file.parent) for file in sweep.glob("*/meta.json")}
    aside = [(path.parent.name, number) for path in sweep.glob(".retried/*/*") for number in numbers_in(path)]
    return [*chain(*runs.values()), *(number for name, number in aside if number not in runs.get(name, ()))]


def kill_and_resume(brain: Numbered, line: list[str], rng: random.Random, kills: int) -> set[int]:
    """Kill a sweep so many times, each after some more answers; return the commands that were killed."""
    hit = set()
    for brain.command in range(kills):
        aim = len(brain.served) + rng.randint(1, 4)
        with subprocess.Popen(line, env=environment(), start_new_session=True, stdout=-3, stderr=-3) as sweep:
            until = time.monotonic() + 120
            while len(brain.served) < aim and sweep.poll() is None and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.05))
            if sweep.poll() is None:
                hit.add(brain.command)
                os.killpg(sweep.pid, signal.SIGKILL)
        quiet = -1
        while quiet != len(brain.served):  # what the dead command has asked for is served under its number
            quiet = len(brain.served)
            time.sleep(0.3)
        if len(brain.served) < aim:
            break
    brain.command = kills
    return hit


def killed(tmp_path: Path, kills: int, seeds: int, budget: float) -> dict[str, float]:
    """Kill a sweep with a budget again and again, then finish it without; compare both sides answer by answer."""
    brain, rng, under_way = Numbered(), random.Random(47), 2 * EPISODES
    with served(brain, latency=0.02) as addresses:
        words = (*GRID, "n=2", f"seed=range(0,{seeds})", *asks(addresses.openai), "llm.cache=false")
        words = (
            *words,
            "engine.workers=1",
            f"engine.episodes={EPISODES}",
            "--out",
            str(tmp_path),
            "--name",
            "s",
            "--json",
        )
        line = command("sweep", *words, "--budget-usd", f"{budget}")
        hit = kill_and_resume(brain, line, rng, kills)
        last = json.loads(subprocess.run(line, env=environment(), stdout=-1, check=True).stdout)
        bounded = brain.usd
        free = command("sweep", *words)  # nothing that was charged is lost without a budget
        done = json.loads(subprocess.run(free, env=environment(), stdout=-1, check=True).stdout)
    books, numbers = booked(tmp_path / "s"), numbers_booked(tmp_path / "s")
    lost = [answer for answer in brain.served if answer[1] not in numbers]
    usd_lost = sum(usd for _, _, usd in lost)
    figures = {"kills": len(hit), "budget": budget, "usd served under it": bounded,
               "stopped": last["stopped"], "served": len(brain.served), "usd served": brain.usd,
               "booked": books.answers, "usd booked": books.usd, "lost": len(lost), "usd lost": usd_lost,
               "charged": done["in_flight"]}  # fmt: skip
    (tmp_path / "figures.json").write_text(json.dumps(figures))
    assert len(numbers) == len(set(numbers)) == books.answers == done["answers"]
    assert {*numbers} <= {number for _, number, _ in brain.served}
    assert books.usd + usd_lost == pytest.approx(brain.usd)
    assert (done["left"], done["failed"]) == (0, [])
    assert done["in_flight"] == last["in_flight"]
    of_commands = Counter(killed_one for killed_one, _, _ in lost)
    assert of_commands.keys() <= hit  # what is lost was in flight at a kill
    assert max(of_commands.values(), default=0) <= under_way
    charged = last["in_flight"]
    assert len(lost) <= charged["answers"] <= under_way * len(hit)
    assert charged["usd"] >= 0.95 * usd_lost  # each as the dearest before it; here each answer is dearer than the last
    assert last["stopped"] == "budget"
    assert bounded <= budget + under_way * max(usd for _, _, usd in brain.served)  # however many kills
    return figures


@pytest.mark.conformance
def test_a_sweep_that_is_killed_at_random_keeps_to_its_budget_over_all_attempts(tmp_path: Path) -> None:
    assert killed(tmp_path, kills=5, seeds=3, budget=0.015)["kills"] > 0


@pytest.mark.soak
def test_of_forty_kills_nothing_is_lost_and_nothing_booked_twice(tmp_path: Path) -> None:
    assert killed(tmp_path, kills=KILLS, seeds=30, budget=0.35)["kills"] > KILLS / 2
