"""The rules of CUBE: every name that a board shows is explained, and no other."""

from __future__ import annotations

import re

import pytest

from cube_env import HistoryEntry, ShownObservation, TextLimits
from quorum.agents.naive import render_prompt
from tests.agents.naive_team import config, context, cube, topology, view
from tests.cube_env.boards import play

PLAIN = {"agents_not_shown", "max_steps", "side", "step", "name"}
"""Names that say what they are."""


def legend(prompt_set: str) -> str:
    world = cube(4)
    world.reset(0)
    system = render_prompt(config(prompt_set), context(world, topology("debate", 4)), view(world))[0].content
    after = system.split("In the observation:")[1]
    return re.split(r"The task of a plan|Always work", after)[0]


def names_shown(prompt_set: str) -> set[str]:
    if prompt_set == "cube_code":
        return {"blocks", "goal_column", "max_steps", "side", "step", "you", "name", "cell"}
    running = (HistoryEntry("idle", {"steps": 2}, (0,), "running"),)
    seen = play("10A.B..|").symbolic_observation(0, running)
    found = ShownObservation.of(seen, TextLimits(max_agents=1, faces="all")).shown()
    return {*found, *found["you"]}


@pytest.mark.parametrize("prompt_set", ["default", "cube_code"])
def test_every_name_that_a_board_shows_is_explained_and_no_other(prompt_set: str) -> None:
    assert set(re.findall(r'"(\w+)"', legend(prompt_set))) == names_shown(prompt_set) - PLAIN
