"""What a planner of joint plans is shown of the open world: one map, of which each agent's own is made again."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import orjson
import pytest

from crafter_env import Action, CrafterObservation, Item, SeenMap
from quorum.agents.prompting.blocks import write_json
from quorum.open_world.briefing import read_team, show_team
from tests.crafter_env.joined import advance, world

IMPLIED = {"agent", "facing", "history", "last_seen", "agents_not_shown"}
"""What is not shown, or follows from where the others are."""
UNORDERED = {"tasks", "supplies", "frontiers"}


def given(seen):
    """What a prompt shows of a team, and what is read of it."""
    return orjson.loads(write_json(show_team(seen)))


def alike(one: CrafterObservation, other: CrafterObservation, *, but: set[str]) -> None:
    """Compare what counts for a plan."""
    for field in {f.name for f in fields(one)} - IMPLIED - but:
        ours, others = getattr(one, field), getattr(other, field)
        if field == "entities":
            ours, others = ([(e.id, e.kind, e.cell) for e in each] for each in (ours, others))
        if field in UNORDERED:
            ours, others = set(ours), set(others)
        assert ours == others, field


@pytest.mark.parametrize("known", [{}, {"oracle_map": True}])
def test_each_agent_is_read_back_as_it_was(known):
    w = world(None, n=6, level="easy", switches={}, **known)
    w.env.crafter_state.inventory[5, Item.health] = 0
    rng = random.Random(0)
    changed = 0
    for _ in range(4):
        ways = [rng.randrange(1, 5) for _ in range(6)]
        for _ in range(12):
            advance(w, {agent: rng.choice((way, way, int(Action.do))) for agent, way in enumerate(ways)})
        seen = [w.observe(agent) for agent in range(6)]
        shown = given(seen)
        changed += any("remembers" in one for one in shown["agents"].values())
        back = read_team(shown, w.prompt_facts())
        for one, other in zip(seen, back, strict=True):
            if one.alive:
                alike(one, other, but=set())
    assert not back[5].alive
    assert bool(changed) is not bool(known), "somebody has collected what somebody else remembers"


def test_a_map_of_the_team_costs_less_than_the_maps_of_its_agents():
    w = world(None, n=8, level="easy", switches={})
    seen = [w.observe(agent) for agent in range(8)]
    assert len(write_json(show_team(seen))) < 0.6 * len(write_json(seen))


def test_what_is_in_view_counts_first_and_of_what_is_remembered_the_newest():
    ground = "." * 60
    w = world(f"0{ground}1\n.{ground}.\n.{ground}.")
    here, there = w.observe(0), w.observe(1)
    here = replace(here, map=SeenMap(0, 0, ("0T.???????Tc#_~.",)))
    there = replace(there, map=SeenMap(1, 0, (".t???????.__##t",)))
    shown = show_team([here, there])
    assert shown["map"] == {"left": 0, "top": 0, "rows": [".T.???????.___#t"]}
    assert shown["agents"]["agent_0"]["remembers"] == {"T": [31], "c": [34], "#": [37], "~": [43], ".": [46]}
