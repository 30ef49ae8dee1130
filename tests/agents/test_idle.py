"""A mind that idles does nothing in any world, whatever it hears."""

from __future__ import annotations

import pytest

from maeil.trace import Recorder, Stamped
from maeil.trace.events import MessageSent, PlanChange, StepTaken, ThoughtEnd
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build, play
from quorum.process.event_loop import run_coroutine
from quorum_base.user_errors import UserError


@pytest.mark.parametrize("env", ["cube", "crafter_coop", "transport", "squeeze", "foraging", "overcooked"])
def test_a_mind_that_idles_takes_the_idle_action_in_every_step_and_says_nothing(env: str) -> None:
    words = [
        f"env={env}",
        f"n={2 if env == 'overcooked' else 3}",
        "agents=negotiator" if env == "cube" else "agents=heuristic",
        "max_steps=25",
    ]
    cell = Cell.compose([*words, "topology=debate", "agents.members.agent_1=idle"])
    parts = build(cell, no_models)
    events: list[Stamped] = []
    with Recorder(None, [events.append]) as recorder:
        run_coroutine(play(cell, parts, recorder))
    parts.world.reset(0)
    idle = parts.world.start_action(1, parts.world.idle).act()
    steps = [one.event for one in events if isinstance(one.event, StepTaken)]
    assert steps
    assert {step.joint[1] for step in steps} == {idle}
    assert not [one for one in events if isinstance(one.event, MessageSent) and one.event.sender == 1]
    refused = [one.event.refused for one in events if isinstance(one.event, ThoughtEnd) and one.event.agent == 1]
    assert not any(reasons for reasons in refused if "ended before" not in str(reasons))
    assert any(isinstance(one.event, PlanChange) and one.event.agent == 1 for one in events)


def test_a_coordinator_that_idles_is_refused() -> None:
    words = ["agents=idle", "topology=centralized", "topology.leader=coordinator", "n=2"]
    with pytest.raises(UserError, match="agents=idle does not talk"):
        build(Cell.compose(words), no_models)
