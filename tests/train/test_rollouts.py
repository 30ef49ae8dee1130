"""Episodes for trainers: equal to `quorum run`, whoever plays them, and nothing is left behind."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import quorum
from maeil.metrics import reproducible
from quorum.agents.llm.recording import unfolded
from quorum.train import workers
from quorum.train.episodes import Episode
from quorum.train.play import Setting
from quorum.train.policy import Call, Completion, PolicyRequest
from quorum_base.user_errors import UserError
from tests.conftest import PATIENCE, environment
from tests.serving import served
from tests.train import policies

WORDS = ("env=cube", "n=2", "topology=debate", "agents=naive", "prompts=terse", "max_steps=12")
OF_THE_PROVIDER = ("model", "usd", "simulated")
"""Fields of a call that name the model, its price and its kind."""
WALL = ("seconds", "attempts", "retries", "cache_hit", "fingerprint")


def plain(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events without wall-clock fields, and without what describes the provider."""
    found = []
    for event in events:
        kept = {key: value for key, value in event.items() if key not in ("wall", "seconds")}
        if "calls" in kept:
            left_out = (*OF_THE_PROVIDER, *WALL)
            kept["calls"] = [{key: one[key] for key in one if key not in left_out} for one in kept["calls"]]
        found.append(kept)
    return found


def events_of(episode: Episode) -> list[dict[str, Any]]:
    return plain([stamped.to_json() for stamped in episode.events])


def rollouts(*words: str, **arguments: Any) -> Any:
    return quorum.rollouts(*WORDS, *words, **{"policy": policies.rules, "boards": range(2), **arguments})


def recorded(folders: list[Path]) -> Callable[[PolicyRequest], Completion]:
    """Return a policy that gives the answers of recorded draws of a board, and fails for any other request."""
    answers: defaultdict[tuple[int, str, str], deque[Completion]] = defaultdict(deque)
    for draw, folder in enumerate(folders):
        for call in unfolded((folder / "calls.jsonl").read_bytes().splitlines(keepends=True)):
            messages = [{"role": one["role"], "content": one["content"]} for one in call["request"]["messages"]]
            usage = call["reply"]["usage"]
            answer = Completion(call["reply"]["text"], draw, usage["prompt"], usage["completion"])
            answers[draw, call["agent"], json.dumps(messages)].append(answer)
    return lambda request: answers[request.draw, request.seat, json.dumps(list(request.messages))].popleft()


@pytest.mark.parametrize("seats", [("agent_0",), ("agent_0", "agent_1")])
def test_equal_answers_give_the_trace_of_a_run(seats: tuple[str, ...], tmp_path: Path) -> None:
    words = ("llm.malformed=0.6", "llm.invalid=0.2")
    runs = [quorum.run(*WORDS, *words, "seed=5", f"draw={draw}", out=tmp_path) for draw in (0, 1)]
    policy = recorded([run.folder for run in runs])
    episodes = list(rollouts(*words, policy=policy, seats=seats, boards=[5], group=2))
    asked: list[Call] = []
    for run, episode in zip(runs, episodes, strict=True):
        assert events_of(episode) == plain(quorum.trace(run))
        assert list(episode.seats) == list(seats)
        assert (episode.board, episode.outcome, episode.steps) == (5, run.outcome, run.metrics["outcome.steps"])
        ours, recorded_ones = (
            {name: value for name, value in reproducible(found).items() if not name.startswith("model.")}
            for found in (episode.metrics, run.metrics)
        )
        assert ours == recorded_ones
        asked += [call for seat in episode.seats.values() for call in seat.calls]
    assert {call.attached for call in asked} == {0, 1}
    assert any(len(call.request.messages) > 2 for call in asked), "some answers were malformed and requested again"


def test_neither_concurrency_nor_threads_nor_workers_change_an_episode() -> None:
    arguments = {"policy": policies.slow_rules, "seats": "agent_0", "boards": range(2), "group": 2}
    alone = [episode.digest for episode in rollouts("llm.poor=1", at_once=1, **arguments)]
    assert len(set(alone)) > 2

    def together(_: int) -> list[str]:
        return [episode.digest for episode in rollouts("llm.poor=1", at_once=4, **arguments)]

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(together, range(2))) == [alone, alone]
    episodes = list(rollouts("llm.poor=1", workers=2, **arguments))
    assert [episode.digest for episode in episodes] == alone
    assert [(episode.board, episode.draw) for episode in episodes] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    call = episodes[0].seats["agent_0"].calls[0]
    assert call.attached == {"characters": len(call.text)}


async def test_both_kinds_of_loop_work_in_an_event_loop() -> None:
    found = rollouts(boards=[3], at_once=2)
    here = threading.current_thread()
    threads = []

    async def policy(request: PolicyRequest) -> Completion:
        threads.append(threading.current_thread())
        return await policies.rules(request)

    [episode] = [episode async for episode in rollouts(policy=policy, boards=[3])]
    assert set(threads) == {here}
    assert [one.digest for one in found] == [one.digest for one in found] == [episode.digest]


def test_boards_may_be_endless_and_are_played_as_they_are_taken() -> None:
    taken: list[int] = []

    def seeds() -> Iterator[int]:
        for board in itertools.count(7):
            taken.append(board)
            yield board

    episodes = iter(rollouts(policy=policies.smallest, boards=seeds(), at_once=2))
    assert [next(episodes).board for _ in range(3)] == [7, 8, 9]
    episodes.close()
    assert len(taken) <= 3 + 4


def test_a_malformed_answer_is_requested_again() -> None:
    async def policy(request: PolicyRequest) -> str | Completion:
        return await policies.rules(request) if len(request.messages) > 2 else "no JSON"

    [episode] = rollouts(policy=policy, seats=["agent_1"], boards=[0])
    calls = episode.seats["agent_1"].calls
    assert [call.text == "no JSON" for call in calls] == [True, False] * (len(calls) // 2)
    assert calls[1].request.messages[-2] == {"role": "assistant", "content": "no JSON"}
    assert (episode.metrics["model.repairs"], episode.metrics["model.parse_failures"]) == (len(calls) // 2, 0)
    [without] = rollouts(policy=lambda _: "no JSON", seats=["agent_1"], boards=[0])
    assert without.metrics["model.parse_failures"] > 0


def test_a_request_says_what_is_asked() -> None:
    [episode] = rollouts("llm.max_tokens=77", boards=[4])
    for seat, played in episode.seats.items():
        for call in played.calls:
            request = call.request
            assert (request.seat, request.board, request.draw, request.idle) == (seat, 4, 0, "")
            assert [one["role"] for one in request.messages][-1] == "user"
            assert request.schema["type"] == "object"
            assert request.max_tokens == 77
        steps = [call.request.step for call in played.calls]
        assert steps == sorted(steps)


def test_difference_rewards_compare_with_an_idle_seat(tmp_path: Path) -> None:
    words = ("max_steps=80", "topology=individual", "llm.temperature=0", "env.side=12")
    common = tuple(word for word in WORDS if not word.startswith(("max_steps", "topology")))
    idle = set()

    async def policy(request: PolicyRequest) -> Completion:
        idle.add(request.idle)
        return await policies.rules(request)

    [episode] = quorum.rollouts(*common, *words, policy=policy, boards=[1], difference=True)
    assert idle == {"", "agent_0", "agent_1"}
    results = {}
    for name in ("", "agent_0", "agent_1"):
        more = [f"agents.members.{name}=idle"] if name else []
        metrics: Any = quorum.run(*common, *words, *more, "seed=1", out=tmp_path).metrics
        saved = 1 - metrics["outcome.steps"] / 80 if metrics["outcome.success"] else 0
        results[name] = (metrics["outcome.completion"] + saved) / 2
    assert results[""] > 0
    for name, seat in episode.seats.items():
        assert seat.reward.team == pytest.approx(results[""])
        assert seat.reward.difference == pytest.approx(results[""] - results[name])
        assert len(seat.reward.per_step) == episode.steps
    assert any(seat.reward.difference for seat in episode.seats.values())


def test_a_policy_s_error_keeps_its_traceback_and_ends_the_iteration() -> None:
    episodes = iter(rollouts(policy=policies.failing, boards=range(4)))
    assert next(episodes).board == 0
    with pytest.raises(LookupError, match="no weights for agent_0") as error:
        next(episodes)
    assert any(frame.name == "failing" for frame in traceback.extract_tb(error.tb))
    assert list(episodes) == []
    with pytest.raises(LookupError, match="no weights") as error:
        list(rollouts(policy=policies.failing, boards=range(4), workers=1))
    assert "in failing" in error.value.__notes__[0]


async def test_a_worker_that_is_closed_in_the_middle_of_a_long_answer_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its unread answer fills the buffer of the pipe, which then does not see its end."""
    endless = "import sys  # {path}\nwhile True: sys.stdout.buffer.write(bytes([127]) * 100_000)"
    monkeypatch.setattr(workers, "_PROGRAM", endless)
    async with asyncio.timeout(60), workers.Workers(Setting((), None), 1) as players:
        episode = asyncio.create_task(players.play(0, 0))
        await asyncio.sleep(0.2)
        episode.cancel()


def test_a_dead_worker_is_reported() -> None:
    with pytest.raises(UserError, match="a worker process has ended: exit code 7"):
        list(rollouts(policy=policies.dying, workers=2))


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the worlds that are open."""
    from cube_env.world import CubeWorld

    balance: list[int] = []
    build, close = CubeWorld.__init__, CubeWorld.close

    def built(self: CubeWorld, *given: Any) -> None:
        balance.append(1)
        build(self, *given)

    def closed(self: CubeWorld) -> None:
        balance.append(-1)
        close(self)

    monkeypatch.setattr(CubeWorld, "__init__", built)
    monkeypatch.setattr(CubeWorld, "close", closed)
    return balance


@pytest.mark.parametrize("ends", ["close", "forget", "error"])
def test_leaving_a_loop_cancels_everything(ends: str, worlds: list[int]) -> None:
    started = threading.Event()
    cancelled = []

    async def policy(request: PolicyRequest) -> str:
        if request.board:
            started.set()
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                cancelled.append(request.board)
                raise
        return policies.smallest(request)

    before = set(threading.enumerate())
    episodes = iter(rollouts(policy=policy, boards=range(9), at_once=3))
    next(episodes)
    started.wait(60)
    if ends == "close":
        episodes.close()
    elif ends == "forget":
        del episodes
    else:
        with pytest.raises(KeyError):
            episodes.throw(KeyError)
    assert set(threading.enumerate()) == before
    assert set(cancelled) >= {1, 2}
    assert sum(worlds) == 0
    assert worlds


async def test_leaving_an_asynchronous_loop_cancels_everything(worlds: list[int]) -> None:
    async def policy(request: PolicyRequest) -> str:
        return policies.smallest(request) if not request.board else await policies.waiting(request)

    async with aclosing(aiter(rollouts(policy=policy, boards=range(9), at_once=3))) as episodes:
        async for episode in episodes:
            assert episode.board == 0
            break
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert sum(worlds) == 0


def program(body: str, folder: Path) -> subprocess.Popen[str]:
    """Start a program that plays rollouts in a folder; it prints a line once it is at work."""
    text = f"import quorum, time\nfrom tests.train import policies\nWORDS = {WORDS!r}\n{textwrap.dedent(body)}"
    return subprocess.Popen(
        [sys.executable, "-c", text], cwd=folder, env=environment(), text=True, stdout=-1, stderr=-1
    )


def children(process: int) -> set[int]:
    """Return the processes below a process."""
    found = set()
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found |= {child} | children(child)
    return found


def runs(process: int) -> bool:
    """Whether a process runs; one that has ended may wait for its parent."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("end", "workers"),
    [
        (signal.SIGINT, 0),
        (signal.SIGKILL, 2),
        pytest.param(signal.SIGKILL, 0, marks=pytest.mark.conformance),
        pytest.param(signal.SIGINT, 2, marks=pytest.mark.conformance),
    ],
)
def test_a_trainer_that_ends_leaves_nothing_behind(end: signal.Signals, workers: int, tmp_path: Path) -> None:
    trainer = program(
        f"""
        episodes = quorum.rollouts(*WORDS, policy=policies.telling, boards=range(9), at_once=4, workers={workers})
        for episode in episodes:
            pass
        """,
        tmp_path,
    )
    assert trainer.stderr is not None
    assert [trainer.stderr.readline() for _ in range(4)] == ["asked\n"] * 4
    below = children(trainer.pid)
    assert len(below) == workers
    trainer.send_signal(end)
    _, errors = trainer.communicate(timeout=PATIENCE)  # all processes that hold its streams have ended
    assert trainer.returncode == -end
    assert ("KeyboardInterrupt" in errors) == (end == signal.SIGINT)
    assert "never retrieved" not in errors
    end_by = time.monotonic() + PATIENCE
    while any(map(runs, below)) and time.monotonic() < end_by:
        time.sleep(0.05)
    assert not any(map(runs, below))
    assert list(tmp_path.iterdir()) == []


def test_a_program_may_end_with_an_open_iterator(tmp_path: Path) -> None:
    trainer = program(
        """
        episodes = iter(quorum.rollouts(*WORDS, policy=policies.smallest, boards=range(99)))
        print(next(episodes).board)
        """,
        tmp_path,
    )
    assert trainer.communicate(timeout=PATIENCE) == ("0\n", "")
    assert trainer.returncode == 0


def test_an_endpoint_is_a_policy() -> None:
    words = ("llm.temperature=0", "llm.cache=false")
    with served(policies.RULES) as addresses:
        [episode] = rollouts(
            *words, policy=addresses.openai, model="simulated", seats=["agent_0"], boards=[2], at_once=2
        )  # fmt: skip
        [every] = rollouts("llm.temperature=0", policy=addresses.openai, model="simulated", boards=[2])
    [reference] = rollouts(*words, seats=["agent_0"], boards=[2])
    for found in (episode, every):
        assert events_of(found) == events_of(reference)
    calls = episode.seats["agent_0"].calls
    assert [(call.request, call.text) for call in calls] == [
        (call.request, call.text) for call in reference.seats["agent_0"].calls
    ]
    assert list(every.seats) == ["agent_0", "agent_1"]


@pytest.mark.parametrize(
    ("words", "arguments", "message"),
    [
        (("seed=1",), {}, "seed is not part of the configuration here"),
        (("draw=1",), {}, "draw is not part"),
        ((), {"seats": ["agent_7"]}, "seats: agent_7 asks no model in this team"),
        (("agents.members.agent_1=heuristic",), {"seats": ["agent_1"]}, "seats: agent_1 asks no model"),
        (("agents=heuristic",), {}, "agents=heuristic asks no model"),
        (("n=none",), {}, "n: "),
        ((), {"policy": 3}, "policy"),
        ((), {"policy": lambda _: 3, "boards": [0]}, "it returned 3 of type int for agent_0"),
        ((), {"policy": "http://127.0.0.1:9/v1"}, "needs the name of a model"),
        ((), {"model": "student"}, "model names a model at a server"),
        ((), {"policy": lambda _: "", "workers": 1}, "workers cannot have this policy"),
        ((), {"boards": [1, 2], "held_out": range(2, 4)}, "board 2 is held out"),
        ((), {"boards": iter([2]), "held_out": {2}}, "board 2 is held out"),
        ((), {"boards": ["a"]}, "boards: 'a' is not a seed"),
        ((), {"boards": [-1]}, "seed: "),
        ((), {"group": 0}, "group"),
        (("memory.store=there",), {}, "memory.store"),
    ],
)
def test_mistakes_are_named(words: tuple[str, ...], arguments: dict[str, Any], message: str) -> None:
    given = {word.partition("=")[0] for word in words}
    common = [word for word in WORDS if word.partition("=")[0] not in given]
    with pytest.raises(UserError) as error:
        list(quorum.rollouts(*common, *words, **{"policy": policies.smallest, "boards": [0], **arguments}))
    assert message in str(error.value)
