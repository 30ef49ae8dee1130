"""Records of calls, with what repeats itself written once."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorum.agents.llm.recording import LEAST, Folding, Unfolding, unfold, unfolded

RULES = "".join(f"Rule {i}: whoever pushes alone pushes in vain.\n" for i in range(60))


def record(*texts: str, agent: str = "a", answer: Any = None) -> dict[str, Any]:
    messages = [{"role": "user", "content": text} for text in texts]
    return {"key": "k", "agent": agent, "t": 0, "request": {"messages": messages, "answer": answer, "sample": 0}}


def written(records: list[dict[str, Any]]) -> list[bytes]:
    folding = Folding()
    return [folding.line(one) for one in records]


words = st.lists(st.sampled_from([RULES, RULES[:700], "ä" * 300, "x" * 400, "end", ""]), max_size=4).map("".join)
answers = st.sampled_from([None, {"name": "plan", "schema": {"enum": list(range(40))}}, {"name": "say", "schema": {}}])


@given(st.lists(st.builds(record, words, words, agent=st.sampled_from("ab"), answer=answers), max_size=8))
def test_what_is_read_is_what_was_written(records: list[dict[str, Any]]) -> None:
    assert list(unfolded(written(records))) == records


def test_a_text_that_begins_like_the_one_before_costs_its_end_only() -> None:
    lines = written(
        [record(RULES + f"You see {i}.", answer={"name": "plan", "schema": {"enum": [1] * 500}}) for i in range(50)]
    )
    assert len(lines[0]) > len(RULES)
    assert max(map(len, lines[1:])) < 300


def test_a_call_needs_one_other_line_at_most_wherever_it_is() -> None:
    lines = written([record(RULES + "".join(str(j) for j in range(i))) for i in range(200)])
    starts = {sum(map(len, lines[:i])): orjson.loads(line) for i, line in enumerate(lines)}
    for line in lines:
        asked: list[int] = []
        unfold(orjson.loads(line), lambda byte, asked=asked: asked.append(byte) or starts[byte])  # type: ignore[misc]
        assert len(asked) <= 1


def test_short_texts_and_those_of_others_are_written_as_they_are() -> None:
    records = [record("x" * (LEAST - 1)), record("x" * (LEAST - 1)), record(RULES, agent="a"), record(RULES, agent="b")]
    assert [orjson.loads(line) for line in written(records)] == records


@pytest.mark.parametrize(
    "like",
    [[7, 0, 5], [0, 9, 5], [0, 0, 10**9], [0, 0, -1], "no", [0, 0], [0, 0, None]],
    ids=str,
)
def test_a_reference_that_leads_nowhere_is_reported(like: Any) -> None:
    reader = Unfolding()
    reader.read(orjson.dumps(record("first")) + b"\n")
    broken = record("second")
    broken["request"]["messages"][0]["like"] = like
    with pytest.raises(ValueError, match=r"refers to a (missing )?text"):
        reader.whole(reader.read(orjson.dumps(broken) + b"\n"))


def test_references_do_not_lead_on_to_others() -> None:
    reader = Unfolding()
    loop = record("itself")
    loop["request"]["messages"][0]["like"] = [0, 0, 3]
    with pytest.raises(ValueError, match="itself incomplete"):
        reader.whole(reader.read(orjson.dumps(loop) + b"\n"))
    loop["request"]["messages"][0].pop("like")
    loop["request"]["answer"] = {"like": 0}
    reader = Unfolding()
    with pytest.raises(ValueError, match="itself incomplete"):
        reader.whole(reader.read(orjson.dumps(loop) + b"\n"))


def conversation(turns: list[tuple[str, int, int, bool]]) -> list[dict[str, Any]]:
    """Return the calls of turns: what is asked, earlier turns that go, wrong answers, whether it is answered."""
    system = {"role": "system", "content": RULES}
    said: list[dict[str, Any]] = []
    calls = []
    for number, (text, dropped, wrong, is_answered) in enumerate(turns):
        now = [system, *said[2 * dropped :], {"role": "user", "content": text}]
        texts = [*(f"wrong {i}" for i in range(wrong)), f"answer {number} {text[:400]}"]
        for place, reply in enumerate(texts):
            carried = {"carried": [{"signature": f"signature {number} {place}"}]} if number % 2 else {}
            call = record()
            call["request"]["messages"] = now
            calls.append({**call, "reply": {"text": reply, **carried}} if is_answered or place < wrong else call)
            fix = [{"role": "assistant", "content": reply}, {"role": "user", "content": "no"}]
            if place < wrong:
                now = [*now[: len(now) if not place else -2], *fix]
        if is_answered:
            answer = {"role": "assistant", "content": texts[-1], **carried}
            said = [*said[2 * dropped :], {"role": "user", "content": text}, answer]
    return calls


turns = st.tuples(words, st.sampled_from([0, 0, 1, 3]), st.sampled_from([0, 0, 2]), st.booleans())


@given(st.lists(turns, max_size=8))
def test_what_is_read_of_a_conversation_is_what_was_written(turns: list[tuple[str, int, int, bool]]) -> None:
    records = conversation(turns)
    lines = written(records)
    assert list(unfolded(lines)) == records
    starts = {sum(map(len, lines[:i])): orjson.loads(line) for i, line in enumerate(lines)}
    assert [unfold(orjson.loads(line), starts.__getitem__) for line in lines] == records


def test_a_turn_of_a_conversation_costs_what_is_new_in_it_however_long_that_is() -> None:
    lines = written(conversation([(RULES + f"You see {i}.", 0, i % 3, True) for i in range(100)]))
    assert max(map(len, lines[1:])) < 3 * len(RULES)
    assert sum(line.count(b"signature 51 0") for line in lines) == 1
    half = len(lines) // 2
    assert sum(map(len, lines[half:])) < 1.1 * sum(map(len, lines[:half]))


@pytest.mark.parametrize(
    "like",
    [[0, 0, 9], [0, 1, 1], [0, -1, 2], [7, 0, 2], [0, 0], "no", [], [[], 0, 2], [0, None, 2], [10**9, 0, 2]],
    ids=str,
)
def test_earlier_messages_that_are_not_there_are_reported(like: Any) -> None:
    reader = Unfolding()
    reader.read(orjson.dumps(record("first", "second")) + b"\n")
    broken = record("third")
    broken["request"]["like"] = like
    with pytest.raises(ValueError, match=r"refers to (a missing text|missing messages)"):
        reader.whole(reader.read(orjson.dumps(broken) + b"\n"))


def test_lines_that_go_back_to_each_other_are_reported() -> None:
    loop = record("itself")
    loop["request"]["like"] = [0, 0, 2]
    reader = Unfolding()
    with pytest.raises(ValueError, match="do not precede"):
        reader.whole(reader.read(orjson.dumps(loop) + b"\n"))
