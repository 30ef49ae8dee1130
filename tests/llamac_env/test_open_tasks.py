"""The open tasks of grid transportation and of the squeeze, on boards made by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llamac_env import BoxName, Move, Pick
from llamac_env.squeeze.world import SqueezeConfig, SqueezeWorld
from llamac_env.transport.symbolic.tasks import TaskBoard, open_tasks
from maeil.plans import Plan, Task
from maeil.tasks import OpenTask
from tests.llamac_env.boards import board, drawn, grid

NOBODY = [None] * 4


def place(colour, **more):
    return OpenTask(Task("place", f"box_{colour}"), 1, **more)


def test_easy_tells_who_has_a_box_and_can_bring_it_nearer_and_whose_plan_it_is():
    items = {"box_red": "0.5_0.5", "target_red": "1.5_1.5", "box_blue": "1.5_0.5", "target_blue": "1.5_0.5"}
    where = board(grid(2, 2, "easy"), **items)
    red = Plan((Move(box=BoxName.box_red, to="square[0.5, 1.5]"),))
    assert open_tasks(where, [red, None, None, None]) == [
        place("red", more=0, in_place=(0,), able=(0,), planned=(0,)),
        place("blue", more=0, in_place=(2,), able=(2,)),
    ]
    assert [task.task.target for task in open_tasks(where, NOBODY)] == ["box_blue", "box_red"], "fewest steps first"


def test_a_box_that_others_hem_in_names_them():
    items = {
        "box_red": "0.0_0.0", "target_red": "0.5_1.5",
        "box_blue": "0.0_1.0", "target_blue": "0.5_0.5", "box_green": "1.0_1.0", "target_green": "1.5_0.5",
    }  # fmt: skip
    tasks = {task.task.target: task for task in open_tasks(board(grid(2, 2, "hard"), **items), NOBODY)}
    assert tasks["box_red"] == place("red", more=1, in_place=(0,), able=(), before=("box_blue", "box_green"))
    assert tasks["box_blue"] == place("blue", more=0, in_place=(0, 1), able=(0,))


@given(st.integers(0, 10_000), st.sampled_from(["easy", "hard"]))
def test_it_says_by_name_what_the_constraints_count(seed, difficulty):
    where = drawn(2, 4, difficulty, seed)
    counted = {state.task: state for state in TaskBoard().changes(where, {}, [None] * 8)}
    tasks = open_tasks(where, [None] * 8)
    assert {task.task for task in tasks} == set(counted)
    for task in tasks:
        assert (task.needs, len(task.in_place)) == (counted[task.task].threshold, counted[task.task].spatial)
        assert set(task.able) <= set(task.in_place)
        assert bool(task.able) is (task.more == 0)


def test_the_squeeze_misses_a_sum_that_pays_until_a_round_has_had_one():
    rest = {"mu": None, "sigma": None, "picks": "coordinator", "hint": False, "text": {"max_agents": 10}}
    world = SqueezeWorld(SqueezeConfig(name="squeeze", n=3, rho=0.5, max_steps=3, **rest))
    world.reset(0)
    (reported,) = world.open_tasks([Plan((Pick(units=3),)), None, None])
    assert (reported.needs, reported.more, reported.in_place, reported.planned) == (3, 0, None, (0,))
    assert reported.missing == (("a sum that pays 95 % of the best reward", 1),)
    world.step([0, 0, 0])
    assert world.open_tasks([None] * 3)[0].missing
    best = world.env.game.best_x
    picks = [best // 3, best // 3, best - 2 * (best // 3)]
    world.step(picks)
    assert world.open_tasks([None] * 3)[0].missing == ()
