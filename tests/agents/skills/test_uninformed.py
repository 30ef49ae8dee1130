"""In a world that it has no rules for the simulated model answers with valid plans, and says that it knows nothing."""

from __future__ import annotations

import pytest

from maeil.metrics import compute_metrics
from maeil.trace.reader import Trace
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build
from quorum.agents.simulated import SimulatedModel
from tests.agents.naive_team import TOPOLOGIES, config, context, settings, topology, view
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import play


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_a_naive_team_plays_a_world_without_skills_under_every_topology(name: str) -> None:
    world, talk = Corridor(3, length=9, max_steps=300), topology(name, 3)
    model = Structuring(SimulatedModel(settings()), 0)
    minds = build(config(), context(world, talk, lambda _: model))
    coordinators = [("coordinator", mind) for mind in minds[3:]]
    events = play(minds[:3], world, topology=talk, seed=1, coordinators=coordinators)
    calls = [call for stamped in events if stamped.event.kind == "thought_end" for call in stamped.event.calls]
    assert {call["model"] for call in calls} == {"simulated (uninformed)"}
    metrics = compute_metrics(Trace(tuple(events)))
    assert metrics["model.parse_failures"] == 0
    assert metrics["outcome.success"], "random walks come to the end of a corridor"


async def test_after_a_refusal_it_takes_the_action_with_the_fewest_arguments() -> None:
    world = Corridor(2)
    world.reset(0)
    model = Structuring(SimulatedModel(settings()), 0)
    mind, _ = build(config(), context(world, topology("individual", 2), lambda _: model))
    thought = await mind.think(view(world, problems=("too far",)))
    assert [action.action for action in thought.decision.actions] == ["rest"]
