"""The fingerprint that a service sends of its build is kept with the answer, and is no part of what is reproducible."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from maeil.trace.events import WALL_CALL_FIELDS
from quorum.agents.llm.protocol import Reply
from quorum.agents.llm.records import WALL, CallEntry, answered, describe_reply, read_reply
from tests.agents.llm.raw import answer, completion, raw_server
from tests.agents.llm.wire import client, request, stack


async def said(**fields: Any) -> Reply:
    async with raw_server(answer(completion(**fields))) as (addresses, _), client("openai", addresses) as model:
        return await stack(model).complete(request(free=True))


async def test_it_is_recorded_under_wall_and_read_back() -> None:
    reply = await said(system_fingerprint="fp_44709d6fcb")
    record = describe_reply(reply)
    assert record[WALL]["fingerprint"] == "fp_44709d6fcb"
    assert read_reply(record).fingerprint == reply.fingerprint == "fp_44709d6fcb"
    assert answered(reply).record["fingerprint"] == "fp_44709d6fcb"
    assert "fingerprint" in WALL_CALL_FIELDS, "two builds that answer the same have equal traces"


@pytest.mark.parametrize("sent", [None, 7, {"a": 1}, ""])
async def test_what_is_no_fingerprint_is_left_out(sent: Any) -> None:
    assert "fingerprint" not in describe_reply(await said(system_fingerprint=sent))[WALL]


async def test_answers_that_are_one_call_keep_the_fingerprints_of_all_builds() -> None:
    reply = await said(system_fingerprint="a")
    entry = CallEntry()
    entry.replies += [reply, replace(reply, fingerprint="b"), reply]
    assert entry.whole().fingerprint == "a, b"
    assert len((await said(system_fingerprint="x" * 10_000)).fingerprint) == 200
