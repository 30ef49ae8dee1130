"""Who wrote to whom is counted as the trace reports it; tokens and money of the pages add up to the metrics."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from maeil.metrics import compute_metrics
from maeil.trace import read_trace
from maeil.trace.events import MessageSent, MessagesRead
from quorum.view.viewer import pages
from quorum.view.viewer.calls import spent_by
from quorum.view.viewer.episode import read_episode
from quorum.view.viewer.messages import Traffic
from tests.recorded import recorded_run


def sent(message: int, sender: int, recipients: list[int], delivered_at: float, what: str = "inform") -> MessageSent:
    return MessageSent(message, sender, recipients, what, "hello", delivered_at)


def test_a_message_is_passed_over_by_a_plan_that_comes_before_its_reading() -> None:
    traffic = Traffic()
    traffic.sent(sent(0, 0, [1, 2, 3], 5))
    traffic.read(MessagesRead(1, [0]))
    assert traffic.plan_committed(1, 9) == [], "it was read"
    assert traffic.plan_committed(2, 9) == [0]
    assert traffic.plan_committed(2, 12) == [], "it is passed over once"
    traffic.read(MessagesRead(2, [0]))
    assert traffic.rows() == [
        (0, 1, "inform", 1, 1, 0, 0),
        (0, 2, "inform", 1, 1, 1, 1),
        (0, 3, "inform", 1, 0, 0, 0),
    ]


def test_a_plan_of_the_instant_of_the_delivery_passes_nothing_over() -> None:
    traffic = Traffic()
    traffic.sent(sent(0, 0, [1], 5))
    assert traffic.plan_committed(1, 5) == []
    traffic.sent(sent(1, 0, [1], 30))
    assert traffic.plan_committed(1, 20) == [0], "the other one is still on its way"


def test_kinds_and_directions_are_counted_apart() -> None:
    traffic = Traffic()
    traffic.sent(sent(0, 0, [1], 1, "ack"))
    traffic.sent(sent(1, 0, [1], 1, "propose"))
    traffic.sent(sent(2, 1, [0], 1, "propose"))
    assert [row[:4] for row in traffic.rows()] == [(0, 1, "ack", 1), (0, 1, "propose", 1), (1, 0, "propose", 1)]


def test_a_reading_of_a_message_that_was_never_sent_is_left_out() -> None:
    traffic = Traffic()
    traffic.read(MessagesRead(1, [7]))
    assert traffic.rows() == []


def test_the_counts_of_a_run_are_those_of_its_trace(sixteen: Path) -> None:
    trace = read_trace(sixteen)
    messages = {event.message: event for event in trace.of(MessageSent)}
    expected = Counter((m.sender, r, m.what) for m in messages.values() for r in m.recipients)
    read = Counter(
        (messages[number].sender, e.agent, messages[number].what)
        for e in trace.of(MessagesRead)
        for number in e.messages
    )
    rows = read_episode(sixteen).overview["traffic"]
    assert {row[:3]: row[3] for row in rows} == expected
    assert {row[:3]: row[4] for row in rows if row[4]} == read


def test_what_pages_say_of_messages_adds_up_to_the_counts(sixteen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a message is read, or passed over, on a later page."""
    monkeypatch.setattr(pages, "WHOLE", 0)
    monkeypatch.setattr(pages, "PAGE", 3_000)
    episode = read_episode(sixteen)
    assert len(episode.pages) > 2
    found: Counter[tuple[int, int, str, str]] = Counter()
    for number in range(len(episode.pages)):
        for message in orjson.loads(episode.pages.data(number))["messages"]:
            for agent in message["read"][::3]:
                found[message["sender"], int(agent), message["what"], "read"] += 1
            for agent in message["passed_over"]:
                found[message["sender"], agent, message["what"], "passed over"] += 1
    expected: Counter[tuple[int, int, str, str]] = Counter()
    for sender, recipient, what, _, read, passed, _ in episode.overview["traffic"]:
        expected[sender, recipient, what, "read"] += read
        expected[sender, recipient, what, "passed over"] += passed
    assert +found == +expected


def test_a_message_has_what_its_readers_read_in_its_place() -> None:
    """As a control arm gives it to them."""
    muted = recorded_run("agents=naive", "llm=simulated", "n=3", "topology=debate", "max_steps=3", "extension=mute")
    messages = orjson.loads(read_episode(muted).pages.data(0))["messages"]
    assert messages
    for message in messages:
        assert message["instead"] == [part for agent in message["read"][::3] for part in (agent, None)]


def test_who_reads_a_message_on_a_later_page_is_put_into_its_own() -> None:
    packed = pages.Pages()
    page: Any = {"first": 0, "messages": [{"read": [], "passed_over": []}, {"read": [1, 0, 2], "passed_over": []}]}
    packed.add(page)
    packed.amend(0, "messages", 1, {"passed_over": (2,)})
    packed.amend(0, "messages", 1, {"read": (2, 5, 7)})
    found = orjson.loads(packed.data(0))["messages"]
    assert found == [{"read": [], "passed_over": []}, {"read": [1, 0, 2, 2, 5, 7], "passed_over": [2]}]


def test_tokens_and_money_of_the_pages_are_those_of_the_metrics(sixteen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "WHOLE", 0)
    monkeypatch.setattr(pages, "PAGE", 3_000)
    episode = read_episode(sixteen)
    parts = [orjson.loads(episode.pages.data(number)) for number in range(len(episode.pages))]
    metrics = compute_metrics(read_trace(sixteen))
    names = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "usd")
    for place, name in enumerate(names):
        values = [row[3 + place] for part in parts for row in part["usage"]]
        assert sum(values) == pytest.approx(metrics[f"model.{name}"]), name
        before = 0.0
        for part in parts:
            assert part["spent"][place] == pytest.approx(before)
            before += sum(row[3 + place] for row in part["usage"])
    assert sum(row[8] for part in parts for row in part["usage"]) == metrics["model.answers"], "all of them simulated"


def test_what_a_call_does_not_tell_is_counted_as_untold() -> None:
    spent = spent_by([{"prompt_tokens": 5, "completion_tokens": 2, "usd": None}, {"unanswered": "failed"}])
    assert spent == (5, 2, 0, 0, 1, 0)
    assert spent_by([{"unanswered": "cancelled"}]) is None
    assert spent_by([]) is None
