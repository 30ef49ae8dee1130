"""Grid transportation in the loop: configuration, symbolic actions, tasks, and the same bytes again."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from llamac_env import BoxName, Move, Wait, WorldError
from llamac_env.transport.arrays import encode
from llamac_env.transport.world import TransportConfig, TransportWorld
from maeil.errors import InvalidThought
from maeil.mind import Thought
from maeil.plans import Plan, Task
from maeil.trace import read_trace, replay
from tests.llamac_env.boards import board, moves
from tests.maeil.scripted import Scripted, play

DEFAULTS = {
    "name": "transport", "n": 4, "rows": None, "difficulty": "easy", "entry_rule": "final_state", "boards": "drawn",
    "max_steps": 30, "large_extra": 10, "view": "local",
}  # fmt: skip


def world(items=None, seed=0, **changes):
    found = TransportWorld(TransportConfig(**{**DEFAULTS, **changes}))
    found.reset(seed)
    if items is not None:
        found.env.reset(options={"board": board(found.env.grid, **items)})
    return found


def joint(w, **actions):
    found = [0] * len(w.agents)
    for agent, move in moves(w.env.grid, **actions).items():
        found[agent] = encode(w.env.grid, agent, move)
    return found


def advance(w, **actions):
    primitives = joint(w, **actions)
    w.constraints(primitives, [None] * len(primitives))
    return w.step(primitives)


def go(box, to):
    return Move(box=BoxName(f"box_{box}"), to=to)


RED = {"box_red": "0.5_0.5", "target_red": "0.5_1.5"}


@pytest.mark.parametrize(("n", "shape", "limit"), [(4, (2, 2), 30), (8, (2, 4), 30), (32, (4, 8), 40)])
def test_the_number_of_agents_names_grid_and_limit(n, shape, limit):
    w = world(n=n)
    assert ((w.env.grid.rows, w.env.grid.cols), w.env.max_steps, len(w.agents)) == (shape, limit, n)


def test_rows_that_do_not_divide_n_are_refused():
    assert world(n=8, rows=1).env.grid.cols == 8
    with pytest.raises(WorldError, match="rows: 3 rows do not divide n = 8"):
        world(n=8, rows=3)
    with pytest.raises(ValidationError):
        world(difficulty="medium")


def test_the_record_of_a_reset_has_the_board_and_what_is_known_of_its_optimum():
    hard = world(difficulty="hard").reset(3)
    assert hard["lower_bound"] == hard["optimum"] == hard["upper_bound"]
    assert sum(len(items) for items in hard["items"].values()) == 10
    easy = world().reset(3)
    assert easy["lower_bound"] <= easy["upper_bound"]
    assert easy == world().reset(3) != world().reset(4)


def test_frozen_boards_bring_their_optimum():
    record = world(boards="frozen", n=32).reset(5)
    assert record["lower_bound"] == record["optimum"] == 10
    assert record["items"] == world(n=32).reset(5)["items"]
    with pytest.raises(WorldError, match="seeds 0 to 9"):
        world(boards="frozen").reset(10)


def test_a_move_succeeds_after_its_step_and_a_wait_after_its_steps():
    w = world(RED)
    move, wait = w.start_action(0, go("red", "square[0.5, 1.5]")), w.start_action(1, Wait(steps=2))
    assert move.status() is wait.status() is None
    w.step([move.act(), wait.act(), 0, 0])
    assert move.status().status == "success"
    assert wait.status() is None
    w.step([0, wait.act(), 0, 0])
    assert wait.status().status == "success"


@pytest.mark.parametrize(
    ("agent", "action", "reason"),
    [
        (0, go("red", "target_red"), "no_target"),
        (1, go("red", "target_red"), "box_not_here"),
        (0, go("blue", "target_blue"), "no_such_box"),
        (0, go("red", "square[1.5, 1.5]"), "out_of_reach"),
        (0, go("red", "position[1.0, 1.0]"), "no_such_place"),
        (0, go("red", "target_blue"), "other_colour"),
        (0, go("red", "target_pink"), "unknown_colour"),
        (0, go("red", "square[0.5, 0.5]"), "already_there"),
    ],
)
def test_what_cannot_be_done_fails_before_its_step_with_the_code_and_is_a_problem_of_the_plan(agent, action, reason):
    w = world(RED)
    end = w.start_action(agent, action).status()
    assert (end.status, end.reason) == ("failed", reason)
    (problem,) = w.check_plan(agent, Plan((action,)))
    assert f": {reason}: " in problem


def test_later_actions_of_a_plan_may_need_what_others_do_but_must_be_in_reach():
    w = world(RED)
    later = Plan((Wait(), go("red", "target_red")))
    assert w.check_plan(1, later) == ()
    (problem,) = w.check_plan(1, Plan((Wait(), go("red", "square[1.5, 0.5]"))))
    assert "out_of_reach" in problem


def test_a_plan_is_for_a_colour_that_is_left():
    w = world(RED)
    assert w.tasks(0) == w.tasks(None) == {"place": ["box_red"]}
    assert w.check_plan(0, Plan((Wait(),), Task("place", "box_red"))) == ()
    for task in (Task("place", "box_blue"), Task("move", "box_red")):
        refused = f"there is no task {task}; there are, for example, place:box_red"
        assert w.check_plan(0, Plan((Wait(),), task)) == (refused,)


def test_a_conflict_fails_both_actions_after_the_step():
    w = world({"box_red": "0.0_1.0", "target_red": "0.5_0.5"}, difficulty="hard")
    one, two = w.start_action(0, go("red", "target_red")), w.start_action(1, go("red", "position[1.0, 2.0]"))
    primitives = [one.act(), two.act(), 0, 0]
    state = {s.task.target: s for s in w.constraints(primitives, [None] * len(primitives))}["box_red"]
    assert (state.spatial, state.temporal, state.joint, state.dependency) == (2, 2, 2, False)
    transition = w.step(primitives)
    assert one.status().reason == two.status().reason == "conflict"
    assert transition.attempts[0].agents == (0, 1)
    assert not transition.attempts[0].succeeded
    assert [outcome["what"] for outcome in transition.outcomes] == ["conflict", "conflict"]


def test_a_collision_is_a_failure():
    w = world(
        {"box_red": "0.0_0.0", "box_blue": "0.0_2.0", "target_red": "1.5_1.5", "target_blue": "1.5_1.5"},
        difficulty="hard",
    )
    transition = advance(w, a0="move(box_red, position[0.0, 1.0])", a1="move(box_blue, position[0.0, 1.0])")
    assert transition.end == "failure"
    assert transition.outcomes[-1] == {"what": "collision", "corner": [0.0, 1.0]}
    assert [attempt.succeeded for attempt in transition.attempts] == [False, False]


def test_tasks_are_the_colours_that_are_left():
    w = world({"box_red": "0.5_0.5 0.5_1.5", "target_red": "0.5_0.5 0.5_1.5"})
    (state,) = w.constraints([0] * 4, [None] * 4)
    assert (state.threshold, state.spatial, state.temporal, state.participation, state.dependency) == (1, 2, 0, 0, True)
    assert w.constraints([0] * 4, [None] * 4) == ()
    transition = advance(w, a0="move(box_red, target_red)", a1="move(box_red, target_red)")
    assert transition.end == "success"
    assert transition.reward == 1
    assert [(attempt.agents, attempt.succeeded) for attempt in transition.attempts] == [((0,), True), ((1,), True)]
    (over,) = w.constraints([0] * 4, [None] * 4)
    assert over.threshold == 0
    assert w.constraints([0] * 4, [None] * 4) == ()
    assert (w.progress().reached, w.progress().goals, w.progress().score) == (2, 2, 2.0)


def test_observations_read_as_text_and_the_outsider_sees_the_whole():
    w = world(RED)
    assert json.loads(w.observe(0).text())["can_do"] == {"box_red": ["square[1.5, 0.5]", "square[0.5, 1.5]"]}
    outside = w.global_observation()
    assert (outside.agent, outside.square, outside.can_do) == ("", "", ())
    assert outside.board == world(RED, view="board").observe(3).board
    assert "square" not in json.loads(outside.text())
    assert w.distance(0, 3) == 2


def test_an_agent_sees_its_own_cell_and_its_moves_and_with_the_board_in_view_everything():
    where = {**RED, "box_blue": "1.5_1.5", "target_blue": "0.5_0.5"}
    own = world(where).observe(0)
    assert own.sees == {"square[0.5, 0.5]": ("box_red", "target_blue")}
    assert (own.board, own.boxes_left, own.boxes_placed) == (None, None, None)
    assert "0.5_1.5" not in str(own.shown())
    assert "blue" not in str(world({**RED, "box_blue": "1.5_1.5", "target_blue": "1.5_1.5"}).observe(0).shown())
    with pytest.raises(WorldError, match="agent_0 sees only its own cell"):
        own.to_board()
    whole = world(where, view="board").observe(0)
    assert (whole.sees, whole.can_do, whole.boxes_left) == (own.sees, own.can_do, 2)
    assert whole.to_board() == world(where).global_observation().to_board()


def test_symbolic_actions_are_typed():
    vocabulary = world().vocabulary
    assert vocabulary.parse({"action": "move", "box": "box_red", "to": "position(1.0, 0.0)"}).to == "position(1.0, 0.0)"
    for wrong in ({"box": "box_pink", "to": "target_red"}, {"box": "box_red", "to": "there"}, {"box": "box_red"}):
        with pytest.raises(InvalidThought):
            vocabulary.parse({"action": "move", **wrong})


def test_an_episode_replays_from_its_trace(tmp_path):
    w = world(difficulty="hard", max_steps=6, seed=1)
    plans = []
    for agent in range(4):
        choices = w.observe(agent).can_do
        first = Move(box=BoxName(choices[-1].box), to=choices[-1].to) if choices else Wait()
        plans.append(Plan((first, Wait(steps=6))))
    path = tmp_path / "trace.jsonl"
    play([Scripted(Thought(plan)) for plan in plans], w, seed=1, path=path)
    again = world(difficulty="hard", max_steps=6, seed=1)
    *_, last = replay(read_trace(path), again)
    assert last == w.env.steps
    assert again.env.board == w.env.board
