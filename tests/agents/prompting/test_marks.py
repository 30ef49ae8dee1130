"""What comes again in later prompts is marked: words before the data, a planner's history, the state of its turn."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from quorum.agents.llm.recording import unfolded
from quorum.agents.prompting.blocks import write_block
from quorum.agents.prompting.marks import marks
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell

WORDS = "# Your answer\nSuch as: {}\n\n"
ROLES = ("topology=centralized", "topology.leader=coordinator", "topology.rounds=3")


def pieces(text: str) -> list[str]:
    """Cut a text at its marks."""
    places = [0, *marks(text), len(text)]
    return [text[begin:end] for begin, end in pairwise(places)]


def test_a_message_without_data_has_no_marks() -> None:
    assert marks("# Your answer\n\nWhat will you do?") == ()


def test_the_words_before_the_first_data_end_where_its_heading_begins() -> None:
    text = WORDS + "# What you see\n" + write_block("observation", {"step": 3})
    assert pieces(text) == [WORDS, text[len(WORDS) :]]


def test_an_agents_own_memory_is_not_marked() -> None:
    text = WORDS + "# Earlier\n" + write_block("memory", [{"step": 1}]) + "\n\n# See\n" + write_block("observation", {})
    assert marks(text) == (len(WORDS),)


SEEN = "# See\n" + write_block("observation", {"step": 3}) + "\n\n# Last\n" + write_block("past_plans", [{"done": 1}])


@pytest.mark.parametrize(
    ("rest", "marked"),
    [
        (write_block("turn", {"may": ["speak"]}), True),
        (write_block("unread", ["hello"]) + "\n" + write_block("turn", {"may": ["plan"]}), True),
        (write_block("turn", {"may": ["plan"]}), False),
        (write_block("turn", {"role": "actor"}), False),
    ],
    ids=["before talk", "after talk", "nobody talks", "one question"],
)
def test_what_an_agent_that_talks_sees_is_marked_for_its_next_turn_of_the_step(rest: str, marked: bool) -> None:
    assert marks(f"{SEEN}\n\n{rest}") == ((len(SEEN),) if marked else ())


def planner(history: list[object], step: int) -> str:
    """Write the message of a planner."""
    blocks = [write_block(name, value) for name, value in (("history", history), ("state", step), ("asked", ["a"]))]
    return WORDS + "# Earlier\n" + "\n\n# More\n".join(blocks) + "\n\n# Your role\n" + write_block("turn", step)


def test_a_planners_next_message_begins_with_all_that_was_marked_of_its_history() -> None:
    first, second = planner([{"a": [1, ","]}, "]"], 2), planner([{"a": [1, ","]}, "]", 7], 3)
    *history, turn = marks(first)[1:]
    assert [first[:place] for place in history] == [second[:place] for place in marks(second)[1:3]]
    assert first[turn - len("</asked>") : turn] == "</asked>"
    assert not second.startswith(first[:turn])


def test_a_history_that_is_no_list_of_ours_is_not_marked() -> None:
    broken = WORDS + "# Earlier\n<history>\n[1, nonsense\n</history>\n\n# State\n" + write_block("state", 1)
    assert marks(broken) == (len(WORDS), broken.index("[1") + 2, len(broken))


@pytest.mark.parametrize("env", ["cube", "transport", "squeeze"])
@pytest.mark.parametrize("team", [("agents=naive", "topology=debate"), ("agents=llamac", *ROLES)], ids=str)
def test_what_is_marked_does_come_again(env: str, team: tuple[str, ...], tmp_path: Path) -> None:
    folder = run_cell(Cell.compose([f"env={env}", "n=3", "max_steps=12", *team]), tmp_path).folder
    with (folder / "calls.jsonl").open("rb") as lines:
        asked = [call["request"]["messages"][1]["content"] for call in unfolded(lines)]
    marked = [text[:place] for text in asked for place in marks(text)]
    assert 2 * len(set(marked)) <= len(marked)
    assert all(piece.strip() for text in asked for piece in pieces(text))
