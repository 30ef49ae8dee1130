"""A thousand calls of one process are under way at once, over real HTTP, and every one of them is answered."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator

import pytest

from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Reply, Request, Sampling, Usage
from quorum.configuration.cell import Cell
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels
from tests.conftest import PATIENCE
from tests.serving import served

CALLS = 1000
FILES = 4 * CALLS
"""Both ends of each connection are in this process."""


class Crowd:
    """Answers nobody before all have asked."""

    def __init__(self) -> None:
        self.waiting = self.most = 0
        self._all = asyncio.Event()

    async def complete(self, request: Request) -> Reply:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        if self.waiting == CALLS:
            self._all.set()
        async with asyncio.timeout(PATIENCE):
            await self._all.wait()
        return Reply(request.messages[-1].content, Finish.STOP, Usage(10, 1), None, 0.0, "simulated", simulated=True)


@pytest.fixture(autouse=True)
def _files_enough() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < FILES:
        if hard < FILES:
            pytest.skip(f"the system allows {hard} open files; this needs {FILES}: ulimit -n")
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.conformance
def test_a_thousand_calls_are_under_way_at_once_and_all_are_answered() -> None:
    crowd = Crowd()
    with served(crowd) as addresses:
        llm = ["llm=openai", f"llm.base_url={addresses.openai}", "llm.model=simulated", "llm.api_key_env=null"]
        values = [f"llm.max_concurrency={CALLS}", "llm.connect_timeout=60", "llm.tries=1", "llm.cache=false"]
        cell = Cell.compose(["agents=naive", *llm, *values])

        async def ask_all() -> tuple[list[Reply], int]:
            pool = ModelPool()
            models = EpisodeModels(cell.configuration, pool, CallLedger(cell.configuration, None))
            try:
                asked = (
                    Request((ChatMessage(ChatRole.USER, f"call {n}"),), None, Sampling(0.0, 10)) for n in range(CALLS)
                )
                replies = await asyncio.gather(*(models(f"agent_{n % 8}").complete(r) for n, r in enumerate(asked)))
                return replies, pool.under_way.spent.answers
            finally:
                await pool.close()

        replies, answers = asyncio.run(ask_all())
    assert [reply.text for reply in replies] == [f"call {n}" for n in range(CALLS)]
    assert (crowd.most, answers) == (CALLS, CALLS)
