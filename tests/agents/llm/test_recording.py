"""Rules of recording and replay: what was recorded over HTTP comes back without it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from quorum.agents.llm.budget import Budget, Spending
from quorum.agents.llm.errors import (
    AnswerInvalid,
    BudgetReached,
    InfrastructureFailed,
    NotRecorded,
    ServerFailed,
    UnknownModel,
)
from quorum.agents.llm.recording import Recording
from quorum.agents.llm.records import dump, load
from quorum.agents.llm.replay import Replay
from quorum.agents.llm.server import Fault, FaultKind
from tests.agents.llm.wire import ANSWER, TEXT, WIRES, Brain, provider, request, stack

Records = list[dict[str, Any]]


def reread(records: Records) -> Records:
    """Give records as they come back from a file."""
    return [load(dump(record)) for record in records]


@pytest.mark.parametrize("wire", WIRES)
async def test_what_was_recorded_over_http_is_replayed_the_same(wire: str) -> None:
    records: Records = []
    again: Records = []
    faults = [Fault(FaultKind.WRONG_ENUM), Fault(FaultKind.SERVER_ERROR), None, Fault(FaultKind.PROSE)]
    async with provider(wire, faults=faults) as model:
        recorded = stack(model, sink=records.append)
        first = [await recorded.complete(request(prompt, agent=prompt)) for prompt in "abc"]
    replayed = stack(Replay(reread(records)), retry=None, max_repairs=None, sink=again.append)
    second = [await replayed.complete(request(prompt, agent=prompt)) for prompt in "abc"]
    assert second == first
    assert [dump(record) for record in again] == [dump(record) for record in records]


async def test_a_record_says_who_asked_what_and_what_came_back() -> None:
    records: Records = []
    await stack(Brain(["no", TEXT], usd=0.5), sink=records.append).complete(request("Where to?", agent="agent_3", t=17))
    (record,) = records
    assert (record["agent"], record["t"]) == ("agent_3", 17)
    assert record["request"]["messages"][-1] == {"role": "user", "content": "Where to?"}
    assert record["request"]["sampling"] == {"temperature": 0.0, "max_tokens": 256, "seed": None}
    assert record["reply"]["value"] == ANSWER
    assert record["reply"]["usage"] == {"prompt": 200, "completion": 40, "cached": 0}
    assert record["reply"]["usd"] == 1.0
    assert record["reply"]["repairs"] == 1
    assert record["reply"]["rejected"][0]["text"] == "no"
    assert set(record["reply"]["wall"]) == {"seconds", "attempts", "cache_hit"}


async def test_equal_runs_differ_in_nothing_but_wall() -> None:
    runs: list[Records] = [[], []]
    for records, faults in zip(runs, ([], [Fault(FaultKind.RESET)]), strict=True):
        async with provider("openai", faults=faults) as model:
            await stack(model, sink=records.append).complete(request())
    for records in runs:
        assert records[0]["reply"].pop("wall")["attempts"] in {1, 2}
    assert dump(runs[0][0]) == dump(runs[1][0])


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
    with pytest.raises(NotRecorded, match="nothing was recorded"):
        await Replay([]).complete(request())


async def test_failures_are_recorded_and_fail_again_in_the_same_way() -> None:
    cases = [
        (stack(Brain("nonsense")), AnswerInvalid),
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
        assert {k: v for k, v in vars(first.value).items() if k != "record"} == {
            k: v for k, v in vars(second.value).items() if k != "record"
        }


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
