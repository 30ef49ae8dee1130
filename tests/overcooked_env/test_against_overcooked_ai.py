"""The world is the kitchen of `overcooked-ai`, step by step: held against the package on its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from maeil.outcomes import Outcome
from overcooked_env.world import load_package
from quorum.other_worlds.overcooked.teams import Jobs
from tests.overcooked_env.test_overcooked_world import world

SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"layout": "forced_coordination", "max_steps": 150},
    {"layout": "cramped_room_tomato", "soups": None},
    {"layout": "multiplayer_schelling", "n": 4, "max_steps": 150},
    {"layout": "tutorial_2", "drawn_starts": False, "max_steps": 150},
)


def hold(seed: int, settings: dict[str, Any]) -> float:
    """Play a seed in both as the greedy rule has it, with draws among it; return the sum of the rewards."""
    package, ours, draw = load_package(), world(**{"max_steps": 300, **settings}), np.random.default_rng(seed)
    ours.reset(seed)
    other = package.OvercookedGridworld.from_layout_name("long_cook_time")  # it leaves its recipes behind
    assert other.num_players == 2
    original = package.OvercookedGridworld.from_layout_name(ours.mdp.layout_name)
    positions = [(col, row) for row, col in ours.global_observation().cells.values()]
    state = package.OvercookedState.from_player_positions(
        positions, original.start_bonus_orders, original.start_all_orders
    )
    total, served, steps = 0, 0, 0
    joint: list[int] = [4] * len(ours.agents)
    live: list[Any] = [None] * len(ours.agents)
    while True:
        seen = ours.global_observation()
        package.Recipe.configure(original.recipe_config)
        assert [tuple(reversed(cell)) for cell in seen.cells.values()] == [p.position for p in state.players]
        assert [tuple(reversed(cell)) for cell in seen.facing.values()] == [
            package.Action.move_in_direction(*player.pos_and_or) for player in state.players
        ]
        assert [item.split(" ")[0] for item in seen.held.values()] == [
            player.held_object.name if player.held_object else "" for player in state.players
        ]
        objects = {tuple(reversed(position)): one for position, one in state.objects.items()}
        lying = {cell: one.name for cell, one in objects.items() if cell not in seen.contents}
        assert {cell: item.split(" ")[0] for cell, item in seen.lying.items()} == lying
        for cell, (ingredients, left) in seen.contents.items():
            soup = objects.get(cell)
            assert sorted(filter(None, ingredients.split("+"))) == sorted(soup.ingredients if soup else ())
            assert left == (None if soup is None or soup.is_idle else soup.cook_time_remaining)
        if steps and transition.end is not None:  # noqa: F821 (the first step comes below)
            return total
        for agent in range(len(joint)):
            if live[agent] is None or live[agent].status() is not None:
                live[agent] = ours.start_action(agent, Jobs(seen, agent, {}).plan().actions[0])
            goes_on = live[agent].status() is None and draw.random() < 0.9
            joint[agent] = live[agent].act() if goes_on else int(draw.integers(6))
        transition = ours.step(joint)
        package.Recipe.configure(original.recipe_config)
        state, info = original.get_state_transition(state, [package.Action.INDEX_TO_ACTION[one] for one in joint])
        rewards = info["sparse_reward_by_agent"]
        total, served, steps = total + sum(rewards), served + sum(reward > 0 for reward in rewards), steps + 1
        assert transition.reward == sum(rewards)
        assert ours.progress().score == total
        goal = ours.progress().goals
        is_over = 0 < goal <= served
        assert transition.end is (
            Outcome.SUCCESS if is_over else Outcome.TRUNCATED if steps == ours._max_steps else None
        )


@pytest.mark.parametrize("settings", SETTINGS)
def test_some_seeds_are_played_as_the_package_plays_them(settings: dict[str, Any]) -> None:
    for seed in range(2):
        hold(seed, settings)


@pytest.mark.conformance
@pytest.mark.parametrize("settings", SETTINGS)
def test_two_hundred_seeds_are_played_as_the_package_plays_them(settings: dict[str, Any]) -> None:
    rewards = [hold(seed, settings) for seed in range(200)]
    assert any(rewards), "no soup was ever served"
