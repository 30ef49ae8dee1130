"""Rules of recording and replay: what was recorded over HTTP comes back without it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import orjson
import pytest

from maeil.calls import Ledger, entered_in
from quorum.agents.llm.errors import (
    AnswerInvalid,
    BudgetReached,
    InfrastructureFailed,
    NotRecorded,
    ServerFailed,
    UnknownModel,
)
from quorum.agents.llm.limits import RetryRules
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.recording import Recording
from quorum.agents.llm.replay import Replay
from quorum.agents.llm.spending import Budget, Spending
from tests.agents.llm.wire import TEXT, WIRES, Brain, provider, reply, request, stack
from tests.loopback import Fault, FaultKind

Records = list[dict[str, Any]]


def reread(records: Records) -> Records:
    """Give records as they come back from a file."""
    return [orjson.loads(orjson.dumps(record)) for record in records]


@pytest.mark.parametrize("wire", WIRES)
async def test_what_was_recorded_over_http_is_replayed_the_same(wire: str) -> None:
    records: Records = []
    again: Records = []
    faults = [Fault(FaultKind.WRONG_ENUM), Fault(FaultKind.SERVER_ERROR), None, Fault(FaultKind.PROSE)]
    async with provider(wire, faults=faults) as model:
        recorded = stack(model, sink=records.append)
        first = [await recorded.complete(request(prompt, agent=prompt)) for prompt in "abc"]
    replayed = stack(Replay(reread(records)), retry=None, sink=again.append)
    second = [await replayed.complete(request(prompt, agent=prompt)) for prompt in "abc"]
    assert second == first
    assert [orjson.dumps(record) for record in again] == [orjson.dumps(record) for record in records]


async def test_a_record_says_who_asked_what_and_what_came_back() -> None:
    records: Records = []
    await stack(Brain(["no", TEXT], usd=0.5), sink=records.append).complete(request("Where to?", agent="agent_3", t=17))
    first, second = records
    assert [(record["agent"], record["t"]) for record in records] == [("agent_3", 17)] * 2
    assert first["request"]["messages"][-1] == {"role": "user", "content": "Where to?"}
    assert first["request"]["sampling"] == {"temperature": 0.0, "max_tokens": 256, "seed": None}
    assert [record["reply"]["text"] for record in records] == ["no", TEXT]
    assert second["request"]["messages"][-2] == {"role": "assistant", "content": "no"}
    assert "This answer cannot be taken" in second["request"]["messages"][-1]["content"]
    assert second["reply"]["usage"] == {"prompt": 100, "completion": 20, "cached": 0}
    assert second["reply"]["usd"] == 0.5
    assert set(second["reply"]["wall"]) == {"seconds", "attempts", "cache_hit"}


@pytest.mark.parametrize("cut_short", [BudgetReached("calls", 1, 1), ServerFailed("gone"), UnknownModel("gone")])
async def test_an_answer_is_recorded_and_entered_although_asking_again_for_it_fails(cut_short: Exception) -> None:
    records: Records = []
    ledger = Ledger()
    model = stack(Brain(["no", cut_short], usd=0.5), retry=RetryRules(1, 1, 0.0, 0.0, 0.0), sink=records.append)
    with entered_in(ledger), pytest.raises((BudgetReached, InfrastructureFailed, UnknownModel)):
        await model.complete(request())
    assert [record["reply"]["text"] for record in records if "reply" in record] == ["no"]
    (call,) = [call.record for call in ledger.calls]
    assert (call["prompt_tokens"], call["completion_tokens"], call["usd"]) == (100, 20, 0.5)
    assert call.get("unanswered") == (None if isinstance(cut_short, BudgetReached) else "failed")


async def test_what_was_answered_and_what_was_under_way_is_known_when_a_call_is_cancelled() -> None:
    hangs = asyncio.Event()

    class Hangs:
        async def complete(self, asked: Request) -> Reply:
            if len(asked.messages) > 2:
                hangs.set()
                await asyncio.Event().wait()
            return reply("no")

    records: Records = []
    ledger = Ledger()

    async def ask() -> None:
        with entered_in(ledger):
            await stack(Hangs(), sink=records.append).complete(request())

    task = asyncio.create_task(ask())
    await hangs.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [record.get("failure", {}).get("kind") for record in records] == [None, "Cancelled"]
    (call,) = [call.record for call in ledger.calls]
    assert (call["completion_tokens"], call["unanswered"]) == (20, "cancelled")


async def test_a_call_that_ends_well_is_one_entry_with_all_its_answers() -> None:
    ledger = Ledger()
    with entered_in(ledger):
        await stack(Brain(["no", TEXT])).complete(request())
        with pytest.raises(AnswerInvalid):
            await stack(Brain("no")).complete(request())
    fixed, never = [call.record for call in ledger.calls]
    assert (fixed["answers"], fixed["completion_tokens"], fixed.get("parse_failure")) == (2, 40, None)
    assert (never["answers"], never["completion_tokens"], never["parse_failure"]) == (3, 60, True)


async def test_equal_runs_differ_in_nothing_but_wall() -> None:
    runs: list[Records] = [[], []]
    for records, faults in zip(runs, ([], [Fault(FaultKind.RESET)]), strict=True):
        async with provider("openai", faults=faults) as model:
            await stack(model, sink=records.append).complete(request())
    for records in runs:
        assert records[0]["reply"].pop("wall")["attempts"] in {1, 2}
    assert orjson.dumps(runs[0][0]) == orjson.dumps(runs[1][0])


async def test_equal_requests_are_answered_in_the_order_of_the_recording_by_agent() -> None:
    records: Records = []
    model = Recording(Brain(["1", "2", "3"]), records.append)
    for agent in ("x", "y", "x"):
        await model.complete(request(free=True, agent=agent))
    replay = Replay(reread(records))
    texts = [(await replay.complete(request(free=True, agent=agent))).text for agent in ("y", "x", "x")]
    assert texts == ["2", "1", "3"]
    with pytest.raises(NotRecorded, match="more often"):
        await replay.complete(request(free=True, agent="y"))


async def test_what_was_not_recorded_shows_the_difference_to_the_nearest() -> None:
    records: Records = []
    model = Recording(Brain(), records.append)
    for prompt in ("You see\na wall\nto the north", "Something else entirely"):
        await model.complete(request(prompt, agent="a", t=3))
    with pytest.raises(NotRecorded) as caught:
        await Replay(reread(records)).complete(request("You see\na door\nto the north", agent="a", t=3))
    assert "a at t = 3" in str(caught.value)
    assert "-a wall" in str(caught.value)
    assert "+a door" in str(caught.value)
    assert "Something else" not in str(caught.value)
    with pytest.raises(NotRecorded, match="temperature"):
        await Replay(reread(records)).complete(request("Something else entirely", agent="a", temperature=1.0))
    with pytest.raises(NotRecorded, match="no call was recorded"):
        await Replay([]).complete(request())


@pytest.mark.parametrize(
    "reply",
    [
        None,
        [],
        {"wall": 5},
        {"text": 5},
        {"usage": {"prompt": {}, "completion": 1}},
        {"usd": "1"},
        {"wall": {"seconds": None}},
    ],
)
async def test_an_answer_that_was_damaged_since_is_an_error_and_no_bug(reply: object) -> None:
    records: Records = []
    await Recording(Brain(), records.append).complete(request())
    damaged = [
        {**record, "reply": {**record["reply"], **reply} if isinstance(reply, dict) else reply}
        for record in reread(records)
    ]
    with pytest.raises(NotRecorded, match="the record is damaged"):
        await Replay(damaged).complete(request())


async def test_a_record_that_names_a_text_that_is_not_there_is_an_error_and_no_bug() -> None:
    records: Records = []
    await Recording(Brain(), records.append).complete(request())
    with pytest.raises(NotRecorded, match="the record is damaged"):
        await Replay(reread(records), lambda record: {}[record["agent"]]).complete(request("another"))


async def test_failures_are_recorded_and_fail_again_in_the_same_way() -> None:
    cases = [
        (stack(Brain([ServerFailed("x")])), InfrastructureFailed),
        (stack(Brain([UnknownModel("x")])), UnknownModel),
        (stack(Brain(), spending=Spending(Budget(calls=0))), BudgetReached),
    ]
    for model, kind in cases:
        records: Records = []
        with pytest.raises(kind) as first:
            await Recording(model, records.append).complete(request())
        with pytest.raises(kind) as second:
            await Replay(reread(records)).complete(request())
        assert str(first.value) == str(second.value)
        assert vars(first.value) == vars(second.value)


async def test_a_cancelled_call_is_recorded_and_waits_to_be_cancelled_again() -> None:
    records: Records = []
    async with provider("openai", faults=[Fault(FaultKind.SILENCE)]) as model:
        task = asyncio.create_task(Recording(model, records.append).complete(request()))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert records[0]["failure"]["kind"] == "Cancelled"
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(Replay(reread(records)).complete(request()), 0.05)


async def test_a_record_is_json_and_holds_no_headers() -> None:
    records: Records = []
    async with provider("openai") as model:
        await stack(model, sink=records.append).complete(replace(request(), origin=None))
    text = json.dumps(records).lower()
    assert "authorization" not in text
    assert "user-agent" not in text
    assert records[0]["agent"] == ""
