"""What a server has served is what the run has recorded: for every team, and for every way to stop it.

Served are tokens and money of the answers that left the server; recorded is what stands in the trace, in the metrics,
in the calls, and in what a sweep reads of them.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from maeil.metrics import compute_metrics
from maeil.trace import comparable, read_trace
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.finished import read_spent
from quorum_base.user_errors import UserError
from tests.conftest import FORKS, LEFT_BEHIND, PATIENCE, be_quorum, environment
from tests.episode.till import PRICES, Then, Till
from tests.serving import served

BRAIN = SimulatedModel(
    SimulatedSettings(
        **{**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 3, "malformed": 0.25, "invalid": 0.1}
    )
)
"""One answer in four is asked for again, so that many calls are stopped between two answers."""
SHARE = 7
"""Answers that are served before something happens."""

LED = "topology=centralized topology.leader=coordinator"
TEAMS = {
    "naive individual": "env=squeeze n=3 agents=naive topology=individual",
    "naive debate": "env=squeeze n=3 agents=naive topology=debate",
    "naive chain": "env=squeeze n=3 agents=naive topology=chain",
    "naive leader": "env=squeeze n=3 agents=naive topology=centralized",
    "naive coordinator": "env=squeeze n=3 agents=naive topology=centralized topology.leader=coordinator",
    "naive decentralized": "env=squeeze n=3 agents=naive topology=decentralized",
    "naive dialogue": "env=squeeze n=3 agents=naive topology=dialogue",
    "naive graph": "env=squeeze n=3 agents=naive topology=graph topology.shape=ring",
    "tom": "env=transport n=3 agents=tom topology=individual",
    "llamac": "env=squeeze n=3 agents=llamac topology=centralized topology.leader=coordinator topology.rounds=3",
    "llamac in text": f"env=transport n=3 agents=llamac {LED} topology.rounds=3 prompts=paper seed=1",
    "cmas": "env=transport n=3 agents=cmas topology=centralized topology.leader=coordinator topology.rounds=0",
    "hmas1": "env=transport n=3 agents=hmas1 topology=dialogue topology.opens=coordinator",
    "hmas2": "env=transport n=3 agents=hmas2 topology=centralized topology.leader=coordinator topology.rounds=3",
    "dmas": "env=transport n=3 agents=dmas topology=dialogue topology.opens=team",
    "debaters": "env=squeeze n=3 agents=debaters topology=centralized topology.leader=coordinator topology.rounds=0",
    "naive embeddings": "env=squeeze n=3 agents=naive topology=dytopo topology.matcher=embedding",
}
BY_TERMINAL = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}
WAYS: dict[str, tuple[Then, Sequence[str], set[str]]] = {
    "budget of calls": (Then.SERVE, [f"budget.calls={SHARE}"], {"budget"}),
    "budget of tokens": (Then.SERVE, ["budget.tokens=6000"], {"budget"}),
    "budget of money": (Then.SERVE, ["budget.usd=0.006"], {"budget"}),
    "provider gone": (Then.FAIL, [], {"error"}),
    "error": (Then.SERVE, [], {"error"}),
    "SIGINT": (Then.HANG, [], {"error"}),
    "SIGTERM": (Then.HANG, [], {"error"}),
    "limit of a thought": (Then.HANG, ["limits.thought_seconds=1.5"], {"error"}),
    "time of the episode": (Then.HANG, ["limits.episode_seconds=1.5"], {"error"}),
    "refused request": (Then.REJECT, [], {"error"}),
    "refusing model": (Then.REFUSE, ["max_steps=6"], {"success", "failure", "truncated"}),
    "its own end": (Then.SERVE, ["max_steps=6"], {"success", "failure", "truncated"}),
}
"""What the server does, what the command says, and how the episode ends."""


def pairs() -> Iterator[tuple[str, str]]:
    """Return every team and every way to stop at least once."""
    teams, ways = list(TEAMS), list(WAYS)
    for place in range(max(len(teams), len(ways))):
        yield teams[place % len(teams)], ways[place % len(ways)]


@pytest.mark.parametrize(("team", "way"), list(pairs()))
def test_what_was_served_is_what_is_recorded(team: str, way: str, tmp_path: Path, monkeypatch) -> None:
    check_books(team, way, tmp_path, monkeypatch)


@pytest.mark.soak
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("team", TEAMS)
def test_the_books_of_every_team_and_every_way_to_stop(team: str, way: str, tmp_path: Path, monkeypatch) -> None:
    check_books(team, way, tmp_path, monkeypatch)


@pytest.mark.parametrize("team", ["naive debate", "llamac", "debaters", "naive embeddings"])
def test_a_run_that_a_budget_ended_in_the_middle_of_repairs_is_replayed_the_same(team: str, tmp_path: Path) -> None:
    words = [*TEAMS[team].split(), "llm=simulated_faults", "llm.malformed=0.4", "budget.calls=23"]
    live = run_cell(Cell.compose(words), tmp_path)
    assert live.outcome == "budget"
    assert live.metrics["model.repairs"]
    again = run_cell(Cell.compose([*TEAMS[team].split(), "llm=replay", f"llm.run={live.folder}"]), tmp_path / "again")
    assert comparable(again.folder) == comparable(live.folder)


def check_books(team: str, way: str, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    then, words, outcomes = WAYS[way]
    till = Till(BRAIN, after=SHARE, then=then)
    with served(till) as addresses:
        model = ["llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null"]
        cell = [*TEAMS[team].split(), *model, PRICES, "llm.tries=1", "llm.cache=false", *words]
        if way in BY_TERMINAL:
            folder = stopped_by(BY_TERMINAL[way], cell, till, out)
        else:
            with failing_world(monkeypatch) if way == "error" else nothing_failing():
                try:
                    run_cell(Cell.compose(cell), out)
                except (UserError, RuntimeError):
                    assert outcomes == {"error"}
            (folder,) = out.iterdir()
    meta = json.loads((folder / "meta.json").read_text())
    assert meta["outcome"] in outcomes, meta["reason"] or meta["error"]

    trace = read_trace(folder)
    assert trace.end is not None
    found = compute_metrics(trace)
    recorded = json.loads((folder / "metrics.json").read_text())
    for metrics in (found, recorded):
        assert metrics["model.answers"] == till.answers > 0
        assert metrics["model.prompt_tokens"] == till.prompt
        assert metrics["model.completion_tokens"] == till.completion
        assert metrics["model.usd"] == pytest.approx(till.usd)
    if then is not Then.REJECT:  # which is tried again in other forms before it counts as refused
        assert found["model.unanswered"] >= till.asked - till.answers
    assert (found["model.unanswered"] > 0) == (then in (Then.HANG, Then.FAIL, Then.REJECT))

    calls = [json.loads(line) for line in (folder / "calls.jsonl").read_bytes().splitlines()]
    failures = [call["failure"]["kind"] for call in calls if "failure" in call]
    assert sum("reply" in call for call in calls) == till.answers
    assert sum(kind != "BudgetReached" for kind in failures) == found["model.unanswered"]

    spent = read_spent(folder)
    (folder / "metrics.json").unlink()
    for what in (spent, read_spent(folder)):
        assert (what.answers, what.tokens, what.unpriced) == (till.answers, till.prompt + till.completion, 0)
        assert what.usd == pytest.approx(till.usd)


@contextmanager
def nothing_failing() -> Iterator[None]:
    yield


@contextmanager
def failing_world(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a thought be the last straw after a few."""
    from maeil import conversation

    review: Callable[..., tuple[str, ...]] = conversation.review
    thoughts = iter(range(4))

    def fails(*arguments: object) -> tuple[str, ...]:
        if next(thoughts, None) is None:
            raise RuntimeError("a bug")
        return review(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(conversation, "review", fails)
        yield


def stopped_by(number: int, cell: list[str], till: Till, out: Path) -> Path:
    """Run the command, send it a signal when all that was served is recorded, and return its folder."""
    errors_file = out / "errors_file"
    arguments = ("run", *cell, "--quiet", "--out", str(out / "runs"))
    process = FORKS.Process(target=_quorum, args=(arguments, out, errors_file))
    process.start()
    try:
        assert till.stopped.wait(60), errors_file.read_text()
        until = time.monotonic() + PATIENCE
        while _recorded(out) < till.answers:
            assert time.monotonic() < until
            time.sleep(0.01)
        os.kill(process.pid or 0, number)
        process.join(PATIENCE)
    finally:
        process.kill()
        process.join()
    errors = errors_file.read_text()
    assert process.exitcode == (130 if number == signal.SIGINT else 143), errors
    assert f"with {till.answers} answers and {till.prompt + till.completion:,} tokens" in errors
    assert not any(words in errors for words in (*LEFT_BEHIND, "Traceback")), errors
    (folder,) = (out / "runs").iterdir()
    return folder


def _recorded(out: Path) -> int:
    return sum(b'"reply"' in line for file in out.glob("runs/*/calls.jsonl") for line in file.read_bytes().splitlines())


def _quorum(arguments: tuple[str, ...], folder: Path, errors_file: Path) -> None:
    os.dup2(os.open(errors_file, os.O_RDWR | os.O_CREAT), 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    be_quorum(arguments, folder, environment())
