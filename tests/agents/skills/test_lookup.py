"""The skills of a world are found by its name; what is missing is reported once, by role and world."""

from __future__ import annotations

import sys

import pytest

from quorum.agents import llamac, rules
from quorum.agents.skills import WorldSkills, prompts_of, skills, skills_of
from tests.agents.llamac.teams import coordinated
from tests.agents.naive_team import context, cube, prompts, shipped, topology
from tests.maeil.corridor import Corridor

ROLES = {"heuristic", "negotiator", "planner", "gates", "briefing", "speaker", "merge"}
HAVING = {
    "cube": ROLES - {"merge"},
    "crafter": {"heuristic", "gates", "briefing", "speaker"},
    "transport": {"heuristic", "gates", "briefing", "speaker"},
    "squeeze": {"heuristic", "gates", "briefing", "speaker", "merge"},
    "foraging": {"heuristic", "gates", "briefing", "speaker"},
    "overcooked": {"heuristic", "gates", "briefing", "speaker"},
}


@pytest.fixture
def registered(monkeypatch):
    """Skills of the world of these tests, forgotten after the test."""

    class Sitter:
        async def think(self, view):
            raise NotImplementedError

    class CorridorSkills(WorldSkills):
        def heuristic(self, world):
            return [Sitter()] * len(world.agents)

    monkeypatch.setattr(skills, "_registered", {"hallway": CorridorSkills("hallway")})
    return Sitter


@pytest.mark.parametrize("world", HAVING)
def test_a_shipped_world_has_the_roles_that_it_says(world: str) -> None:
    found = skills_of(world)
    assert {role for role in ROLES if found.has(role)} == HAVING[world]


@pytest.mark.parametrize(
    ("component", "name", "having"),
    [
        (rules.heuristic, "heuristic", "cube, transport, squeeze, crafter, foraging, overcooked"),
        (rules.negotiator, "negotiator", "cube"),
        (rules.planner, "planner", "cube"),
        (llamac.component, "llamac", "cube, transport, squeeze, crafter, foraging, overcooked"),
    ],
)
def test_what_is_missing_is_reported_by_role_and_world_with_the_worlds_that_have_it(component, name, having) -> None:
    role = "gates" if name == "llamac" else name
    own = {"prompts": prompts(), "external_retries": 3} if name == "llamac" else {}
    config = component.config(**{**shipped("agents", name), **own})
    world = Corridor()
    talk = coordinated(2) if name == "llamac" else topology("individual", 2)
    given = f"agents={name} needs the skill '{role}', which the world 'hallway' does not have; worlds .* it: {having}"
    with pytest.raises(ValueError, match=given):
        component.build(config, context(world, talk))


def test_a_world_of_others_gets_the_minds_that_its_skills_have(registered) -> None:
    config = rules.HeuristicConfig(name="heuristic", teams="several")
    found = rules.build_heuristic(config, context(Corridor(3), topology("individual", 3)))
    assert [type(mind) for mind in found] == [registered] * 3
    assert not skills_of("hallway").has("gates")


def test_an_installed_package_offers_skills_by_an_entry_point(tmp_path, monkeypatch) -> None:
    (tmp_path / "maze.dist-info").mkdir()
    (tmp_path / "maze.dist-info" / "METADATA").write_text("Name: maze\nVersion: 1\n")
    (tmp_path / "maze.dist-info" / "entry_points.txt").write_text("[quorum.skills]\nmaze = maze_skills:skills\n")
    (tmp_path / "maze_skills.py").write_text(
        "from pathlib import Path\nfrom quorum.agents.skills import WorldSkills\n"
        "class Maze(WorldSkills):\n    prompts = Path('here')\nskills = Maze('maze')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert str(prompts_of("maze")) == "here"
    monkeypatch.delitem(sys.modules, "maze_skills")


def test_a_state_without_a_briefing_is_shown_as_the_global_observation() -> None:
    world = cube(2)
    world.reset(0)
    briefing = WorldSkills("hallway").briefing()
    sight = type("Sight", (), {"global_observation": world.global_observation()})()
    assert briefing.state(sight) == world.global_observation()
    assert briefing.digest(sight) is None
