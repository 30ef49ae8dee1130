"""The rules of grid transportation (section 2), by hand-made cases and as properties."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamac_env import Colour, FailureCode, Grid, Item, LayoutError, manhattan, usual_limit, usual_rows
from tests.llamac_env.boards import SHAPES, board, drawn, grid, moves

EASY = grid(2, 2, "easy")
HARD = grid(2, 2, "hard")
STRICT = grid(2, 2, "hard", "start_empty")


def test_cells_have_one_agent_each_row_by_row_with_centres_at_half():
    assert grid(2, 3, "easy").cells == ((1, 1), (1, 3), (1, 5), (3, 1), (3, 3), (3, 5))
    assert len(grid(2, 3, "hard").corners) == 3 * 4


@pytest.mark.parametrize(("agents", "rows"), [(1, 1), (4, 2), (6, 2), (7, 1), (8, 2), (16, 4), (32, 4)])
def test_agents_name_the_published_grids(agents, rows):
    assert usual_rows(agents) == rows


def test_the_limit_is_30_and_40_for_4_x_8():
    assert [usual_limit(cells) for cells in (4, 8, 16, 32)] == [30, 30, 30, 40]


def test_easy_a_box_goes_to_an_orthogonal_neighbour_or_onto_its_target():
    state = board(EASY, box_red="0.5_0.5", target_red="0.5_0.5")
    assert [move.to for move in state.available(0)] == [(3, 1), (1, 3), (1, 1)]  # below, right, target
    assert state.refusal(0, moves(EASY, a0="move(box_red, square[1.5, 1.5])")[0]) is FailureCode.out_of_reach
    assert state.refusal(1, moves(EASY, a1="move(box_red, square[0.5, 0.5])")[1]) is FailureCode.box_not_here


def test_easy_a_placed_box_removes_itself_and_one_target_of_its_colour():
    state = board(
        EASY, box_red="0.5_0.5 0.5_0.5", target_red="0.5_0.5 0.5_0.5", box_blue="1.5_1.5", target_blue="0.5_0.5"
    )
    step = state.after(moves(EASY, a0="move(box_red, target_red)"))
    assert step.placed == (0,)
    assert step.board.boxes == (Item(Colour.blue, (3, 3)), Item(Colour.red, (1, 1)))
    assert step.board.targets == (Item(Colour.blue, (1, 1)), Item(Colour.red, (1, 1)))


def test_easy_cells_hold_any_number_and_nothing_collides():
    state = board(EASY, box_red="0.5_0.5", box_blue="1.5_1.5", target_red="0.5_1.5", target_blue="0.5_1.5")
    step = state.after(moves(EASY, a0="move(box_red, square[0.5, 1.5])", a3="move(box_blue, square[0.5, 1.5])"))
    assert {box.place for box in step.board.boxes} == {(1, 3)}
    assert step.collisions == ()


def test_hard_a_box_goes_to_another_corner_of_the_cell_also_diagonally_or_onto_the_target():
    state = board(HARD, box_red="0.0_0.0", target_red="0.5_0.5")
    assert [move.to for move in state.available(0)] == [(0, 2), (2, 0), (2, 2), (1, 1)]
    assert state.refusal(0, moves(HARD, a0="move(box_red, position[2.0, 2.0])")[0]) is FailureCode.out_of_reach
    assert state.refusal(0, moves(HARD, a0="move(box_red, position[0.0, 0.0])")[0]) is FailureCode.already_there
    assert state.refusal(1, moves(HARD, a1="move(box_red, position[0.0, 2.0])")[1]) is FailureCode.box_not_here


@pytest.mark.parametrize(("corner", "agents"), [("0.0_0.0", {0}), ("0.0_1.0", {0, 1}), ("1.0_1.0", {0, 1, 2, 3})])
def test_hard_a_corner_belongs_to_all_cells_around_it(corner, agents):
    state = board(HARD, box_red=corner, target_red="0.5_0.5")
    assert {agent for agent in range(4) if state.available(agent)} == agents


def test_hard_two_agents_that_name_one_box_both_fail():
    state = board(HARD, box_red="0.0_1.0", target_red="0.5_0.5", box_blue="2.0_0.0", target_blue="0.5_0.5")
    joint = moves(
        HARD,
        a0="move(box_red, target_red)",
        a1="move(box_red, position[1.0, 2.0])",
        a2="move(box_blue, position[1.0, 0.0])",
    )
    step = state.after(joint)
    assert step.failed == {0: FailureCode.conflict, 1: FailureCode.conflict}
    assert step.moved == (2,)
    assert Item(Colour.red, (0, 2)) in step.board.boxes


def test_hard_an_action_that_is_refused_is_no_conflict():
    state = board(HARD, box_red="0.0_1.0", target_red="0.5_0.5")
    step = state.after(moves(HARD, a0="move(box_red, target_red)", a1="move(box_red, target_red)"))
    assert step.failed == {1: FailureCode.no_target}
    assert step.placed == (0,)


def test_hard_two_boxes_on_a_corner_after_the_step_collide():
    state = board(HARD, box_red="0.0_0.0", box_blue="0.0_2.0", target_red="1.5_1.5", target_blue="1.5_1.5")
    step = state.after(moves(HARD, a0="move(box_red, position[0.0, 1.0])", a1="move(box_blue, position[0.0, 1.0])"))
    assert step.collisions == ((0, 2),)
    onto = state.after(moves(HARD, a0="move(box_red, position[0.0, 1.0])"))
    assert onto.collisions == ()


def test_hard_a_corner_left_in_the_same_step_may_be_entered_and_two_boxes_may_swap():
    state = board(HARD, box_red="0.0_0.0", box_blue="0.0_1.0", target_red="1.5_1.5", target_blue="1.5_1.5")
    chain = moves(HARD, a0="move(box_red, position[0.0, 1.0])", a1="move(box_blue, position[0.0, 2.0])")
    assert state.after(chain).collisions == ()
    assert state.after(chain).moved == (0, 1)
    apart = board(HARD, box_red="0.0_1.0", box_blue="1.0_1.0", target_red="1.5_1.5", target_blue="1.5_1.5")
    swap = moves(HARD, a0="move(box_red, position[1.0, 1.0])", a1="move(box_blue, position[0.0, 1.0])")
    assert apart.after(swap).collisions == ()


def test_hard_start_empty_refuses_a_corner_that_holds_a_box_before_the_step():
    state = board(STRICT, box_red="0.0_0.0", box_blue="0.0_1.0", target_red="1.5_1.5", target_blue="1.5_1.5")
    chain = moves(STRICT, a0="move(box_red, position[0.0, 1.0])", a1="move(box_blue, position[0.0, 2.0])")
    step = state.after(chain)
    assert step.failed == {0: FailureCode.corner_taken}
    assert step.moved == (1,)
    assert (0, 2) not in [move.to for move in state.available(0)]
    assert (0, 2) in [move.to for move in board(HARD, box_red="0.0_0.0", box_blue="0.0_1.0").available(0)]


def test_all_actions_are_read_against_the_state_before_the_step():
    state = board(EASY, box_red="0.5_0.5", target_red="0.5_1.5")
    step = state.after(moves(EASY, a0="move(box_red, square[0.5, 1.5])", a1="move(box_red, target_red)"))
    assert step.failed == {1: FailureCode.box_not_here}
    assert step.board.boxes == (Item(Colour.red, (1, 3)),)


def test_a_box_of_a_colour_that_is_gone_has_its_own_code():
    assert board(EASY).refusal(0, moves(EASY, a0="move(box_red, target_red)")[0]) is FailureCode.no_such_box


@given(
    shape=st.sampled_from(SHAPES),
    difficulty=st.sampled_from(("easy", "hard")),
    rule=st.sampled_from(("final_state", "start_empty")),
    seed=st.integers(0, 10_000),
)
def test_the_order_of_the_agents_changes_nothing_and_no_box_is_lost(shape, difficulty, rule, seed):
    state, rng = drawn(*shape, difficulty, seed, rule), random.Random(seed)
    for _ in range(4):
        joint = {agent: rng.choice(found) for agent in range(state.grid.agents) if (found := state.available(agent))}
        entries = list(joint.items())
        rng.shuffle(entries)
        step, again = state.after(joint), state.after(dict(entries))
        assert step == again
        assert list(step.failed) == list(again.failed)
        assert len(step.board.boxes) == len(state.boxes) - len(step.placed) == len(step.board.targets)
        if step.collisions:
            assert state.grid.is_hard
            return
        state = step.board


@pytest.mark.parametrize("seed", range(40))
def test_drawn_boards_keep_to_the_rules(seed):
    easy, hard = drawn(2, 4, "easy", seed).check(), drawn(2, 2, "hard", seed).check()
    for colour in Colour:
        assert 1 <= sum(box.colour == colour for box in easy.boxes) <= 3
        assert sum(box.colour == colour for box in hard.boxes) <= 1
    assert {box.place for box in easy.boxes} <= set(easy.grid.cells)
    assert {box.place for box in hard.boxes} <= set(hard.grid.corners)
    assert drawn(2, 4, "easy", seed) == easy != drawn(2, 4, "easy", seed + 1)


def test_hard_a_colour_without_a_free_corner_is_left_out():
    counts = [len(drawn(1, 1, "hard", seed).boxes) for seed in range(20)]
    assert set(counts) == {4}


@pytest.mark.parametrize(
    ("where", "items", "message"),
    [
        (EASY, {"box_red": "0.5_0.5"}, "red: 1 boxes and 0 targets"),
        (HARD, {"box_red": "0.0_0.0 1.0_1.0", "target_red": "0.5_0.5 0.5_1.5"}, "one of each colour"),
        (HARD, {"box_red": "0.0_0.0", "box_blue": "0.0_0.0", "target_red": "0.5_0.5", "target_blue": "0.5_0.5"}, "two"),
        (HARD, {"box_red": "0.5_0.5", "target_red": "0.5_0.5"}, "no such place"),
        (EASY, {"box_red": "9.5_0.5", "target_red": "0.5_0.5"}, "no such place"),
    ],
)
def test_a_board_that_cannot_be_is_refused(where, items, message):
    with pytest.raises(LayoutError, match=message):
        board(where, **items).check()


def test_a_grid_without_cells_is_refused():
    with pytest.raises(LayoutError, match="0 x 2"):
        Grid(0, 2, EASY.difficulty)


def test_distances_are_manhattan_in_cells_and_1_from_every_corner_of_the_target_cell():
    assert manhattan((1, 1), (3, 5)) == 3
    assert {manhattan(corner, (1, 1)) for corner in ((0, 0), (0, 2), (2, 0), (2, 2))} == {1}
