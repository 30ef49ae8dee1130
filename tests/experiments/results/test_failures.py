"""`quorum show failures`: why recorded teams failed, with what proves it, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maeil import Plan, Thought
from maeil.user_errors import UserError
from quorum.experiments.results.derived import failures_of
from tests.conftest import Quorum
from tests.maeil.corridor import Corridor, Rest, Walk
from tests.maeil.scripted import Scripted, play


def record(folder: Path) -> Path:
    """Leave the trace of an agent that stumbles twice in the same way, and then rests."""
    folder.mkdir(parents=True)
    stumble = Thought(Plan((Walk(fails_at=0),)))
    play([Scripted(stumble, stumble, Thought(Plan((Rest(steps=20),))))], Corridor(1), path=folder / "trace.jsonl")
    return folder


def test_failures_are_printed_with_the_events_that_prove_them(quorum: Quorum, tmp_path: Path) -> None:
    record(tmp_path / "[one]")
    done = quorum("show", "failures", "[one]")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "[one]",
        "  t = 0: repetition (FM-1.3) of agent_0",
        "      t = 0, event 10: plan P0.1 failed: walk: stumbled",
        "      t = 0, event 14: plan P0.2 is the same, and no step was taken in between",
        "      t = 0, event 20: plan P0.2 failed: walk: stumbled",
        "  1 repetition",
    ]


def test_failures_are_data_and_the_others_are_shown_where_a_run_cannot_be_read(quorum: Quorum, tmp_path: Path) -> None:
    record(tmp_path / "one")
    done = quorum("show", "failures", "nowhere", "one", "--json")
    assert done.returncode == 2
    assert "nowhere: no trace.jsonl there" in done.stderr
    (run,) = json.loads(done.stdout)
    assert run["run"] == "one"
    (found,) = run["failures"]
    assert (found["kind"], found["mast"], found["agent"], found["t"], found["task"]) == (
        "repetition", "FM-1.3", "agent_0", 0, "",
    )  # fmt: skip
    assert found["proofs"][0] == {"event": 10, "t": 0, "words": "plan P0.1 failed: walk: stumbled"}


def test_without_a_run_it_says_how_to_ask(quorum: Quorum) -> None:
    done = quorum("show", "failures")
    assert done.returncode == 2
    assert "Missing argument 'RUN...'" in done.stderr


def test_a_trace_that_contradicts_itself_is_damaged(tmp_path: Path) -> None:
    trace = record(tmp_path / "one") / "trace.jsonl"
    trace.write_text(trace.read_text().replace('"plan":"P0.1"', '"plan":"P0.9"', 1))
    with pytest.raises(UserError, match=r"damaged: its events contradict each other \(failures: TraceError"):
        failures_of(tmp_path / "one")
