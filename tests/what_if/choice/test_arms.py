"""The control arms of a choice probe: the same view with other messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from maeil.messages import Ask, Message, MessageKind
from maeil.mind import Act, Turn, View
from maeil.plans import Task
from maeil.tasks import OpenTask
from quorum.what_if.choice.arms import ARMS, Donor, Heard, contradict, received, views_of

BLOCKS = ("block_0", "block_1", "block_10")
TASKS = {"deliver": BLOCKS, "push": tuple(f"{block}/left" for block in BLOCKS)}


def message(number: int, sender: int, content: str, t: int = 4, **more: Any) -> Message:
    return Message(number, sender, (1 - sender,), content, MessageKind.INFORM, t, 0.0, 0.0, **more)


OWN = [message(0, 0, "I stay here.", 1), message(2, 0, "I take block_1.", 4)]
OTHERS = [message(1, 1, "hello", 3), message(3, 1, "I take block_10.", 4, task=Task("deliver", "block_10"))]
VIEW = View(
    0, "agent_0", ("agent_0", "agent_1"), Turn(0, frozenset({Act.PLAN})), 4, 0.0, observation=None,  # type: ignore[arg-type]
    memory=(OWN[0], OTHERS[0], OWN[1]), unread=(OTHERS[1],),
)  # fmt: skip


def texts(view: View) -> list[str]:
    return [one.content for one in received(view)]


def test_each_arm_changes_the_messages_of_others_alone() -> None:
    donors = [Donor(4, 0, "no"), Donor(4, 1, "go to block_0"), Donor(9, 1, "late"), Donor(3, 1, "hi")]
    views = dict(views_of(VIEW, BLOCKS, donors))
    assert tuple(views) == ARMS
    assert views["heard"] == VIEW
    assert {arm: texts(view) for arm, view in views.items()} == {
        "heard": ["hello", "I take block_10."],
        "none": [],
        "empty": ["", ""],
        "own": ["I stay here.", "I take block_1."],
        "shuffled": ["hi", "go to block_0"],
        "contradicting": ["hello", "I take block_0."],
    }
    for view in views.values():
        assert [one for one in (*view.memory, *view.unread) if one.sender == 0] == OWN
        assert replace(view, memory=(), unread=()) == replace(VIEW, memory=(), unread=())
    assert "shuffled" not in dict(views_of(VIEW, BLOCKS, []))


def test_a_reader_who_has_said_less_reads_its_last_text_last() -> None:
    view = replace(VIEW, memory=(OTHERS[0], OWN[1]))
    assert texts(dict(views_of(view, BLOCKS, []))["own"]) == ["", "I take block_1."]


def test_open_tasks_that_came_with_messages_go_with_them() -> None:
    listed = (OpenTask(Task("deliver", "block_0"), 2, 1),)
    kept = {arm for arm, view in views_of(replace(VIEW, constraints=listed), BLOCKS, []) if view.constraints}
    assert kept == {"heard", "contradicting"}
    sees = replace(VIEW, constraints=listed, turn=replace(VIEW.turn, feedback=True))
    assert all(view.constraints == listed for _, view in views_of(sees, BLOCKS, []))


def test_no_arm_repeats_what_the_agent_said_after_it_had_heard() -> None:
    echo = message(4, 0, "I take block_10, as you say.")
    for arm, view in views_of(replace(VIEW, memory=VIEW.memory, unread=(*VIEW.unread, echo)), BLOCKS, []):
        assert [one for one in (*view.memory, *view.unread) if one.sender == 0] == OWN, arm
        assert arm in ("heard", "shuffled") or not any("block_10" in text for text in texts(view))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("I take block_0, not Block 1!", "I take block_1, not block_10!"),
        ("block-10 and block_100", "block_0 and block_100"),
        ("push block_1/left", "push block_10/left"),
        ("nothing to do", "nothing to do"),
    ],
)
def test_names_are_replaced_in_any_spelling(text: str, other: str) -> None:
    assert contradict(text, BLOCKS) == other


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["I take block_1."], Heard("deliver", BLOCKS, "block_1", False)),
        (["I take block_1.", "I take block_10."], Heard("deliver", BLOCKS, "block_10", False)),
        (["I take block_1.", "block_0 or block_10?"], Heard("deliver", BLOCKS, "block_1", False)),
        (["block_0 or block_10?"], None),
        (["hello"], None),
        (["block_7"], None),
    ],
)
def test_the_latest_message_that_names_one_task_counts(said: list[str], expected: Heard | None) -> None:
    unread = tuple(message(number, 1, text) for number, text in enumerate(said))
    assert Heard.of(replace(VIEW, memory=(), unread=unread), TASKS) == expected


def test_a_request_to_the_agent_counts_before_names_and_an_old_message_not_at_all() -> None:
    wanted = (Ask(0, Task("deliver", "block_0")), Ask(1, Task("deliver", "block_1")))
    unread = (message(0, 1, "who goes where", asks=wanted), message(1, 1, "I take block_10."))
    view = replace(VIEW, memory=(), unread=unread)
    assert Heard.of(view, TASKS) == Heard("deliver", BLOCKS, "block_0", True)
    assert Heard.of(view, {"deliver": ("block_0",)}) is None
    assert Heard.of(replace(view, t=5), TASKS) is None
