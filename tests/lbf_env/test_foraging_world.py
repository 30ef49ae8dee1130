"""Level-based foraging as the loop sees it: quorums of levels, walks that get through, sight, and how it ends."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from lbf_env import GoTo, Load, Wait
from lbf_env.world import ForagingConfig, ForagingWorld
from maeil.acting import Primitive
from maeil.outcomes import Outcome
from maeil.plans import Plan, Task
from maeil.tasks import Constraint
from maeil.world import Controller
from quorum.configuration.cell import Cell
from quorum_base.environments.errors import PlacementError, WorldError

NONE, NORTH, SOUTH, WEST, EAST, LOAD = range(6)


def world(**changes: Any) -> ForagingWorld:
    """A world with the values of the configuration file, but for some."""
    values = Cell.compose(["env=foraging"]).configuration.env.model_dump()
    found = ForagingWorld(ForagingConfig(**{**values, **changes}))
    found.reset(0)
    return found


def placed(foods: dict[tuple[int, int], int], *agents: tuple[int, int, int], **changes: Any) -> ForagingWorld:
    """A world with these foods by cell, and agents by row, column and level."""
    found = world(n=len(agents), **changes)
    found.env.field = np.zeros_like(found.env.field)
    for cell, level in foods.items():
        found.env.field[cell] = level
    for player, (row, col, level) in zip(found.env.players, agents, strict=True):
        player.position, player.level = (row, col), level
    found.env._food_spawned = found.env.field.sum()
    found.env._gen_valid_moves()
    found._arrays = found.env.test_make_gym_obs()
    found._look()
    found._spawned = len(foods)
    return found


def run(where: ForagingWorld, controllers: dict[int, Controller], steps: int) -> list[list[Primitive]]:
    """Carry out actions of agents until they are all over; return the joint actions."""
    joints: list[list[Primitive]] = []
    for _ in range(steps):
        live = {agent: one for agent, one in controllers.items() if one.status() is None}
        if not live:
            break
        joints.append([live[agent].act() if agent in live else NONE for agent in range(len(where.agents))])
        where.step(joints[-1])  # type: ignore[arg-type]
    return joints


def test_a_food_counts_levels_and_not_agents() -> None:
    where = placed({(3, 3): 3}, (2, 3, 2), (4, 3, 1), (3, 2, 1))
    plans = [Plan((Load(row=3, col=3),)), None, None]
    (state,) = where.constraints([LOAD, NONE, NONE], plans)
    assert (state.task, state.threshold, state.weights) == (Task("load", "food_3_3"), 3, (2.0, 1.0, 1.0))
    assert (state.spatial, state.temporal, state.participation, state.joint) == (4, 2, 2, 2)
    in_vain = where.step([LOAD, NONE, NONE])
    assert [(one.agents, one.succeeded) for one in in_vain.attempts] == [((0,), False)]
    assert in_vain.outcomes == ({"what": "too_weak", "food": "food_3_3", "agents": (0,)},)
    (more,) = where.constraints([LOAD, NONE, LOAD], [None] * 3)
    assert (more.joint, more.participation) == (3, 3)
    done = where.step([LOAD, NONE, LOAD])
    assert (done.end, done.rewards) == (Outcome.SUCCESS, (2 / 3, 0.0, 1 / 3))
    assert done.reward == pytest.approx(1 / 3)
    assert where.progress().score == pytest.approx(1)
    (over,) = where.constraints([NONE] * 3, [None] * 3)
    assert (over.task, over.threshold) == (state.task, 0)


def test_the_cause_of_an_attempt_in_vain_is_found_by_levels() -> None:
    from maeil.constraints import missing

    where = placed({(3, 3): 3}, (2, 3, 2), (7, 7, 2))
    load = Plan((Load(row=3, col=3),))
    (state,) = where.constraints([LOAD, NONE], [load, None])
    assert missing(state)[0] is Constraint.PARTICIPATION
    (state,) = where.constraints([LOAD, NONE], [load, load])
    assert missing(state)[0] is Constraint.SPATIAL


def test_who_loads_waits_for_levels_that_suffice_and_all_load_in_one_step() -> None:
    where = placed({(3, 3): 3}, (2, 3, 2), (7, 7, 1))
    joints = run(where, {agent: where.start_action(agent, Load(row=3, col=3)) for agent in (0, 1)}, 20)
    assert [joint[0] for joint in joints] == [NONE] * 7 + [LOAD]
    assert joints[-1] == [LOAD, LOAD]
    assert where.progress().reached == 1


def test_patience_ends_and_says_what_was_missing() -> None:
    where = placed({(3, 3): 3}, (2, 3, 2), (7, 7, 1))
    waiting = where.start_action(0, Load(row=3, col=3, patience=4))
    assert len(run(where, {0: waiting}, 20)) == 4
    end = waiting.status()
    assert end is not None
    assert (end.reason, end.unmet) == ("too_weak 2 of 3", Task("load", "food_3_3"))
    at_once = where.start_action(0, Load(row=3, col=3, patience=0)).status()
    assert at_once is not None
    assert at_once.unmet == Task("load", "food_3_3")


def test_a_food_that_others_have_loaded_ends_the_action_as_failed() -> None:
    where = placed({(3, 3): 1, (5, 6): 1}, (2, 3, 1), (7, 0, 1))
    late = where.start_action(1, Load(row=3, col=3))
    run(where, {0: where.start_action(0, Load(row=3, col=3)), 1: late}, 3)
    end = late.status()
    assert end is not None
    assert (end.status.value, end.reason) == ("failed", "no_food food_3_3")


def test_walks_go_round_foods_and_agents() -> None:
    where = placed({(3, 3): 1}, (3, 1, 1), (2, 2, 1))
    joints = run(where, {0: where.start_action(0, GoTo(row=3, col=5))}, 20)
    assert len(joints) == 6
    assert where.global_observation().cells[0] == (3, 5)


@pytest.mark.parametrize("where", [{(6, 6): 1}], ids=["one food"])
def test_two_that_step_to_one_cell_get_through(where: dict[tuple[int, int], int]) -> None:
    field = placed(where, (2, 2, 1), (2, 4, 1), (1, 3, 1))
    walks = {agent: field.start_action(agent, GoTo(row=2, col=3)) for agent in (0, 1)}
    assert run(field, {0: walks[0], 1: walks[1]}, 3)[0] == [EAST, WEST, NONE]
    assert field.global_observation().cells[0] == (2, 3)
    crossing = placed(where, (2, 0, 1), (2, 6, 1))
    ends = {0: GoTo(row=2, col=6), 1: GoTo(row=2, col=0)}
    assert len(run(crossing, {a: crossing.start_action(a, ends[a]) for a in ends}, 30)) < 15
    assert crossing.global_observation().cells == {0: (2, 6), 1: (2, 0)}


def test_a_blocked_move_is_an_outcome() -> None:
    where = placed({(6, 6): 1}, (2, 2, 1), (2, 4, 1))
    transition = where.step([EAST, WEST])
    assert transition.outcomes == ({"what": "stayed", "agent": 0}, {"what": "stayed", "agent": 1})


def test_an_agent_sees_what_the_package_shows_it_and_may_try_what_it_does_not_see() -> None:
    where = placed({(1, 1): 1, (6, 6): 2}, (0, 1, 1), (3, 1, 2), (7, 6, 1), sight=2)
    seen = where.observe(0)
    assert (seen.foods, [one[0] for one in seen.agents]) == (((1, 1, 1),), [0, 1])
    assert where.tasks(0) == {"load": ["food_1_1"]}
    assert where.tasks(0, "come to food_6_6, not to food_2_2") == {"load": ["food_1_1", "food_6_6"]}
    assert where.check_plan(0, Plan((Load(row=5, col=5),), Task("load", "food_5_5"))) == ()
    assert where.check_plan(2, Plan((Load(row=5, col=5),)))
    assert where.check_plan(0, Plan((Wait(),), Task("load", "food_0_7")))  # no food is drawn at the edge


def test_a_reset_does_not_depend_on_where_agents_stood_before() -> None:
    used, new = world(n=9, side=6), world(n=9, side=6)
    for seed in range(30):
        used.reset(seed)
    assert used.reset(7) == new.reset(7)


def test_what_cannot_be_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WorldError, match=r"lower n or raise env\.side"):
        world(n=13, side=5)
    full = world(n=12, side=5)
    monkeypatch.setattr(full.env, "spawn_food", lambda *_, **__: None)
    with pytest.raises(PlacementError, match=r"seed 4: no food fits between the agents: lower n or raise env\.side"):
        full.reset(4)


def test_without_the_package_the_message_has_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith("lbforaging"):
            raise ModuleNotFoundError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(WorldError, match=r"pip install 'quorum-harness\[lbf\]'"):
        world()


def test_open_tasks_name_who_is_there_and_how_many_more_it_takes() -> None:
    where = placed({(3, 3): 3, (6, 6): 1}, (2, 3, 2), (7, 7, 1), (0, 0, 1))
    first, second = where.open_tasks([None, Plan((Load(row=6, col=6),)), None], "")
    assert (first.task.target, first.needs, first.more, first.planned) == ("food_6_6", 1, 1, (1,))
    assert (second.task.target, second.needs, second.more, second.in_place) == ("food_3_3", 2, 1, (0,))
