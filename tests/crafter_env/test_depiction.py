"""The picture of the open world shows what its agent has seen, and no more."""

from __future__ import annotations

from crafter_env.constants import Item
from quorum_base.drawing import Depicted
from tests.crafter_env.joined import advance, world

LONG = "0" + "." * 8 + "1" + "." * 5 + "i" + 2 * ("\n" + "." * 16)


def ground(shown, x: int, y: int) -> str:
    """Name the ground of a cell of the map."""
    place = (y - shown.top) * shown.canvas.width + x - shown.left
    return shown.canvas.kinds[shown.drawing.ground[place]].name


def test_what_is_out_of_view_is_not_drawn() -> None:
    w = world(LONG)
    assert isinstance(w, Depicted)
    shown = w.depict(0)
    assert (shown.left, shown.top, shown.canvas.width, shown.canvas.height) == (0, 0, 5, 3)
    assert set(shown.drawing.marks) == {"agent_0"}
    assert "iron" not in {ground(shown, x, 0) for x in range(5)}


def test_cells_are_counted_from_the_part_that_is_seen() -> None:
    shown = world(LONG).depict(1)
    assert (shown.left, shown.canvas.width) == (5, 9)
    mark = shown.drawing.marks["agent_1"]
    assert (mark.x + shown.left, mark.y + shown.top, mark.label) == (9, 0, "1")
    assert ground(shown, 10, 0) == "grass"


def test_an_agent_remembers_what_it_saw_and_nothing_in_between() -> None:
    w = world("0..T....\n........\n........\n........\n........\n........\n........\n........\n.......1")
    known = w._episode.memory[0]
    known[7, 8] = 2
    shown = w.depict(0)
    assert ground(shown, 3, 0) == "tree"
    assert ground(shown, 7, 0) == "unseen"
    assert "agent_1" not in shown.drawing.marks


def test_an_oracle_sees_the_whole_map_but_no_more_of_others_than_it_is_told() -> None:
    w = world(LONG, oracle_map=True)
    assert ground(w.depict(0), 15, 0) == "iron"
    assert set(w.depict(0).drawing.marks) == {"agent_0"}


def test_who_has_no_body_sees_all() -> None:
    shown = world(LONG).depict(None)
    assert set(shown.drawing.marks) == {"agent_0", "agent_1"}
    assert len(shown.lines) == 1, "it has neither needs nor a bag"


def test_words_tell_needs_and_the_bag() -> None:
    shown = world("0....\n.....\n.....", {0: {Item.wood: 3}}).depict(0)
    assert shown.lines[1] == "agent_0 at [0, 0]. health 9, food 9, drink 9, energy 9. Bag: wood 3."


def test_creatures_are_named_by_their_ids() -> None:
    w = world("0.C..\n.....\n.....", switches={"mobs": True})
    shown, (cow,) = w.depict(0), w.observe(0).entities
    assert shown.lines[2] == f"In view: cow {cow.id} at [2, 0]."
    assert shown.drawing.marks[f"cow {cow.id}"].label == "C"


def test_to_be_drawn_changes_nothing() -> None:
    w, other = world(LONG), world(LONG)
    w.depict(0)
    w.depict(None)
    advance(w)
    advance(other)
    assert w.observe(0) == other.observe(0)
