"""Environments of PettingZoo as the loop sees them: turns, deaths, masks, spaces, descriptions, copies, pictures."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from maeil import Outcome, Plan, Task
from maeil.errors import InvalidThought
from maeil.testing import check_world
from pettingzoo_env.description import Description
from pettingzoo_env.world import PettingZooConfig, build
from quorum_base.drawing import Drawable

LINE = {
    "agents": {
        "rescuer_*": {
            "actions": ["stay", "left", "right"],
            "sequences": {"dash": ["right", "right"]},
            "observation": {"own": ["cell"], "other": ["cell"], "person_0": 1, "person_1": 1},
        }
    },
    "tasks": {
        "reach": {
            "targets": ["person_0", "person_1"],
            "done_when": {"part": "{target}", "minus": "own", "at_most": 0},
            "in_place_when": {"part": "{target}", "minus": "own", "at_most": 1},
        }
    },
}

GRID = {
    "agents": {"*": {"observation": {"own": 2, "people": 2}}},
    "drawing": {
        "columns": 3, "rows": 6, "agents": "own", "things": ["people"], "row_first": True, "origin": [1, 1], "cell": 2
    },
}  # fmt: skip


def world(game: str, n: int = 2, description: dict[str, Any] | None = None, max_steps: int = 20, **kwargs: Any) -> Any:
    values = {"name": "pettingzoo", "n": n, "id": f"zoo_games:{game}", "kwargs": kwargs, "max_steps": max_steps}
    return build(PettingZooConfig.model_validate({**values, "description": description}))


WORLDS = {
    "parallel": lambda: world("Rescue"),
    "described": lambda: world("Rescue", description=LINE),
    "weighed": lambda: world("Rescue", description=weighed()),
    "turns": lambda: world("Nim", sticks=9),
    "three take turns": lambda: world("Nim", n=3, players=3),
    "mixed": lambda: world("Mixed", n=3),
    "drawn": lambda: world("Plain", description=GRID),
}


def weighed() -> dict[str, Any]:
    own = {"part": "own", "numbers": ["cell"]}
    reach = {**LINE["tasks"]["reach"], "agents": {"part": "{target}"}, "weight": own}
    return {**LINE, "tasks": {"reach": reach}}


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_keeps_the_contract(name: str) -> None:
    check_world(WORLDS[name](), seeds=(0, 1), steps=25)


def play(game: Any, *joints: list[Any]) -> list[Any]:
    return [game.step(joint) for joint in joints]


def test_agents_take_turns_and_the_winner_takes_all() -> None:
    game = world("Nim", sticks=4)
    game.reset(0)
    assert game.acting() == [0]
    assert game.observe(0).legal == [1, 2, 3]
    first, last = play(game, [3, None], [None, 1])
    assert (first.reward, first.rewards, first.end) == (0, None, None)
    assert (last.reward, last.rewards, last.end) == (0, (-1, 1), Outcome.ENDED)
    assert game.observe(0).reward == -1


def test_the_last_observation_is_that_of_the_end() -> None:
    taken = {"part": "observation", "at_most": 0}
    game = world("Nim", sticks=4, description={"tasks": {"take": {"targets": ["all"], "done_when": taken}}})
    game.reset(0)
    assert play(game, [3, None], [None, 1])[1].end is Outcome.SUCCESS
    assert [game.observe(i).shown() for i in range(2)] == [
        {"step": 2, "sees": {"observation": [0]}, "reward": reward} for reward in (-1, 1)
    ]


def test_what_an_agent_got_since_its_own_action_is_shown() -> None:
    game = world("Mixed", n=3)
    game.reset(0)
    move = [0.5, 0.25], {"gear": [1, 2], "pair": {"part_0": 1, "part_1": [0.0, 1.0]}}
    one, two, three = play(game, [2, *move], [0, *move], [None, *move])
    assert (one.rewards, three.rewards) == ((0, 1, 2), (0, 0, 1))
    assert two.outcomes == ({"what": "left", "agent": 0},)
    assert game.acting() == [1, 2]
    assert [game.observe(i).reward for i in range(3)] == [0, 0, 1]
    assert game.observe(0).sees == {"observation": "an array of shape 30x30x3"}


def test_a_plan_is_checked_against_mask_and_space() -> None:
    game = world("Nim", sticks=2)
    game.reset(0)
    act = game.vocabulary.parse
    assert game.check_plan(0, Plan((act({"action": "act", "choice": 3}),))) == ("the choice 3 is not legal now",)
    assert game.check_plan(0, Plan((act({"action": "act", "choice": 1}), act({"action": "act", "choice": 3})))) == ()
    assert game.ids(0) == {"act": [{"choice": [1, 2]}]}
    mixed = world("Mixed", n=3)
    mixed.reset(0)
    plan = Plan((mixed.vocabulary.parse({"action": "act_mover", "values": [0.0, 0.9]}),))
    assert "[0.0, 0.9] is not in Box" in mixed.check_plan(1, plan)[0]
    with pytest.raises(InvalidThought, match="at most 2 items"):
        mixed.vocabulary.parse({"action": "act_mover", "values": [0.0, 0.1, 0.1]})
    assert mixed.vocabulary.only == {"act_talker": [0], "act_mover": [1], "act_2": [2]}


def test_a_choice_that_is_no_longer_legal_ends_its_plan() -> None:
    game = world("Nim", sticks=4)
    game.reset(0)
    controller = game.start_action(0, game.vocabulary.parse({"action": "act", "choice": 2, "steps": 2}))
    assert controller.status() is None
    play(game, [controller.act(), None], [None, 1])
    assert controller.status().reason == "illegal the choice 2 is not legal now"


def test_waiting_is_a_legal_choice() -> None:
    game = world("Nim", sticks=4, description={"agents": {"*": {"wait": 3}}})
    game.reset(0)
    assert game.start_action(0, game.idle).act() == 3
    play(game, [3, None])
    assert game.start_action(1, game.idle).act() == 1


def test_a_description_names_choices_parts_and_tasks() -> None:
    game = world("Rescue", description=LINE)
    game.reset(0)
    seen = game.observe(0).sees
    assert list(seen) == ["own", "other", "person_0", "person_1"]
    assert seen["own"].keys() == {"cell"}
    assert game.tasks(0) == {"reach": ["person_0", "person_1"]}
    dash = game.vocabulary.parse({"action": "act", "choice": "dash", "steps": 2})
    assert game.abilities[0].values(dash) == [2, 2, 2, 2]
    assert "there is no task fly:person_0" in game.check_plan(0, Plan((dash,), Task("fly", "person_0")))[0]
    assert game.primitive_name(2) == "right"


def test_agents_of_a_weighted_task_count_for_what_they_observe() -> None:
    game = world("Rescue", description=weighed(), cells=9)
    game.reset(2)
    game.game._env.at[:], game.game._env.people[:] = (2, 5), (1, 7)
    game.step([0, 0])
    plan = Plan((game.idle,), Task("reach", "person_0"))
    first, second = game.constraints([0, 0], [plan, None])
    assert (first.weights, first.threshold, second.threshold) == ((2, 5), 1, 7)
    assert (first.spatial, first.participation, first.joint, second.spatial) == (2, 2, 2, 0)


def test_a_task_takes_the_largest_number_that_anybody_observes() -> None:
    reach = {**LINE["tasks"]["reach"], "agents": {"part": "own"}}
    game = world("Rescue", description={**LINE, "tasks": {"reach": reach}}, cells=9)
    game.reset(2)
    game.game._env.at[:], game.game._env.people[:] = (2, 5), (1, 7)
    game.step([0, 0])
    assert [state.threshold for state in game.constraints([0, 0], [None, None])] == [5, 5]


def test_a_sequence_can_begin_where_its_first_choice_is_legal() -> None:
    game = world("Nim", sticks=2, description={"agents": {"*": {"sequences": {"two": [1, 1], "many": [3, 1]}}}})
    game.reset(0)
    assert game.observe(0).legal == [1, 2, "two"]
    two = game.vocabulary.parse({"action": "act", "choice": "two"})
    assert game.abilities[0].values(two) == [1, 1]
    assert game.check_plan(0, Plan((two,))) == ()


def test_an_episode_with_tasks_succeeds_when_all_are_done_at_once() -> None:
    game = world("Rescue", description=LINE, cells=9)
    game.reset(0)
    before = game.progress().reached
    for _ in range(20):
        moves = []
        for agent, person in enumerate(game.game._env.people):
            at = game.game._env.at[agent]
            moves.append(int(at != person) * (2 if person > at else 1))
        taken = game.step(moves)
        if taken.end is not None:
            break
    assert before < 2
    assert (taken.end, game.progress().reached, game.progress().goals) == (Outcome.SUCCESS, 2, 2)


def test_without_tasks_there_are_no_goals_and_the_score_is_what_the_description_says() -> None:
    for score, value in (("mean", -0.2), ("sum", -0.4), ("rescuer_1", -0.2)):
        game = world("Rescue", description={"score": score})
        game.reset(0)
        play(game, [0, 0], [0, 0])
        assert (game.progress().goals, game.progress().score) == (0, pytest.approx(value))
        assert game.tasks(0) is None


@pytest.mark.parametrize(("success", "end"), [(None, Outcome.ENDED), (1.0, Outcome.FAILURE), (0.0, Outcome.SUCCESS)])
def test_an_episode_that_ends_by_itself_is_a_success_from_a_score_on(success: float | None, end: Outcome) -> None:
    game = world("Nim", sticks=1, description={"success": success, "score": "mean"})
    game.reset(0)
    assert play(game, [1, None])[0].end is end


def test_what_depends_on_earlier_episodes_is_played_in_an_environment_of_its_own() -> None:
    game = world("Rescue")
    assert game.reset(3) == game.reset(3) == world("Rescue").reset(3)


def test_a_copy_goes_on_by_itself() -> None:
    game = world("Rescue")
    game.reset(0)
    controller = game.start_action(0, game.idle)
    play(game, [1, 2], [0, 2])
    other, its = copy.deepcopy((game, controller))
    assert other.observe(0) == game.observe(0)
    assert its._game is other.game
    play(other, [1, 1])
    assert len(game.joints) == 2
    assert other.observe(0) != game.observe(0)


def test_pictures_are_those_that_the_environment_renders() -> None:
    game = world("Rescue", cells=40)
    game.reset(0)
    assert isinstance(game, Drawable)
    drawing, canvas = game.draw(), game.canvas()
    assert drawing.image is not None
    assert drawing.image.shape == (14, 534, 3)  # every third pixel
    assert (canvas.width, canvas.height) == (21, 1)
    assert not isinstance(world("Nim"), Drawable)


def test_what_renders_nothing_is_drawn_by_its_description() -> None:
    game = world("Plain", description=GRID, cells=9)
    game.reset(0)
    game.game._env.at[:], game.game._env.people[:] = (7, 5), (1, 4)
    game.step([0, 0])
    assert isinstance(game, Drawable)
    drawing, canvas = game.draw(), game.canvas()
    assert (canvas.width, canvas.height) == (3, 6)
    marks = {key: (mark.x, mark.y, mark.label, mark.agent) for key, mark in drawing.marks.items()}
    assert marks == {"rescuer_0": (2, 3, "0", 0), "people": (1.5, 0, "", None)}  # the other one is outside of the grid


def test_the_rules_are_those_of_the_description_else_of_the_documentation() -> None:
    facts = world("Rescue").prompt_facts()
    assert facts["rules"] == "Two rescuers on a line of cells have to stand on both people at once."
    assert world("Rescue", description={"rules": "Save them."}).prompt_facts()["rules"] == "Save them."


def test_a_description_is_kept_as_it_was_written() -> None:
    kept = world("Rescue", description=LINE).config.model_dump(mode="json")
    assert kept["description"] == LINE
    assert Description.model_validate(kept["description"]).tasks["reach"].agents == 1
