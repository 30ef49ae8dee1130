"""Answers that hold nothing: a kind of their own, asked for once more with twice the room, over real HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from maeil.calls import Ledger, entered_in
from quorum.agents.llm.errors import AnswerInvalid, EmptyAnswer
from quorum.agents.llm.protocol import Finish, Reply, Request, Usage
from quorum.agents.llm.protocol import ThinkingEffort as Effort
from quorum.agents.llm.providers.thinking import ROOM
from quorum.agents.llm.recording import Recording
from quorum.agents.llm.records import invalid
from quorum.agents.llm.replay import Replay
from quorum.agents.llm.structured import Structuring
from tests.agents.llm.raw import answer, completion, raw_server
from tests.agents.llm.wire import ANSWER, MODEL, SDKS, TEXT, Brain, client, provider, reply, request, stack
from tests.loopback import Fault, FaultKind

NOTHING = Reply("", Finish.LENGTH, Usage(100, 20, reasoning=20), None, 0.0, MODEL)
REFUSAL = Reply("I cannot help with that.", Finish.REFUSAL, Usage(100, 6), None, 0.0, MODEL)


@pytest.mark.parametrize("kind", [FaultKind.EMPTY, FaultKind.REFUSAL], ids=str)
@pytest.mark.parametrize("wire", SDKS)
async def test_an_empty_answer_is_asked_for_once_more_with_twice_the_room_and_no_word_more(
    wire: str, kind: FaultKind
) -> None:
    brain = Brain()
    async with provider(wire, brain, faults=[Fault(kind)]) as model:
        answered = await stack(model).complete(request())
    first, second = brain.asked
    assert second.messages == first.messages
    assert (first.sampling.max_tokens, second.sampling.max_tokens) == (256, 512)
    assert (answered.value, answered.repairs, answered.widened, len(answered.rejected)) == (ANSWER, 0, 1, 1)


@pytest.mark.parametrize(("fault", "cause"), [(FaultKind.EMPTY, "stop"), (FaultKind.REFUSAL, "refusal")], ids=str)
@pytest.mark.parametrize("wire", SDKS)
async def test_an_answer_that_stays_empty_is_a_separate_kind_of_failure(
    wire: str, fault: FaultKind, cause: str
) -> None:
    brain = Brain()
    async with provider(wire, brain, faults=lambda _: Fault(fault)) as model:
        with pytest.raises(EmptyAnswer) as caught:
            await stack(model).complete(request())
    call = invalid(caught.value)
    assert (caught.value.cause, len(brain.asked)) == (cause, 2)
    assert call.record["empty_answer"] == cause
    assert "parse_failure" not in call.record
    assert call.completion_tokens == 40


async def test_thoughts_have_twice_the_room_too() -> None:
    said = completion(message={"role": "assistant", "content": "<think>Hm, hm, hm"})
    async with raw_server(answer(said)) as (addresses, server), client("openai", addresses) as model:
        asked = replace(request(), sampling=replace(request().sampling, effort=Effort.LOW))
        with pytest.raises(EmptyAnswer):
            await stack(model).complete(asked)
    assert [body["max_tokens"] for body in server.asked] == [256 + ROOM[Effort.LOW], 2 * (256 + ROOM[Effort.LOW])]


async def test_repairs_are_left_for_what_is_wrong_and_keep_the_room() -> None:
    brain = Brain(["first", NOTHING, "second", TEXT])
    answered = await Structuring(brain, 2).complete(request())
    assert answered.value == ANSWER
    assert [asked.sampling.room_factor for asked in brain.asked] == [None, None, 2, 2]
    assert brain.asked[2].messages == brain.asked[1].messages
    with pytest.raises(AnswerInvalid) as caught:
        await Structuring(Brain([NOTHING, "first", "second"]), 1).complete(request())
    assert not isinstance(caught.value, EmptyAnswer)
    with pytest.raises(EmptyAnswer):
        await Structuring(Brain([NOTHING, "first", NOTHING]), 1).complete(request())


async def test_a_free_text_is_empty_like_any_other() -> None:
    brain = Brain([REFUSAL, reply("Yes.")])
    assert (await Structuring(brain, 0).complete(request(free=True))).text == "Yes."
    with pytest.raises(EmptyAnswer, match="refuses"):
        await Structuring(Brain([REFUSAL]), 0).complete(request(free=True))


async def test_what_an_empty_answer_has_cost_is_in_the_books() -> None:
    ledger = Ledger()
    with entered_in(ledger), pytest.raises(EmptyAnswer):
        await stack(Brain([NOTHING])).complete(request())
    (call,) = ledger.calls
    assert (call.completion_tokens, call.record["reasoning_tokens"], call.record["answers"]) == (40, 40, 2)
    assert call.record["empty_answer"] == "length"


async def _replayed(records: list[dict[str, Any]], asked: Request) -> Reply:
    recorded = Replay(records)
    return await stack(recorded, widens=recorded.knows, retry=None).complete(asked)


async def test_an_empty_answer_replays_as_it_was_met() -> None:
    records: list[dict[str, Any]] = []
    answered = await Structuring(Recording(Brain([NOTHING, TEXT]), records.append), 2).complete(request())
    assert [record["request"]["sampling"].get("room_factor") for record in records] == [None, 2]
    again = await _replayed(records, request())
    assert (again.value, again.usage, again.rejected) == (answered.value, answered.usage, answered.rejected)


async def test_a_record_of_a_version_that_asked_for_a_repair_is_replayed_so() -> None:
    records: list[dict[str, Any]] = []
    older = Structuring(Recording(Brain([NOTHING, TEXT]), records.append), 2, widens=lambda _: False)
    await older.complete(request())
    assert "cannot be taken" in records[1]["request"]["messages"][-1]["content"]
    assert (await _replayed(records, request())).value == ANSWER
