"""What a user sees while a language model thinks: a slow server, and the command with and without a terminal."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from tests.conftest import Quorum
from tests.serving import served
from tests.terminals import in_a_terminal

TEAM = ("agents=naive", "topology=debate", "n=2", "max_steps=1")
BRAIN = SimulatedModel(SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 0}))


class Slow:
    """A model that takes two seconds and a half for its first two answers, and a moment for all others."""

    def __init__(self) -> None:
        self._asked = 0

    async def complete(self, request: Request) -> Reply:
        self._asked += 1
        await asyncio.sleep(2.5 if self._asked <= 2 else 0.4)
        return await BRAIN.complete(request)


@pytest.fixture
def slow() -> Iterator[list[str]]:
    """Serve a model that is slow at first."""
    with served(Slow()) as addresses:
        yield [
            "llm=openai", f"llm.base_url={addresses.openai}", "llm.model=simulated", "llm.api_key_env=null",
            "llm.prices={input: 1, output: 1}", "llm.cache=false",
        ]  # fmt: skip


@pytest.mark.parametrize("live", [["--live"], pytest.param([], marks=pytest.mark.conformance)], ids=["live", "plain"])
def test_in_a_terminal_it_is_shown_who_thinks_for_how_long_and_what_that_took(
    live: list[str], slow: list[str], tmp_path: Path
) -> None:
    code, reported = in_a_terminal(tmp_path, "run", *TEAM, *slow, *live)
    assert code == 0, reported
    for agent in ("agent_0", "agent_1"):
        seconds = [int(s) for s in re.findall(rf"{agent}(?: \(\w+\))? (?:thinks )?(\d+) s\b", reported)]
        assert len(set(seconds)) >= 2, reported
    tokens = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) tokens · \$\d", reported)]
    assert tokens == sorted(tokens)
    assert len(set(tokens)) >= 2
    assert "(simulated)" in reported


def test_without_a_terminal_a_short_run_says_nothing_more_and_json_stays_json(slow: list[str], quorum: Quorum) -> None:
    done = quorum("run", *TEAM, *slow, "--json")
    assert json.loads(done.stdout)["outcome"] == "truncated"
    assert "thinks" not in done.stdout + done.stderr


@pytest.mark.conformance
def test_quiet_is_quiet(slow: list[str], tmp_path: Path) -> None:
    code, reported = in_a_terminal(tmp_path, "run", *TEAM, *slow, "--quiet")
    assert (code, reported.replace("\x1b[0m", "")) == (0, "")


def test_a_sweep_shows_the_calls_under_way_and_what_was_answered_before_a_cell_is_done(
    slow: list[str], tmp_path: Path
) -> None:
    words = ("agents=naive", "topology=debate", "n=2", "max_steps=1", "seed=0,1", "--name", "s", "engine.workers=1")
    code, reported = in_a_terminal(tmp_path, "sweep", *words, *slow)
    assert code == 0, reported
    seconds = {int(s) for s in re.findall(r"2 calls under way, the longest for (\d+) s", reported)}
    assert len(seconds) >= 2, reported
    under_way = re.findall(r"0/2 done · 2 running · 0 failed · .*?([\d,]+) tokens · (\$[\d.]+)", reported)
    assert under_way, reported
    assert "(simulated)" in reported
