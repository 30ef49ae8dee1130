"""What cells that were dropped had paid for is kept, and counts toward the budget of their sweep."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from quorum.agents.llm.spending import Spent
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.experiments.results.finished import read_spent
from quorum.experiments.sweep.command import run_sweep_command
from quorum.experiments.sweep.queue import Stop
from quorum.experiments.sweep.run import SweepRequest
from quorum.experiments.sweep.sweep_folder import clear_partial
from tests.experiments.episode.till import PRICES, Then, Till
from tests.serving import served

BRAIN = SimulatedModel(SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "malformed": 0.2}))


def recorded(out: Path) -> int:
    return sum(b'"reply"' in line for file in out.glob("s/*/calls.jsonl") for line in file.read_bytes().splitlines())


def test_what_dropped_cells_had_paid_for_counts_toward_the_budget(tmp_path: Path, capsys) -> None:
    till = Till(BRAIN, after=9, then=Then.HANG)

    def drop() -> None:
        until = time.monotonic() + 60
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
        spent, stop, finished = run()
        assert (stop, finished) == (None, 2)
        assert (spent.answers, spent.tokens) == (till.answers, till.prompt + till.completion)
        assert round(spent.usd, 12) == round(till.usd, 12)


def test_a_half_written_cell_that_paid_for_nothing_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "cell.partial-1234"
    folder.mkdir()
    (folder / "calls.jsonl").write_text('{"failure": {"kind": "Cancelled"}}\n{"reply": {"usa')
    assert clear_partial(folder) == Spent()
    assert list(tmp_path.iterdir()) == []
