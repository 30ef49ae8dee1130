"""What participants say, as lines for people."""

from __future__ import annotations

from cube_env.symbolic.actions import Wait
from maeil.plans import Plan, Task
from maeil.trace.events import MessageSent
from quorum.agents.coordination.joint import Objection, directive, feedback
from quorum.episode.live import Talk, folded, in_words

NAMES = [f"agent_{k}" for k in range(5)]


def _message(content: str, *, sender: int = 0, recipients: tuple[int, ...] = (1,), what: str = "inform") -> MessageSent:
    return MessageSent(0, sender, recipients, what, content, 0.0)


def _talk(*messages: MessageSent) -> Talk:
    talk = Talk(NAMES)
    for t, message in enumerate(messages):
        talk.hear(t, message)
    return talk


def test_a_line_says_who_tells_whom_what() -> None:
    (line,) = _talk(_message("I take block_2.", recipients=(1, 2), what="ack")).lines(80, 5)
    assert line == "  0 agent_0 → agent_1, agent_2 (ack): I take block_2."


def test_many_recipients_are_folded_and_everybody_is_all() -> None:
    assert " → all (" in _talk(_message("x", recipients=(1, 2, 3, 4))).lines(80, 5)[0]
    assert folded(NAMES) == "agent_0, agent_1 and 3 more"
    assert folded(NAMES[:3]) == "agent_0, agent_1, agent_2"


def test_the_latest_messages_are_shown_as_far_as_there_are_rows() -> None:
    talk = _talk(*(_message(f"number {k}") for k in range(9)))
    assert [line[-8:] for line in talk.lines(80, 3)] == ["number 6", "number 7", "number 8"]
    assert talk.lines(80, 0) == []


def test_a_long_message_takes_three_lines_at_most_and_says_that_there_is_more() -> None:
    lines = _talk(_message("word " * 200)).lines(40, 10)
    assert len(lines) == 3
    assert lines[-1].endswith("…")
    assert max(map(len, lines)) <= 40
    assert len(_talk(_message("word " * 200)).lines(40, 2)) == 2


def test_a_joint_plan_is_put_into_words() -> None:
    plan = Plan((Wait(steps=2),), Task("deliver", "block_3"))
    reported = directive([1, 2], {1: plan, 2: Plan((Wait(steps=1),))}, NAMES)
    assert in_words(reported.content) == "agent_1: deliver block_3 (wait); agent_2: no task (wait)"
    assert in_words(directive([], {}, NAMES).content) == "nobody has anything to do"


def test_feedback_on_a_joint_plan_is_put_into_words() -> None:
    objection = Objection(1, "too_late", "block_3 is gone", "", Plan((Wait(steps=1),), Task("deliver", "block_0")))
    assert in_words(feedback([0], objection).content) == "block_3 is gone; would rather deliver block_0 (wait)"
    assert in_words(feedback([0], Objection(1)).content) == "objects"


def test_what_is_no_joint_plan_stands_as_it_was_written() -> None:
    for text in ('{"suggestions": 3}', "{", "[]", '{"other": 1}', "two\nlines"):
        assert in_words(text) == " ".join(text.split())


def test_signs_that_control_a_terminal_do_nothing() -> None:
    (line,) = _talk(_message("\x1b[31mred")).lines(80, 3)
    assert "\x1b" not in line
