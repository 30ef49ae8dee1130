"""Overcooked as the loop sees it: work from fetching to serving, reach, walks that get through, and how it ends."""

from __future__ import annotations

import builtins
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from maeil.acting import Primitive
from maeil.outcomes import Outcome
from maeil.plans import Plan, Task
from maeil.world import Controller
from overcooked_env import Cook, Fetch, Fill, GoTo, PutDown, Scoop, Serve, Wait
from overcooked_env.world import OvercookedConfig, OvercookedWorld
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum_base.environments.errors import WorldError
from quorum_base.user_errors import UserError
from tests.conftest import environment

STAY, INTERACT = 4, 5
POT = {"row": 0, "col": 2}


def world(**changes: Any) -> OvercookedWorld:
    """A world with the values of the configuration file, but for some."""
    values = Cell.compose(["env=overcooked"]).configuration.env.model_dump()
    found = OvercookedWorld(OvercookedConfig(**{**values, **changes}))
    found.reset(0)
    return found


def run(where: OvercookedWorld, controllers: dict[int, Controller], steps: int = 60) -> list[list[Primitive]]:
    """Carry out actions of agents until they are all over; return the joint actions."""
    joints: list[list[Primitive]] = []
    for _ in range(steps):
        live = {agent: one for agent, one in controllers.items() if one.status() is None}
        if not live:
            break
        joints.append([live[agent].act() if agent in live else STAY for agent in range(len(where.agents))])
        where.step(joints[-1])  # type: ignore[arg-type]
    return joints


def do(where: OvercookedWorld, agent: int, *actions: Any) -> list[str]:
    """Carry out actions of one agent, one after the other; return how each ended."""
    found = []
    for action in actions:
        controller = where.start_action(agent, action)
        run(where, {agent: controller})
        end = controller.status()
        found.append(f"{end.status.value} {end.reason}".strip() if end is not None else "runs")
    return found


def test_a_soup_is_made_from_fetching_to_serving() -> None:
    where = world(drawn_starts=False, soups=1)
    onion = (Fetch(item="onion"), Fill(**POT))
    assert do(where, 0, *onion * 3, Cook(**POT), Fetch(item="dish"), Scoop(**POT)) == ["success"] * 9
    assert where.global_observation().held == {0: "soup of onion+onion+onion", 1: ""}
    ends = []
    where.step, step = lambda joint: ends.append(step(joint)) or ends[-1], where.step  # type: ignore[method-assign]
    assert do(where, 0, Serve()) == ["success"]
    assert (ends[-1].end, ends[-1].reward) == (Outcome.SUCCESS, 20.0)
    assert ends[-1].outcomes[0]["what"] == "served"
    progress = where.progress()
    assert (progress.reached, progress.goals, progress.score) == (1, 1, 20.0)


def test_hands_that_do_not_fit_an_action_end_it_at_once_and_say_what_they_hold() -> None:
    where = world(drawn_starts=False)
    empty = [Fill(**POT), Scoop(**POT), Serve(), PutDown(row=0, col=1)]
    assert do(where, 0, *empty) == [
        f"failed {reason} nothing" for reason in ("no_ingredient", "no_dish", "no_soup", "hands_empty")
    ]
    do(where, 0, Fetch(item="onion"))
    assert do(where, 0, Fetch(item="dish"), Cook(**POT)) == ["failed hands_full onion"] * 2


def test_who_waits_for_a_soup_in_vain_has_tried_its_task() -> None:
    where = world(drawn_starts=False)
    do(where, 0, Fetch(item="dish"))
    scoop = where.start_action(0, Scoop(**POT, patience=3))
    run(where, {0: scoop})
    end = scoop.status()
    assert end is not None
    assert (end.reason, end.unmet) == ("not_ready", Task("soup", "pot_0_2"))
    (state,) = where.constraints([STAY, STAY], [Plan((), Task("soup", "pot_0_2")), None])
    assert (state.threshold, state.spatial, state.participation, state.dependency) == (1, 1, 1, False)


def test_the_attempt_to_take_a_soup_early_fails() -> None:
    where = world(drawn_starts=False)
    do(where, 0, Fetch(item="onion"), Fill(**POT), Cook(**POT), Fetch(item="dish"), GoTo(row=1, col=2))
    where.step([0, STAY])
    transition = where.step([INTERACT, STAY])
    assert [(one.agents, one.succeeded) for one in transition.attempts] == [((0,), False)]
    assert transition.outcomes == ({"what": "in_vain", "agent": 0, "cell": (0, 2)},)


@pytest.mark.parametrize(("holds", "attempts"), [("nothing", []), ("dish", [((0,), True)])])
def test_only_who_has_a_dish_attempts_to_take_a_soup_that_is_ready(holds: str, attempts: object) -> None:
    where = world(drawn_starts=False)
    do(where, 0, Fetch(item="onion"), Fill(**POT), Cook(**POT))
    if holds == "dish":
        do(where, 0, Fetch(item="dish"), GoTo(row=1, col=2))
    for _ in range(20):
        where.step([STAY, STAY])
    where.step([0, STAY])
    transition = where.step([INTERACT, STAY])
    assert [(one.agents, one.succeeded) for one in transition.attempts] == attempts


def test_the_command_names_the_key_of_a_layout_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^env\.layout: there is no 'cramped_rom'\."):
        run_cell(Cell.compose(["env=overcooked", "env.layout=cramped_rom"]), tmp_path)


def test_things_pass_over_a_counter_between_parts_of_a_kitchen() -> None:
    where = world(layout="forced_coordination", drawn_starts=False)
    left, right = 1, 0
    assert where.check_plan(left, Plan((Fill(row=0, col=3),)))
    assert where.check_plan(left, Plan((Serve(),)))
    assert where.check_plan(right, Plan((Fetch(item="onion"),), Task("soup", "pot_0_3"))) == ()
    waiting = where.start_action(right, Fetch(item="onion", patience=40))
    bring = where.start_action(left, Fetch(item="onion"))
    run(where, {left: bring, right: waiting}, 6)
    assert waiting.status() is None
    run(where, {left: where.start_action(left, PutDown(row=2, col=2)), right: waiting})
    assert where.global_observation().held == {right: "onion", left: ""}


@pytest.mark.parametrize("seed", range(8))
def test_drawn_starts_leave_somebody_in_each_part_of_a_kitchen(seed: int) -> None:
    where = world(layout="forced_coordination")
    first = where.reset(seed)
    assert sorted(col for _, _, col, _, _ in first["agents"]) == [1, 3]
    assert where.reset(seed) == first


def test_two_that_walk_towards_each_other_in_a_ring_get_through() -> None:
    where = world(layout="coordination_ring", drawn_starts=False)
    run(where, {0: where.start_action(0, GoTo(row=1, col=1)), 1: where.start_action(1, GoTo(row=1, col=3))})
    walks = {0: where.start_action(0, GoTo(row=1, col=3)), 1: where.start_action(1, GoTo(row=1, col=1))}
    assert len(run(where, walks)) < 15
    assert where.global_observation().cells == {0: (1, 3), 1: (1, 1)}


def test_open_tasks_name_what_a_soup_lacks() -> None:
    where = world(drawn_starts=False)
    do(where, 0, Fetch(item="onion"), Fill(**POT))
    (soup,) = where.open_tasks([None, Plan((Fill(**POT),))], "")
    assert (soup.missing, soup.planned, soup.before) == ((("onion", 2), ("dish", 1)), (1,), ("cook",))


def test_each_world_keeps_the_recipes_of_its_layout() -> None:
    one, other = world(layout="cramped_room"), world(layout="simple_o")  # 20 steps on the fire, and 5
    do(one, 0, Fetch(item="onion"), Fill(**POT), Cook(**POT))
    other.step([STAY, STAY])
    one.step([STAY, STAY])
    assert one.global_observation().pots[0][3] > 5


def test_what_cannot_be_is_refused_with_the_way_out() -> None:
    with pytest.raises(WorldError, match="set n=2"):
        world(n=3)
    with pytest.raises(WorldError, match=r"^layout: there is no 'cramped_rom'\. Did you mean 'cramped_room' or "):
        world(layout="cramped_rom")
    with pytest.raises(WorldError, match="not finite: choose another layout"):
        world(layout="tutorial_3")
    with pytest.raises(UserError):
        Cell.compose(["env=overcooked", "env.layout=../secret"])


def test_without_the_package_the_message_has_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith("overcooked_ai_py"):
            raise ModuleNotFoundError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(WorldError, match=r"pip install 'quorum-harness\[overcooked\]'"):
        world()


def test_the_import_writes_and_warns_nothing() -> None:
    code = "from overcooked_env.world import load_package; load_package()"
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=False, env=environment(), capture_output=True, text=True
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_waiting_stays() -> None:
    where = world()
    before = where.global_observation().cells
    assert run(where, {0: where.start_action(0, Wait(steps=2))}) == [[STAY, STAY]] * 2
    assert where.global_observation().cells == before
