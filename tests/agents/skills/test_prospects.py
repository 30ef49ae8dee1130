"""What the simulated speaker of each world knows of others' next tasks, and what it makes of what it expects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crafter_env import Material
from cube_env import CubeEnv, Layout
from maeil.messages import Message, MessageKind
from maeil.mind import Act, Turn, View
from maeil.plans import Plan, Task
from quorum.agents.skills import Chooser, Prospect, Speaker, skills_of
from quorum.open_world import hearsay as words
from quorum.open_world.scene import Scene
from tests.agents.naive_team import view
from tests.crafter_env.joined import world as crafter_world
from tests.llamac_env.test_transport_world import world as transport_world

LIGHT = Layout(8, [(1, 0), (3, 0)], [(1, (2, 3)), (1, (6, 2))])
"""Two agents, and two blocks of weight 1: both are nearer to block 0."""
THERE = Layout(10, [(1, 3), (2, 0), (9, 0)], [(1, (1, 4)), (2, (7, 3))])
"""Agent 0 stands at the light block 0, agent 1 is on its way there, agent 2 near the heavy block 1."""


def cube_view(layout: Layout, agent: int, **changes: Any) -> View:
    env = CubeEnv(layout=layout)
    env.reset(seed=0)
    names = tuple(f"agent_{index}" for index in range(len(layout.agents)))
    turn = Turn(agent, frozenset({Act.PLAN}))
    return View(agent, names[agent], names, turn, 0, 0, env.symbolic_observation(agent), **changes)


def said(sender: int, text: str) -> Message:
    return Message(0, sender, (), text, MessageKind.PROPOSE, 0, 0, 0)


def decided(speaker: Speaker[Any], seen: View, expected: dict[int, Task | None]) -> Plan:
    thought = speaker.anticipate(seen, expected, Chooser(np.random.default_rng(0)))
    assert isinstance(thought.decision, Plan)
    return thought.decision


def deliver(block: int) -> Task:
    return Task("deliver", f"block_{block}")


def test_blocks_are_told_with_distance_weight_and_who_stands_there() -> None:
    speaker = skills_of("cube").speaker()
    found = speaker.prospects(cube_view(THERE, 2), 0)
    assert [(one.task, one.hands, one.there) for one in found] == [(deliver(0), 1, True), (deliver(1), 2, False)]
    assert found[0].steps == 0 < found[1].steps
    assert not any(one.there for one in speaker.prospects(cube_view(THERE, 2), 1))


def test_what_another_has_said_last_is_its_prospect_in_cube() -> None:
    seen = cube_view(
        LIGHT, 0, memory=(said(1, "I take block_0, 1 steps away."),), unread=(said(1, "I take block_1, 2"),)
    )
    assert [one.said for one in skills_of("cube").speaker().prospects(seen, 1)] == [False, True]


def test_who_expects_another_at_a_block_takes_one_that_lacks_hands() -> None:
    speaker, seen = skills_of("cube").speaker(), cube_view(LIGHT, 1)
    assert decided(speaker, seen, {0: None}).task == deliver(0)
    assert decided(speaker, seen, {0: deliver(0)}).task == deliver(1)
    assert decided(speaker, seen, {0: Task("deliver", "nothing")}).task == deliver(0)


def test_what_another_has_said_counts_more_than_what_is_expected_of_it() -> None:
    speaker = skills_of("cube").speaker()
    seen = cube_view(LIGHT, 1, unread=(said(0, "I take block_1, 5 steps away."),))
    assert decided(speaker, seen, {0: deliver(0)}).task == deliver(0)


@pytest.fixture(scope="module")
def board() -> Any:
    found = transport_world(difficulty="hard", view="board")
    found.reset(3)
    return found


def test_boxes_in_reach_that_can_come_nearer_are_the_prospects_in_transport(board: Any) -> None:
    speaker, seen = skills_of("transport").speaker(), view(board)
    state = seen.observation.to_board()  # type: ignore[attr-defined]
    for mate in range(1, len(board.agents)):
        in_reach = {f"box_{move.colour}" for move in state.available(mate)}
        assert {one.task.target for one in speaker.prospects(seen, mate)} <= in_reach
    heard = replace(seen, unread=(replace(said(1, "I work on box_red: it can be placed."), t=seen.t),))
    assert [one.task for one in speaker.prospects(heard, 1) if one.said] == [Task("place", "box_red")]


@pytest.mark.parametrize("seed", [0, 2, 8])
def test_a_box_that_one_of_lower_index_is_expected_to_move_is_left_to_it(seed: int) -> None:
    speaker = skills_of("transport").speaker()
    found = transport_world(difficulty="hard", view="board")
    found.reset(seed)
    shared = []
    for agent in range(len(found.agents)):
        seen = view(found, agent)
        plan = decided(speaker, seen, {})
        if plan.task is None:
            continue
        known = seen.observation.to_board()  # type: ignore[attr-defined]
        colour = next(box.colour for box in known.boxes if plan.task.target == f"box_{box.colour}")
        for mate in set(range(len(found.agents))) - {agent}:
            same = known.box_at(mate, colour) == known.box_at(agent, colour)
            left = decided(speaker, seen, {mate: plan.task})
            assert (left.task is None) == (same and mate < agent)
            shared.append(left.task is None)
    assert any(shared)


def test_in_the_open_world_a_cell_that_another_is_expected_to_collect_is_left_to_it() -> None:
    found = crafter_world(None, n=2, profile="coop", level="medium", switches={}, max_steps=20)
    found.reset(3)
    speaker = skills_of("crafter").speaker().for_facts(found.prompt_facts(), found.agents)
    seen = view(found, 0)
    plan = decided(speaker, seen, {})
    assert plan.task is not None
    assert plan.task.kind == "collect"
    assert decided(speaker, seen, {1: plan.task}).task != plan.task
    assert decided(speaker, seen, {1: Task("explore", "left")}).task == plan.task


def test_in_the_open_world_prospects_are_the_nearest_cells_of_a_mate_in_sight_and_what_it_has_said() -> None:
    found = crafter_world(None, n=2, profile="coop", level="medium", switches={}, max_steps=20)
    found.reset(3)
    speaker, seen = skills_of("crafter").speaker(), view(found, 0)
    scene = Scene(seen.observation)  # type: ignore[arg-type]
    trees = {f"tree_{scene.id_of(cell)}" for cell in scene.known(Material.tree)}
    prospects = speaker.prospects(seen, 1)
    assert [one.task.target in trees for one in prospects if one.task.target.startswith("tree_")] == [True]
    claim = words.Assignment(frozenset({1}), Task("collect", "iron_7"), 7, 3, seen.t)
    heard = replace(seen, unread=(said(1, words.write_assignment(claim)),))
    assert speaker.prospects(heard, 1)[0] == Prospect(claim.task, 0, 1, said=True)


def test_a_speaker_that_knows_nothing_of_others_answers_as_without_expectations() -> None:
    speaker = skills_of("squeeze").speaker()
    assert speaker.prospects(None, 1) == ()  # type: ignore[arg-type]
    assert Speaker.anticipate is type(speaker).anticipate
