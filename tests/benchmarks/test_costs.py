"""The table of costs reckons recorded calls at known prices, with what a provider's cache would have read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import costs
from quorum.agents.llm.prices import find_price
from quorum.agents.llm.protocol import Usage
from quorum.agents.llm.recording import unfolded
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play two episodes."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        run_cell(Cell.compose(["agents=naive", "topology=debate", "n=3", "max_steps=10", f"seed={seed}"]), folder)
    return folder


def test_the_table_of_a_small_sweep(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert costs.main([str(runs), "--json"]) == 0
    found = {cost["model"]: cost for cost in json.loads(capsys.readouterr().out)}
    usages = []
    for calls in runs.glob("*/calls.jsonl"):
        with calls.open("rb") as lines:
            usages += [Usage(**call["reply"]["usage"]) for call in unfolded(lines)]
    for provider, (_, _, models) in costs.MODELS.items():
        for model in models:
            price, cost = find_price(provider, model), found[model]
            assert price is not None
            assert cost["full"] == pytest.approx(sum(price.usd(usage) for usage in usages))
            assert cost["batch"] == pytest.approx(cost["full"] / 2)
            prompt = sum(usage.prompt for usage in usages) * price.input / 1e6
            saved = prompt * (0.9 * cost["read"] - 0.25 * cost["written"])
            assert cost["cached"] == pytest.approx(cost["full"] - saved)
    assert found["claude-sonnet-5"]["flex"] is None
    assert found["gpt-6-sol"]["flex_cached"] == pytest.approx(found["gpt-6-sol"]["cached"] / 2)


def test_what_is_below_the_minimum_of_a_model_is_not_read(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    costs.main([str(runs), "--json"])
    read = {cost["model"]: cost["read"] for cost in json.loads(capsys.readouterr().out)}
    assert read["claude-haiku-4-5"] == 0
    assert min(read["claude-sonnet-5"], read["gpt-6-sol"], read["gpt-6-luna"]) > 0.4


def test_a_folder_without_calls_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_cell(Cell.compose(["n=2", "max_steps=2"]), tmp_path)
    assert costs.main([str(tmp_path)]) == 2
    assert "no calls" in capsys.readouterr().err
    assert costs.main([str(tmp_path / "nowhere")]) == 2
