"""Optima, bounds and plans: replayed, compared with each other, and with an independent solver."""

from __future__ import annotations

import random
import sys
from collections import deque
from itertools import product
from statistics import mean

import pytest

from llamac_env import (
    Broken,
    Difficulty,
    Grid,
    MissingSolver,
    WorldError,
    achieves,
    board_generator,
    bracket,
    draw_board,
    find_instance,
    greedy_plan,
    load_instances,
    lower_bound,
    replay,
    settings,
    solve,
)
from llamac_env.transport.exact import INSTALL, plan_of
from tests.llamac_env.boards import SHAPES, board, drawn, grid, moves

BOARDS = 200
PARTS = pytest.mark.parametrize("part", [10, pytest.param(1, marks=pytest.mark.conformance)])
"""`make test` looks at a tenth of the boards, `make conformance` at all of them."""
SETTINGS = [(difficulty, shape) for difficulty in ("easy", "hard") for shape in SHAPES]


def solver():
    """Skip without the extra, and say what brings it."""
    try:
        import ortools  # noqa: F401
    except ImportError:
        pytest.skip(f"OR-tools is missing: {INSTALL}")


def by_breadth_first_search(start, most):
    """The optimum by trying all joint actions from all states: for tiny boards only."""
    seen, queue = {start}, deque([(start, 0)])
    while queue:
        state, steps = queue.popleft()
        if not state.boxes:
            return steps
        if steps == most:
            continue
        choices = [(None, *state.available(agent)) for agent in range(state.grid.agents)]
        for joint in product(*choices):
            step = state.after({agent: move for agent, move in enumerate(joint) if move is not None})
            if not step.collisions and not step.failed and step.board not in seen:
                seen.add(step.board)
                queue.append((step.board, steps + 1))
    return None


@PARTS
@pytest.mark.parametrize(("difficulty", "shape"), SETTINGS)
def test_bound_optimum_and_greedy_are_in_order_on_200_boards(difficulty, shape, part):
    open_brackets = []
    for seed in range(BOARDS // part):
        state = drawn(*shape, difficulty, seed)
        known, greedy = bracket(state), greedy_plan(state)
        assert achieves(state, known.plan)
        assert achieves(state, greedy)
        assert lower_bound(state) <= known.lower <= known.upper <= len(greedy)
        if known.optimum is None:
            open_brackets.append(state)
    if difficulty == "hard":
        assert not open_brackets, "hard boards are solved exactly without the extra"
    elif open_brackets:
        solver()
        for state in open_brackets[:10]:
            exact = solve(state)
            assert lower_bound(state) <= exact.optimum <= len(greedy_plan(state))
            assert achieves(state, exact.plan)


@PARTS
@pytest.mark.parametrize(
    ("shape", "rule", "count"),
    [
        ((2, 2), "final_state", 35),
        ((2, 4), "final_state", 30),
        ((2, 2), "start_empty", 20),
        ((3, 3), "start_empty", 15),
    ],
)
def test_the_hard_solver_agrees_with_cp_sat_on_100_boards(shape, rule, count, part):
    solver()
    for seed in range(1000, 1000 + count // part):
        state = drawn(*shape, "hard", seed, rule)
        known = bracket(state)
        assert plan_of(state, known.optimum) is not None, seed
        assert all(plan_of(state, steps) is None for steps in range(lower_bound(state), known.optimum)), seed


@pytest.mark.parametrize("rule", ["final_state", "start_empty"])
def test_the_hard_solver_agrees_with_breadth_first_search_on_small_boards(rule):
    for seed in range(8):
        full = drawn(1, 2, "hard", seed, rule)
        some = [box.colour for box in full.boxes[:3]]
        state = type(full)(
            full.grid,
            tuple(box for box in full.boxes if box.colour in some),
            tuple(target for target in full.targets if target.colour in some),
        )
        assert bracket(state).optimum == by_breadth_first_search(state, 8), seed


def test_easy_optima_agree_with_breadth_first_search_on_small_boards():
    for seed in range(12):
        full = drawn(1, 2, "easy", seed)
        some = {box.colour for box in full.boxes[:3]}
        state = type(full)(
            full.grid,
            tuple(box for box in full.boxes if box.colour in some),
            tuple(target for target in full.targets if target.colour in some),
        )
        known, found = bracket(state), by_breadth_first_search(state, 12)
        assert known.lower <= found <= known.upper


def test_bounds_of_hand_made_boards():
    far = board(grid(2, 4, "easy"), box_red="0.5_0.5", target_red="1.5_3.5")
    assert (lower_bound(far), bracket(far).optimum) == (5, 5)
    busy = board(grid(2, 2, "easy"), box_red="0.5_0.5 0.5_0.5", target_red="0.5_0.5 0.5_1.5", box_blue="0.5_0.5",
                 target_blue="1.5_1.5")  # fmt: skip
    assert lower_bound(busy) == 3  # the agent of the first cell has three boxes to handle
    corner = board(grid(2, 2, "hard"), box_red="0.0_0.0", target_red="0.5_0.5", box_blue="1.0_1.0",
                   target_blue="0.5_0.5", box_green="0.0_1.0", target_green="0.5_0.5")  # fmt: skip
    assert lower_bound(corner) == 3  # one agent places three boxes
    assert bracket(corner).optimum == 3
    away = board(grid(2, 2, "hard"), box_red="0.0_0.0", target_red="1.5_1.5", box_blue="1.0_1.0", target_blue="0.5_0.5",
                 box_green="0.0_1.0", target_green="0.5_0.5")  # fmt: skip
    assert lower_bound(away) == 3  # it places two, and nobody else reaches the third
    assert lower_bound(board(grid(2, 2, "hard"))) == 0
    assert bracket(board(grid(2, 2, "easy"))).plan == ()


def test_a_colour_is_assigned_so_that_the_longest_way_is_shortest():
    state = board(grid(1, 4, "easy"), box_red="0.5_0.5 0.5_1.5", target_red="0.5_1.5 0.5_2.5")
    assert lower_bound(state) == 2
    assert bracket(state).optimum == 2  # both move at once; crosswise one would take 3


def test_a_full_cell_is_emptied_one_box_a_step():
    corners = dict(zip(("blue", "green", "orange", "red"), ("0.0_0.0", "0.0_1.0", "1.0_0.0", "1.0_1.0"), strict=True))
    items = {f"box_{colour}": corner for colour, corner in corners.items()}
    items |= {f"target_{colour}": "0.5_0.5" for colour in corners}
    full = board(grid(1, 1, "hard", "start_empty"), **items)
    assert bracket(full).optimum == 4


def test_replay_names_the_step_that_fails():
    state = board(grid(2, 2, "easy"), box_red="0.5_0.5", target_red="0.5_1.5")
    right = moves(state.grid, a0="move(box_red, square[0.5, 1.5])")
    place = moves(state.grid, a1="move(box_red, target_red)")
    assert achieves(state, (right, place))
    assert not achieves(state, (right, place, {}))
    assert not achieves(state, (right,))
    with pytest.raises(Broken, match="step 0"):
        replay(state, (place,))


@pytest.mark.parametrize("where", settings(), ids=str)
def test_frozen_boards_are_those_of_their_seeds_and_their_plans_take_exactly_the_optimum(where):
    instances = load_instances(where)
    assert [instance.seed for instance in instances] == list(range(10))
    for instance in instances:
        assert instance.board == draw_board(where, board_generator(instance.seed))
        assert len(instance.plan) == instance.optimum
        assert achieves(instance.board, instance.plan)
        known = bracket(instance.board)
        assert known.lower <= instance.optimum <= known.upper


def test_there_are_frozen_boards_for_seeds_0_to_9_of_the_published_grids_only():
    with pytest.raises(WorldError, match="seeds 0 to 9, not 10"):
        find_instance(grid(2, 2, "easy"), 10)
    for where in (grid(3, 3, "easy"), grid(2, 2, "hard", "start_empty")):
        with pytest.raises(WorldError, match=r"set env\.boards=drawn"):
            find_instance(where, 0)


@pytest.mark.parametrize(
    ("difficulty", "shape", "most"),
    [
        ("easy", (2, 2), 6.3), ("easy", (2, 4), 5.4), ("easy", (4, 8), 7.2),
        ("hard", (2, 2), 3.7), ("hard", (2, 4), 3.8), ("hard", (4, 8), 6.1),
    ],
)  # fmt: skip
def test_the_greedy_planner_is_as_good_as_expected(difficulty, shape, most):
    assert mean(len(greedy_plan(drawn(*shape, difficulty, seed))) for seed in range(30)) <= most


def test_bounds_are_the_same_each_time_and_touch_no_global_random_state():
    random.seed(7)
    before = random.getstate()
    state = drawn(2, 4, "easy", 13)
    assert bracket(state) == bracket(state)
    assert random.getstate() == before


def test_without_the_solver_the_message_says_what_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(MissingSolver, match=r"pip install 'quorum-harness\[optimum\]'"):
        plan_of(draw_board(Grid(2, 2, Difficulty.hard), board_generator(0)), 5)
