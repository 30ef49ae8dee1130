"""What can be seen of calls while they are under way."""

from __future__ import annotations

import asyncio

import pytest

from quorum.agents.llm.errors import InfrastructureFailed
from quorum.agents.llm.protocol import Finish, Origin, Reply, Request, Sampling, Usage
from quorum.agents.llm.spending import Spent, UnderWay, Watched


class Clock:
    now = 10.0

    def __call__(self) -> float:
        return self.now


class Held:
    """A model that answers on command."""

    def __init__(self) -> None:
        self.asked: list[asyncio.Future[Reply]] = []

    async def complete(self, _: Request) -> Reply:
        self.asked.append(asyncio.get_running_loop().create_future())
        return await self.asked[-1]


def _request(agent: str, role: str = "") -> Request:
    return Request((), None, Sampling(0.0, 10), origin=Origin(agent, 3, role))


def _reply(usd: float | None = 0.5, *, cache_hit: bool = False, simulated: bool = False) -> Reply:
    return Reply("x", Finish.STOP, Usage(90, 10), usd, 1.0, "m", cache_hit=cache_hit, simulated=simulated)


async def test_a_call_is_seen_from_its_beginning_to_its_answer_the_longest_first() -> None:
    clock, held = Clock(), Held()
    under_way = UnderWay(clock)
    model = Watched(held, under_way)
    first = asyncio.create_task(model.complete(_request("agent_0")))
    await asyncio.sleep(0)
    clock.now = 14.0
    second = asyncio.create_task(model.complete(_request("coordinator", "assessor")))
    await asyncio.sleep(0)
    shown = [(call.agent, call.role, call.stopwatch.seconds) for call in under_way.calls]
    assert shown == [("agent_0", "", 4.0), ("coordinator", "assessor", 0.0)]
    assert under_way.spent == Spent()
    held.asked[0].set_result(_reply())
    assert await first == _reply()
    assert [call.agent for call in under_way.calls] == ["coordinator"]
    assert under_way.spent == Spent(answers=1, tokens=100, usd=0.5)
    held.asked[1].set_result(_reply(None, cache_hit=True))
    await second
    assert under_way.calls == []
    assert under_way.spent == Spent(answers=2, tokens=200, usd=0.5, unpriced=1, cached=1)
    assert not under_way.simulated


async def test_money_of_a_simulated_model_is_called_so() -> None:
    under_way, held = UnderWay(), Held()
    task = asyncio.create_task(Watched(held, under_way).complete(_request("agent_0")))
    await asyncio.sleep(0)
    held.asked[0].set_result(_reply(simulated=True))
    await task
    assert under_way.simulated


@pytest.mark.parametrize("end", ["fails", "is cancelled"])
async def test_a_call_that_gets_no_answer_is_no_longer_under_way(end: str) -> None:
    under_way, held = UnderWay(), Held()
    task = asyncio.create_task(Watched(held, under_way).complete(_request("agent_0")))
    await asyncio.sleep(0)
    if end == "fails":
        held.asked[0].set_exception(InfrastructureFailed("no answer"))
    else:
        task.cancel()
    (outcome,) = await asyncio.gather(task, return_exceptions=True)
    assert isinstance(outcome, InfrastructureFailed if end == "fails" else asyncio.CancelledError)
    assert (under_way.calls, under_way.spent) == ([], Spent())
