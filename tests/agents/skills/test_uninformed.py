"""In a world that it has no rules for the simulated model answers with valid plans, and says that it knows nothing."""

from __future__ import annotations

import numpy as np
import pytest

from maeil.metrics import compute_metrics
from maeil.trace.reader import Trace
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build
from quorum.agents.naive.answers import AnswerTypes, write
from quorum.agents.simulated.model import SimulatedModel
from quorum.agents.simulated.uninformed import UninformedSpeaker
from quorum.agents.skills import Chooser
from tests.agents.naive_team import TOPOLOGIES, config, context, cube, settings, topology, view
from tests.crafter_env.joined import world as crafter
from tests.llamac_env.test_squeeze import world as squeeze
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


@pytest.mark.parametrize("world", [cube(4), crafter(n=2), squeeze()], ids=lambda world: world.name)
def test_a_plan_that_is_drawn_is_one_that_the_schema_takes(world) -> None:
    world.reset(0)
    types, seen = AnswerTypes(world.vocabulary, 8), view(world)
    speaker = UninformedSpeaker(types.wanted(seen).schema)
    chooser = Chooser(np.random.default_rng(0))
    for _ in range(200):
        thought = types.read(write(speaker.answer(seen, chooser), seen), seen)
        assert 1 <= len(thought.decision.actions) <= 3
