"""A thought leads to every record of its calls: one for each answer, and one for a request that got none."""

from __future__ import annotations

from pathlib import Path

import orjson

from quorum.configuration.cell import Cell
from quorum.episode.call_ledger import records_of
from quorum.episode.runner import run_cell
from quorum.view.viewer.episode import read_episode


def test_every_answer_is_found_from_the_thought_that_asked_for_it(tmp_path: Path) -> None:
    words = ["env=squeeze", "n=3", "agents=naive", "llm=simulated_faults", "llm.malformed=0.4", "budget.calls=20"]
    folder = run_cell(Cell.compose(words), tmp_path).folder
    records = [orjson.loads(line) for line in (folder / "calls.jsonl").read_bytes().splitlines()]
    names = read_episode(folder).overview["agents"]
    thoughts = [
        thought for thought in orjson.loads(read_episode(folder).pages.data(0))["thoughts"] if "numbers" in thought
    ]
    found = []
    for thought in thoughts:
        for call, numbers in zip(thought["calls"], thought["numbers"], strict=True):
            own = [records[number] for number in numbers]
            assert {(record["agent"], record["t"]) for record in own} == {(names[thought["agent"]], thought["t"])}
            assert sum(record["reply"]["usage"]["completion"] for record in own) == call["completion_tokens"]
            found += numbers
    assert sorted(found) == [number for number, record in enumerate(records) if "reply" in record]
    assert any(len(numbers) > 1 for thought in thoughts for numbers in thought["numbers"])


def test_what_a_call_says_of_its_records() -> None:
    assert records_of({"completion_tokens": 5}) == 1
    assert records_of({"completion_tokens": 5, "answers": 3}) == 3
    assert records_of({"completion_tokens": 5, "answers": 3, "unanswered": "cancelled"}) == 4
    assert records_of({"completion_tokens": 5, "unanswered": "failed"}) == 2
    assert records_of({"unanswered": "failed"}) == 1
    assert records_of({}) == 1
    assert records_of({"answers": "many"}) == 1
