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
    with pytest.raises(ValueError, match="names a text"):
        reader.whole(reader.read(orjson.dumps(broken) + b"\n"))


def test_references_do_not_lead_on_to_others() -> None:
    reader = Unfolding()
    loop = record("itself")
    loop["request"]["messages"][0]["like"] = [0, 0, 3]
    with pytest.raises(ValueError, match="not whole itself"):
        reader.whole(reader.read(orjson.dumps(loop) + b"\n"))
    loop["request"]["messages"][0].pop("like")
    loop["request"]["answer"] = {"like": 0}
    reader = Unfolding()
    with pytest.raises(ValueError, match="not whole itself"):
        reader.whole(reader.read(orjson.dumps(loop) + b"\n"))
