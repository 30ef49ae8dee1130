"""What a killed attempt has paid for is given back once, to who asked for it, and all else is asked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Origin, Reply, Request, Sampling, Usage
from quorum.agents.llm.recording import Recording
from quorum.agents.llm.resumed_answers import ResumedAnswers, Resuming
from quorum.configuration.cell import Cell
from quorum.episode.call_ledger import CallLedger


class Counter:
    """Answers with the number of the request."""

    asked = 0

    async def complete(self, request: Request) -> Reply:
        self.asked += 1
        return Reply(str(self.asked), Finish.STOP, Usage(5, 1), 0.5, 1.0, "counter")


def request(agent: str, text: str = "go") -> Request:
    return Request((ChatMessage(ChatRole.USER, text),), None, Sampling(1.0, 10), origin=Origin(agent, 0))


@pytest.fixture
def recorded() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    model = Recording(Counter(), found.append)
    for agent in ("agent_0", "agent_0", "agent_1"):
        asyncio.run(model.complete(request(agent)))
    return found


def test_answers_come_back_in_their_order_to_who_asked_and_then_the_model_is_asked(recorded) -> None:
    counter, given = Counter(), ResumedAnswers(recorded)
    model = Resuming(counter, given)
    texts = [asyncio.run(model.complete(request(agent))).text for agent in ("agent_1", "agent_0", "agent_0")]
    assert (texts, counter.asked, len(given)) == (["3", "1", "2"], 0, 0)
    for other in (request("agent_0"), request("agent_0", "stop"), request("agent_2")):
        reply = asyncio.run(model.complete(other))
        assert not reply.cache_hit
    assert counter.asked == 3


def test_what_was_given_back_to_an_attempt_is_not_given_back_a_second_time(recorded, tmp_path) -> None:
    configuration = Cell.compose(["n=2", "agents=naive"]).configuration
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, records in ((first, recorded), (second, ())):
        folder.mkdir()
        books = CallLedger(configuration, folder, [first] if folder == second else ())
        model = Recording(Resuming(Counter(), books.given), books.enter)
        for record in records:
            books.enter(record)
        if folder == second:
            assert [asyncio.run(model.complete(request("agent_0"))).text for _ in range(3)] == ["1", "2", "1"]
            books.settle()
            assert first.exists()  # the answer to agent_1 is there alone
        books.close()
    again = CallLedger(configuration, None, [first, second])
    assert len(again.given) == 4
    for agent, number in (("agent_0", 3), ("agent_1", 1)):
        assert all(again.given.take(request(agent)) for _ in range(number))
    again.settle()
    assert not first.exists()
