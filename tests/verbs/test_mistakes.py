"""Mistakes in the options of every verb: each is one message with what is wrong and the way out, and exit code 2."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from quorum import cli
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell

LONG = "x" * 300
NAIVE = ("n=2", "agents=naive", "max_steps=3")
MISTAKES = {
    ("compare", "runs", "--out", ""): "--out '': this is empty",
    ("compare", "runs", "--baseline="): "--baseline '': this is empty",
    ("results", ""): "results '': this is empty",
    ("sweep", "n=2", "--name", ""): "--name '': this is empty",
    ("run", "--out", LONG): "the name is too long for a file or a folder\nGive a shorter one.",
    ("sweep", "n=2", "--name", LONG): "the name is too long",
    ("results", LONG): "the name is too long",
    ("blame", "RUN", "--budget-usd", "nan"): "--budget-usd nan: a budget must be finite and greater than 0",
    ("blame", "RUN", "--budget-calls", "-1"): "--budget-calls -1: a budget must be finite and greater than 0",
    ("sweep", "n=2", "--budget-usd", "inf"): "--budget-usd inf: a budget must be finite and greater than 0",
    ("sweep", "n=2", "--cancel-batches", "--dry-run"): "--cancel-batches and --dry-run: ",
    ("sweep", "n=2", "engine=batch"): "no cell uses a language model\nUse one of these models: llm=",
    ("sweep", "n=2", "--cancel-batches"): "--cancel-batches: this engine sends no batches\nRepeat the arguments",
    ("sweep", "n=2", "+engine=local"): "+engine: every sweep has this group already; write engine=OPTION",
    ("sweep", "n=2", "~engine"): "~engine: every sweep has this group already",
    ("sweep", "n=2", "engine=null"): "engine: null is not the name of an option\nOptions of engine: batch, local, ",
    ("sweep", "n=2", "+engine.episodes=1"): "+engine.episodes: this key already exists\nLeave out the +",
    ("show", "+n=3"): "+n: this key already exists\nLeave out the +: n=VALUE.",
    ("show", "~n"): "~n: env.n needs it\nSet it instead: n=VALUE.",
    ("run", *NAIVE, "llm.model=gpt-5"): "llm.model: there is no such key\nSet the provider, too: llm=openai.",
    ("run", *NAIVE, "llm.model=claude-opus-4-5"): "Set the provider, too: llm=anthropic.",
    ("run", *NAIVE, "llm.model=nobodys"): "Set the provider, too: llm=NAME. `quorum list llm` shows those",
    ("run", *NAIVE, "llm.agents.agent_0.model=gpt-5"): "Set the provider, too: llm.agents.agent_0.preset=openai.",
    ("branch", "RUN", "--at", "0", "llm.model=gpt-5"): "Set the provider, too: llm=openai.",
    ("sweep", *NAIVE, "llm.model=gpt-5,gpt-5-mini"): "Set the provider, too: llm=openai.",
    ("blame", "RUN", "--success", "score>=9", "--reference", "llm.model=gpt-5"): "Set the provider, too: ",
    (
        "compare",
        "runs",
        "--metric",
        "outcome.stps",
    ): "Did you mean 'outcome.steps', 'outcome.success' or '",
    ("report", "runs", "--metric", "outcome.stps"): "`quorum list metrics` explains all.",
    ("results", "runs", "--sql", ";"): "--sql ';': this query returns nothing",
    ("serve-simulated", "--latency", "nan"): "--latency",
    ("serve-simulated", "--latency", "-1"): "--latency",
    ("serve-simulated", "--faults", "rate_limit=nan"): "--faults: rates are at least 0, and at most 1 together",
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of simulated models."""
    folder = tmp_path_factory.mktemp("recorded")
    run_cell(Cell.compose([*NAIVE, "llm=simulated"]), folder / "runs")
    return folder


@pytest.mark.parametrize("words", MISTAKES, ids=lambda words: " ".join(words)[:60])
def test_a_mistake_is_one_message(
    words: tuple[str, ...], recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    before = sorted(os.walk(tmp_path))
    run = next((tmp_path / "runs").iterdir())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["quorum", *(str(run) if word == "RUN" else word for word in words)])
    with pytest.raises(SystemExit) as left:
        cli.main()
    out, reported = capsys.readouterr()
    assert (left.value.code, out) == (2, "")
    assert MISTAKES[words] in reported
    assert reported.lower().count("error: ") == 1
    assert sorted(os.walk(tmp_path)) == before
