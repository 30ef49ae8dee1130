"""What cells that were dropped had paid for is kept, counts toward the budget, and is not asked for again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from quorum.agents.llm.spending import Spent
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.comparison.comparison import Question, compare
from quorum.comparison.notes import notes
from quorum.runs import read_results
from quorum.runs.finished import dropped_attempts, read_spent
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepRequest
from quorum.sweeps.stopping import Stop
from quorum.sweeps.sweep_folder import clear_partial
from tests.conftest import PATIENCE, command, environment
from tests.episode.till import PRICES, Then, Till
from tests.serving import served

BRAIN = SimulatedModel(SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "malformed": 0.2}))
UNDER_WAY = 4
"""Agents of both cells: the most requests that can be on their way at once."""


def recorded(out: Path) -> int:
    return sum(b'"reply"' in line for file in out.glob("s/*/calls.jsonl") for line in file.read_bytes().splitlines())


def test_what_dropped_cells_had_paid_for_counts_toward_the_budget(tmp_path: Path, capsys) -> None:
    till = Till(BRAIN, after=9, then=Then.HANG)

    def drop() -> None:
        until = time.monotonic() + PATIENCE
        while not (till.stopped.is_set() and recorded(tmp_path) == till.answers) and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    with served(till) as addresses:
        model = ("llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null")
        words = ("env=squeeze", "n=2", "agents=naive", "max_steps=5", "seed=0,1", *model, PRICES, "llm.cache=false")

        def run(tokens: int | None = None) -> tuple[Spent, Stop | None, int]:
            request = SweepRequest((*words, "engine.workers=1"), tmp_path, "s", budget_tokens=tokens)
            result = run_sweep_command(request, quiet=True)
            return result.spent, result.stop, len(result.finished)

        threading.Thread(target=drop).start()
        spent, stop, finished = run()
        assert (stop, finished) == (Stop.INTERRUPTED, 0)
        assert (spent.answers, spent.tokens) == (till.answers, till.prompt + till.completion)
        kept = [read_spent(folder) for folder in (tmp_path / "s" / ".retried").glob("*/*")]
        assert sum(kept, Spent()) == spent

        assert run(tokens=spent.tokens) == (spent, Stop.BUDGET, 0)

        till.after = None
        before = till.answers
        spent, stop, finished = run()
        assert (stop, finished) == (None, 2)
        calls = [file.read_bytes() for file in (tmp_path / "s").glob("squeeze-*/calls.jsonl")]
        given_back = sum(text.replace(b" ", b"").count(b'"cache_hit":true') for text in calls)
        assert given_back == before  # also those of a call that was repaired after the drop
        assert dropped_attempts(tmp_path / "s") == {}
        assert (spent.answers, spent.tokens) == (till.answers, till.prompt + till.completion)
        assert round(spent.usd, 12) == round(till.usd, 12)


@pytest.mark.conformance
@pytest.mark.parametrize("waits", [True, False], ids=["between answers", "under load"])
def test_answers_of_killed_attempts_are_booked_at_their_runs(tmp_path: Path, waits: bool) -> None:
    """Killed between answers, every token is booked; under load, all but the answers that were on their way."""
    till = Till(BRAIN, after=9 if waits else None, then=Then.HANG)
    with served(till) as addresses:
        model = ("llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null")
        words = ("env=squeeze", "n=2", "agents=naive", "max_steps=5", "seed=0,1", *model, PRICES, "llm.cache=false")
        words = (*words, "engine.workers=1", "--out", str(tmp_path), "--name", "s", "--quiet")
        with subprocess.Popen(command("sweep", *words), env=environment(), start_new_session=True) as sweep:
            until = time.monotonic() + PATIENCE
            while not (till.stopped.is_set() and recorded(tmp_path) == till.answers if waits else till.answers > 5):
                assert time.monotonic() < until
                time.sleep(0.001)
            os.killpg(sweep.pid, signal.SIGKILL)
        till.after = None
        subprocess.run(command("sweep", *words), env=environment(), check=True)
    comparison = compare([read_results(tmp_path / "s")], Question(by=["n"]))
    rows = comparison.pool.rows

    def booked(*names: str) -> float:
        return sum(row.metrics[f"model.{name}"] for row in rows for name in names)

    assert booked("cached_answers") > 0
    assert 0 <= till.answers - booked("answers") <= (0 if waits else UNDER_WAY)
    if waits:
        assert booked("prompt_tokens", "completion_tokens") == till.prompt + till.completion
        assert round(booked("usd"), 12) == round(till.usd, 12)
    assert not any(note.startswith("Answers of dropped attempts") for note in notes(comparison))


def test_what_a_link_among_the_attempts_leads_to_is_not_counted(tmp_path: Path) -> None:
    call = {"reply": {"usage": {"prompt": 5, "completion": 2}, "usd": 1.0, "repairs": 0, "wall": {"cache_hit": False}}}
    for folder in (tmp_path / ".retried" / "cell" / "1", tmp_path / "elsewhere" / "1"):
        folder.mkdir(parents=True)
        (folder / "calls.jsonl").write_text(json.dumps(call) + "\n")
    (tmp_path / ".retried" / "other").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".retried" / "cell" / "2").symlink_to(tmp_path / "elsewhere" / "1")
    assert dropped_attempts(tmp_path) == {"cell": Spent(answers=1, tokens=7, usd=1.0)}


def test_a_half_written_cell_that_paid_for_nothing_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "cell.partial-1234"
    folder.mkdir()
    (folder / "calls.jsonl").write_text('{"failure": {"kind": "Cancelled"}}\n{"reply": {"usa')
    assert clear_partial(folder) == Spent()
    assert list(tmp_path.iterdir()) == []
