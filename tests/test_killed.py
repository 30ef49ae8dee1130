"""Commands that ask paid models are killed and run again: the server has served what is booked, and nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from quorum.agents.llm.spending import Spent
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.finished import finished_cell, read_paid
from tests.conftest import PATIENCE, command, environment
from tests.episode.till import PRICES, Then, Till
from tests.serving import served

BRAIN = SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0)))
WORDS = ("env=squeeze", "n=2", "agents=naive", "max_steps=4", "topology=debate")
BRANCH = ("branch", "{run}", "--at", "1", "--draws", "3", "--name", "s", "--quiet", "--budget-calls", "5000")
SEARCH = ("blame", "{run}", "--success", "score>=999", "--budget-calls", "5000", "--draws", "2", "--json")


def finished(out: Path, _: str) -> Spent:
    """Return what all episodes of a folder have spent."""
    return sum((finished_cell(file.parent).spent for file in out.rglob("meta.json")), Spent())


def reported(_: Path, printed: str) -> Spent:
    """Return what a search says that it has spent."""
    found = json.loads(printed)
    return Spent(found["calls"], found["tokens"], found["usd"])


@pytest.mark.conformance
@pytest.mark.parametrize(
    ("words", "after", "booked"),
    [
        ((*BRANCH, "engine.workers=1"), 5, finished),
        (SEARCH, 9, reported),
        ((*SEARCH, "--reference", "self"), 3, reported),  # in the shadow
        ((*SEARCH, "--reference", "self"), 20, reported),
        (("credit", "{run}", "--of", "live", "--budget-calls", "5000"), 3, finished),
        (("credit", "{run}", "--of", "message", "--budget-calls", "5000"), 15, finished),
    ],
    ids=["branch", "blame", "blame, shadow", "blame, after its shadow", "credit live", "credit message"],
)
def test_what_was_served_is_what_is_booked(
    words: tuple[str, ...], after: int, booked: Callable[[Path, str], Spent], tmp_path: Path
) -> None:
    till = Till(BRAIN, then=Then.HANG)
    out = tmp_path / "out"
    out.mkdir()

    def paid() -> int:
        return sum(read_paid(file.parent).answers for file in out.rglob("calls.jsonl"))

    with served(till) as addresses:
        model = ("llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null")
        keys = [*WORDS, *model, PRICES, "llm.cache=false"]
        run_cell(Cell.compose(keys), tmp_path / "runs").folder.rename(out / "run")
        words = tuple(word.format(run=out / "run") for word in words)
        before, own = paid(), finished(out, "")
        whole = copytree(out, tmp_path / "whole")
        till.answers = till.prompt = till.completion = till.asked = 0
        till.after = after
        line = command(*(word.replace(str(out), ".") for word in words))
        with subprocess.Popen(
            line, env=environment(), cwd=out, stdout=subprocess.DEVNULL, start_new_session=True
        ) as first:
            until = time.monotonic() + PATIENCE
            while not (till.stopped.is_set() and paid() - before == till.answers):
                assert time.monotonic() < until
                assert first.poll() is None
                time.sleep(0.02)
            os.killpg(first.pid, signal.SIGKILL)
        assert 0 < till.answers <= after
        till.after = None
        done = subprocess.run(line, env=environment(), cwd=out, stdout=subprocess.PIPE, text=True, check=True)
        amounts = (till.answers, till.prompt + till.completion, till.usd)
        subprocess.run(line, env=environment(), cwd=whole, stdout=subprocess.DEVNULL, check=True)
        assert till.answers == 2 * amounts[0]  # without a kill it would have been as much
    spent = booked(out, done.stdout)
    if booked is finished:
        spent = Spent(spent.answers - own.answers, spent.tokens - own.tokens, spent.usd - own.usd)
    assert (spent.answers, spent.tokens, spent.usd) == pytest.approx(amounts)
