"""The cost of our side of a language model's call: a round of 256 agents over real HTTP, compared with the SDK alone.

The server runs in a separate process, on the machine's other core; every answer takes half a second there. Four kinds
of rounds alternate: OpenAI's SDK with its defaults, the SDK as our provider calls it, our stack around that (structured
output, budget, cache, retries, limits, recording), and a whole naive team (prompts, loop and trace included). The first
round of each warms up and is not counted. A last row measures our wrappers around a model in the same process, without
the noise of HTTP.

python benchmarks/llm.py
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import openai
import orjson
from openai.types.chat import ChatCompletion
from rich.console import Console
from rich.table import Table

from maeil.trace import Recorder
from quorum.agents.llm.limits import CallLimits, RetryRules
from quorum.agents.llm.protocol import Finish, MaxTokensKey, Model, Origin, Reply, Request, Sampling, Structured, Usage
from quorum.agents.llm.providers.chat import chat_arguments
from quorum.agents.llm.providers.openai import PATH
from quorum.agents.llm.providers.refusals import Offer
from quorum.agents.llm.recording import Folding
from quorum.agents.llm.spending import Budget, Spending, UnderWay
from quorum.agents.llm.stack import build_stack, with_access
from quorum.configuration.cell import Cell
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels
from quorum.episode.parts import build, play
from quorum.episode.prompt import Wanted, find_prompt
from quorum.more_providers.serving.app import App, run

AGENTS, LATENCY, RUNS = 256, 0.5, 7
DECISION = {"rationale": "to measure", "task": {"kind": "deliver", "target": "block_0"}}
PLAN = {**DECISION, "actions": [{"action": "idle", "steps": 1}]}
ANSWER = orjson.dumps({"thoughts": "none", "plan": PLAN}).decode()
SAMPLING = Sampling(0.0, 2048)
SDK = "the SDK as we call it"
ALONE = "our wrappers, no HTTP"
Call = Callable[[str], Awaitable[object]]


class Constant:
    """Answers at once, so that the server costs little apart from its HTTP."""

    async def complete(self, request: Request) -> Reply:
        """Answer."""
        return Reply(ANSWER, Finish.STOP, Usage(1000, 30), None, 0.0, "simulated", simulated=True)


def serve(ready: Connection) -> None:
    """Serve in this process; send the addresses through the pipe."""
    run(App(Constant(), latency=LATENCY), ready=ready.send)


@contextmanager
def server() -> Iterator[str]:
    """Run the server in a separate process; yield its address."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=serve, args=(there,), daemon=True)
    process.start()
    try:
        yield here.recv().openai
    finally:
        process.kill()
        process.join()


@dataclass(frozen=True, slots=True)
class Cost:
    """The duration of a round, in seconds."""

    wall: float
    cpu: float


async def measured(work: Awaitable[object]) -> Cost:
    """Measure a round."""
    wall, cpu = time.perf_counter(), time.process_time()
    await work
    return Cost(time.perf_counter() - wall, time.process_time() - cpu)


class Prompts:
    """The first prompt of one agent of eight, different for every call so that no cache knows it."""

    def __init__(self, arguments: list[str]) -> None:
        prompt = find_prompt(Wanted(rest=tuple(arguments)))
        self._request = Request(prompt.messages, prompt.answer, SAMPLING)
        self._numbers = count()

    def __call__(self) -> Request:
        *first, last = self._request.messages
        words = replace(last, content=f"{last.content}\n{next(self._numbers)}")
        return replace(self._request, messages=(*first, words))


def arguments(address: str, folder: Path) -> list[str]:
    """Return the configuration of a naive team that uses the server, for one step."""
    llm = ["agents=naive", "max_steps=1", "llm=openai", "llm.model=simulated", "llm.api_key_env=null"]
    cache = f"llm.cache_path={folder / 'replies.sqlite'}"
    return [*llm, f"llm.base_url={address}", f"llm.max_concurrency={AGENTS}", cache]


def wrappers(folder: Path) -> Model:
    """Put our wrappers around a model that answers at once."""
    file, folding = (folder / "wrappers.jsonl").open("wb"), Folding()

    def write(record: Mapping[str, Any]) -> None:
        file.write(folding.line(record))
        file.flush()

    retry, limits = RetryRules(5, 5, 60.0, 1.0, 30.0), CallLimits(AGENTS, None, None)
    return build_stack(
        with_access(Constant(), rng=random.Random(0), retry=retry, limits=limits),
        name="constant",
        spending=Spending(Budget()),
        max_repairs=1,
        sink=write,
        under_way=UnderWay(),
    )


async def rounds(team: Cell, prompts: Prompts, folder: Path) -> Mapping[str, list[Cost]]:
    """Measure all rounds, alternating."""
    pool = ModelPool()
    address = team.plain["llm"]["base_url"]
    usual = openai.AsyncOpenAI(api_key="none", base_url=address, max_retries=0)
    quick = openai.AsyncOpenAI(
        api_key="none", base_url=address, max_retries=0, http_client=openai.DefaultAioHttpClient()
    )
    books = CallLedger(team.configuration, folder)
    recorded = EpisodeModels(team.configuration, pool, books)

    async def as_it_comes(_: str) -> object:
        return await usual.chat.completions.create(**body(prompts()))

    async def as_we_call_it(_: str) -> object:
        return await quick.post(PATH, cast_to=ChatCompletion, body=body(prompts()))

    async def stack(name: str) -> object:
        return await recorded(name).complete(prompts())

    alone = wrappers(folder)

    async def in_process(name: str) -> object:
        return await alone.complete(replace(prompts(), origin=Origin(name, 0)))

    kinds: Mapping[str, Call] = {
        "the SDK as it comes": as_it_comes,
        SDK: as_we_call_it,
        "our stack": stack,
        ALONE: in_process,
    }
    costs: dict[str, list[Cost]] = {name: [] for name in (*kinds, "a naive team, prompts to trace")}
    for number in range(RUNS + 1):
        for kind, call in kinds.items():
            calls = [call(f"agent_{agent}") for agent in range(AGENTS)]
            costs[kind].append(await measured(asyncio.gather(*calls)))
        minds = EpisodeModels(team.configuration, pool, CallLedger(team.configuration, None))
        with Recorder(folder / f"{number}.jsonl") as recorder:
            costs["a naive team, prompts to trace"].append(await measured(play(team, build(team, minds), recorder)))
    books.close()
    await pool.close()
    await usual.close()
    await quick.close()
    return {name: found[1:] for name, found in costs.items()}


def body(request: Request) -> dict[str, Any]:
    """Return the request fields of our provider."""
    return {
        "model": "simulated",
        **chat_arguments(request, Offer(Structured.SCHEMA, request.sampling, MaxTokensKey.MAX_TOKENS, 256)),
    }


def main() -> int:
    """Measure and print the table."""
    with server() as address, tempfile.TemporaryDirectory() as folder:
        llm = arguments(address, Path(folder))
        team = Cell.compose([*llm, f"n={AGENTS}", "llm.cache=false"])
        costs = asyncio.run(rounds(team, Prompts([*llm, "n=8"]), Path(folder)))
    table = Table(title=f"{AGENTS} calls of {LATENCY} s at once, openai {version('openai')}, medians of {RUNS} rounds")
    for column in ("what", "round", "of the ideal", "CPU a call", "above the SDK"):
        table.add_column(column, justify="right")
    first = median(cost.cpu for cost in costs[SDK])
    for name, found in costs.items():
        wall, cpu = median(cost.wall for cost in found), median(cost.cpu for cost in found)
        above = f"{1e3 * (cpu if name == ALONE else cpu - first) / AGENTS:.2f} ms"
        table.add_row(name, f"{wall:.2f} s", f"{wall / LATENCY:.2f}", f"{1e3 * cpu / AGENTS:.2f} ms", above)
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
