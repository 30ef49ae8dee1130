"""Episodes a second of `quorum.rollouts`, next to `quorum sweep` of the same cells.

    python -m benchmarks.rollouts                     1,000 episodes: 250 boards, 4 draws each
    python -m benchmarks.rollouts --episodes 40       a quick look

First a sweep plays the cells with the simulated model, with one worker process. Then rollouts play them again: with the
recorded answers, which an instant function looks up, and with the simulated model as the policy, in this process and in
one and two worker processes. Every trace of the recorded answers must equal that of the sweep. The script prints
episodes a second of wall time. Composing, the start of processes and the imports of a
worker are included; kernels are compiled before.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

import quorum
from maeil.trace.events import WALL_CALL_FIELDS, WALL_FIELDS
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Request, Sampling
from quorum.agents.llm.recording import unfolded
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.episode.rehearsal import compile_all
from quorum.runs import Row
from quorum.train.episodes import Episode
from quorum.train.policy import Completion, Policy, PolicyRequest

WORDS = ("env=cube", "n=2", "topology=debate", "agents=naive", "prompts=terse", "max_steps=100", "llm.temperature=0")
DRAWS = 4
AT_ONCE = 16
_MODEL = SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0)))


async def rules(request: PolicyRequest) -> Completion:
    """Answer as `llm=simulated` does."""
    messages = tuple(ChatMessage(ChatRole(one["role"]), one["content"]) for one in request.messages)
    form = AnswerFormat("answer", request.schema) if request.schema is not None else None
    reply = await _MODEL.complete(Request(messages, form, Sampling(0.0, request.max_tokens)))
    return Completion(reply.text, None, reply.usage.prompt, reply.usage.completion, reply.finish)


Key = tuple[int, int, str, bytes]
"""Board, draw, seat, and digest of the prompt."""


class Recorded:
    """A policy that looks up the answers of a sweep.

    Args:
        folder: folder of the sweep.
    """

    def __init__(self, folder: Path) -> None:
        self._answers: defaultdict[Key, deque[Completion]] = defaultdict(deque)
        for row in quorum.results(folder).rows:
            for call in unfolded((row.folder / "calls.jsonl").read_bytes().splitlines(keepends=True)):
                key = _key(row.seed, _draw(row), call["agent"], call["request"]["messages"])
                usage = call["reply"]["usage"]
                self._answers[key].append(Completion(call["reply"]["text"], None, usage["prompt"], usage["completion"]))

    def __call__(self, request: PolicyRequest) -> Completion:
        """Look up an answer."""
        return self._answers[_key(request.board, request.draw, request.seat, request.messages)].popleft()


def _draw(row: Row) -> int:
    return int(row.factors.get("draw") or 0)


def _key(board: int, draw: int, seat: str, messages: Iterable[Mapping[str, Any]]) -> Key:
    texts = "".join(one["content"] for one in messages)
    return board, draw, seat, hashlib.blake2b(texts.encode(), digest_size=16).digest()


T = TypeVar("T")


class Measured:
    """Measures ways to play the same episodes, and collects the rows of a table.

    Args:
        episodes: how many there are.
    """

    def __init__(self, episodes: int) -> None:
        self._episodes = episodes
        self.table = Table(title=f"{episodes} episodes: {' '.join(WORDS)}")
        for column in ("what", "episodes a second", "seconds"):
            self.table.add_column(column)

    def __call__(self, name: str, play: Callable[[], T]) -> T:
        """Measure one way."""
        begin = time.perf_counter()
        found = play()
        wall = time.perf_counter() - begin
        self.table.add_row(name, f"{self._episodes / wall:.1f}", f"{wall:.1f}")
        return found


def without_provider(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event without wall-clock fields and without what describes the provider."""
    left_out = (*WALL_CALL_FIELDS, "model", "usd", "simulated")
    calls = [{key: one[key] for key in one if key not in left_out} for one in line.get("calls", ())]
    return {**{key: line[key] for key in line if key not in WALL_FIELDS}, "calls": calls}


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=1000)
    boards = range(parser.parse_args().episodes // DRAWS)
    compile_all()
    measured = Measured(len(boards) * DRAWS)

    def play(policy: Policy, workers: int = 0) -> list[Episode]:
        arguments = {"boards": boards, "group": DRAWS, "at_once": AT_ONCE, "workers": workers}
        return list(quorum.rollouts(*WORDS, policy=policy, **arguments))

    with tempfile.TemporaryDirectory() as out:
        grid = (*WORDS, f"seed=range(0,{len(boards)})", f"draw=range(0,{DRAWS})", "engine.workers=1")
        done = measured("quorum sweep, 1 worker", lambda: quorum.sweep(*grid, out=out, name="sweep"))
        recorded = Recorded(done.folder)
        episodes = measured("rollouts, instant function", lambda: play(recorded))
        traces = {(row.seed, _draw(row)): quorum.trace(row) for row in quorum.results(done.folder).rows}
        for one in episodes:
            ours = [without_provider(stamped.to_json()) for stamped in one.events]
            assert ours == list(map(without_provider, traces[one.board, one.draw])), f"board {one.board}"
    measured("rollouts, simulated model", lambda: play(importable.rules))
    for workers in (1, 2):
        measured(f"rollouts, simulated model, {workers} worker(s)", lambda: play(importable.rules, workers))  # noqa: B023
    show = Console().print
    show(measured.table, f"all {len(episodes)} traces equal those of the sweep")
    show(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    from benchmarks import rollouts as importable  # workers cannot import `__main__`

    main()
