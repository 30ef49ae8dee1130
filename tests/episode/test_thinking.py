"""Episodes and sweeps with a model that thinks, over real HTTP: counts, money, clock, records and tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from maeil.trace import comparable, read_trace
from maeil.trace.events import ThoughtEnd
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import Result, run_cell
from tests.conftest import Quorum
from tests.loopback import Thinking
from tests.serving import served

QUIET = SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 3})
TEAM = ("env=squeeze", "n=3", "agents=naive", "topology=debate", "max_steps=4")


@contextmanager
def _model(how: Thinking) -> Iterator[list[str]]:
    with served(SimulatedModel(QUIET), thinking=how) as addresses:
        server = [f"llm.base_url={addresses.openai}", "llm.model=simulated", "llm.api_key_env=null"]
        yield ["llm=openai", *server, "llm.cache=false", "llm.prices={input: 1.0, output: 2.0}"]


def _run(out: Path, how: Thinking, *words: str) -> Result:
    with _model(how) as llm:
        return run_cell(Cell.compose([*TEAM, *llm, *words]), out)


@pytest.mark.parametrize(
    "how", [Thinking(100, empty_stop=0.4), Thinking(100, empty_length=0.4)], ids=["stop", "length"]
)
def test_no_empty_answer_is_called_a_parse_failure(tmp_path: Path, how: Thinking) -> None:
    metrics = _run(tmp_path, how).metrics
    assert metrics["model.empty_answers"] > 0
    assert metrics["model.parse_failures"] == metrics["plans.invalid"] == 0
    assert 0 < metrics["model.reasoning_tokens"] < metrics["model.completion_tokens"]
    spent = metrics["model.prompt_tokens"] + 2 * metrics["model.completion_tokens"]
    assert metrics["model.usd"] == pytest.approx(spent / 1e6)


def test_rules_do_not_think_and_say_so(tmp_path: Path) -> None:
    folder = run_cell(Cell.compose([*TEAM, "llm=simulated", "llm.effort=high"]), tmp_path).folder
    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    assert {tuple(call["reply"]["not_sent"]) for call in calls} == {("effort",)}


def test_a_sweep_tells_empty_answers_apart_in_its_tables(tmp_path: Path, quorum: Quorum) -> None:
    with _model(Thinking(100, empty_stop=0.4)) as llm:
        swept = quorum("sweep", *TEAM, *llm, "seed=0,1", "--name", "s")
    assert swept.returncode == 0, swept.stderr
    compared = quorum("compare", "runs/s", "--by", "topology")
    assert "Parse failures: 0.0%" in compared.stdout
    assert "Empty answers: " in compared.stdout
    rows = (tmp_path / "runs" / "s" / "results.csv").read_text().splitlines()
    assert "model.empty_answers" in rows[0].split(",")


@pytest.mark.parametrize("kept", ["keep", "drop"])
def test_thoughts_stand_in_the_calls_where_they_are_kept_and_in_no_prompt(tmp_path: Path, kept: str) -> None:
    folder = _run(tmp_path, Thinking(100), f"llm.text_of_thinking={kept}").folder
    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    assert all(("thinking" in call["reply"]) is (kept == "keep") for call in calls)
    assert not any("Simulated thoughts" in json.dumps([call["request"], call["reply"]["text"]]) for call in calls)
    assert "Simulated thoughts" not in (folder / "trace.jsonl").read_text()


def test_the_clock_counts_thoughts_or_answers_alone(tmp_path: Path) -> None:
    costs = {}
    for count in ("all", "answer"):
        folder = _run(tmp_path, Thinking(100), f"clock.count={count}").folder
        ends = list(read_trace(folder / "trace.jsonl").of(ThoughtEnd))
        costs[count] = ends[0].cost
        (call,) = ends[0].calls
    assert costs == {"all": call["completion_tokens"], "answer": call["completion_tokens"] - 100}


def test_an_episode_with_thoughts_replays_to_the_same_trace(tmp_path: Path) -> None:
    played = _run(tmp_path / "played", Thinking(100, empty_stop=0.5), "clock.count=answer")
    words = [*TEAM, "llm=replay", f"llm.run={played.folder}", "clock.count=answer"]
    again = run_cell(Cell.compose(words), tmp_path / "again")
    assert played.metrics["model.empty_answers"] > 0
    assert again.outcome == played.outcome != "error", again.reason
    assert comparable(played.folder) == comparable(again.folder)
