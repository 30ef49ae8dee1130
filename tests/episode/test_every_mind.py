"""Every mind works with every extension: its episode is played, and the note is in the prompt of whoever decides."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from healers.events import HealerActed
from healers.healing import Healing, HealSettings

from maeil import Extension, Plan, Task, World
from maeil.dig.patterns import Pattern, Thresholds
from maeil.judging import Advice, Moment, PlanRules, Violation
from maeil.tasks import Constraint
from maeil.trace import Recorder, Stamped
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.structured import Structuring
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.configuration.option_folders import SHIPPED
from quorum.configuration.registry import minds
from quorum.episode.parts import build, play
from quorum.methods.repair.events import RepairEnded, RepairStarted
from quorum.methods.repair.gate import Mode, Repair, RepairConfig
from tests.agents.naive_team import settings

LED = "topology=centralized topology.leader=coordinator topology.rounds"
TOPOLOGIES = {
    "heuristic": "topology=individual",
    "always_right": "topology=individual",
    "random": "topology=individual",
    "idle": "topology=individual",
    "policy": "topology=individual",
    "planner": "topology=individual",
    "negotiator": "topology=debate",
    "naive": "topology=debate",
    "tom": "topology=debate",
    "llamac": f"{LED}=3",
    "cmas": f"{LED}=0",
    "hmas2": f"{LED}=1",
    "debaters": f"{LED}=0",
    "hmas1": "topology=dialogue topology.opens=coordinator",
    "dmas": "topology=dialogue topology.opens=team",
    "drwell": "topology=negotiation",
}
FEW = ("heuristic", "naive", "llamac", "dmas")
"""One mind of each sort: of rules, zero-shot, with a coordinator that decides, and in a dialogue that decides."""
TASK = Task("deliver", "block_0")


class Pessimist(PlanRules):
    """Expects that everything fails, once."""

    cooldown = 100

    def task_of(self, world: World, agent: int, plan: Plan) -> Task | None:
        return TASK

    def predict(self, moment: Moment) -> Sequence[Violation]:
        return [Violation(TASK, Constraint.TEMPORAL, tuple(range(len(moment.plans))), 1, 2)]

    def advise(self, moment: Moment, failures: Sequence[Violation]) -> Advice | None:
        return Advice(TASK, {agent: Plan((moment.world.idle,) * 2) for agent in range(len(moment.plans))})


class Overheard:
    """A simulated model that keeps the prompts of a team."""

    def __init__(self) -> None:
        self._model, self.prompts = SimulatedModel(settings()), []

    async def complete(self, request: Request) -> Reply:
        self.prompts.append("\n".join(message.content for message in request.messages))
        return await self._model.complete(request)


def played(mind: str, extension: Extension) -> tuple[list[Stamped], list[str]]:
    """The events of an episode, and its prompts."""
    words = ["n=2", "max_steps=6", f"agents={mind}", "extension=repair", *TOPOLOGIES[mind].split()]
    model, events = Overheard(), list[Stamped]()
    cell = Cell.compose(words)
    parts = build(cell, lambda _: Structuring(model, 1))
    required = [one for one in parts.extensions if one.name != "repair"]
    with Recorder(None, [events.append]) as recorder:
        asyncio.run(play(cell, replace(parts, extensions=[extension, *required]), recorder))
    return events, model.prompts


def of(events: Sequence[Stamped], kind: type[Any]) -> list[Any]:
    return [stamped.event for stamped in events if isinstance(stamped.event, kind)]


def test_the_matrix_has_every_mind() -> None:
    shipped = {path.stem for folder in SHIPPED for path in (folder / "agents").glob("*.yaml")} - {"debaters_personas"}
    assert set(TOPOLOGIES) == shipped <= set(minds.names())


MATRIX = [
    pytest.param(mind, mode, marks=[] if mode == "channel" or mind in FEW else pytest.mark.conformance)
    for mind in TOPOLOGIES
    for mode in ("channel", "wide_channel", "notice", "rules")
]


@pytest.mark.parametrize(("mind", "mode"), MATRIX)
def test_every_mind_takes_repairs(mind: str, mode: Mode) -> None:
    how = RepairConfig(
        mode=mode, predictor="heuristic", horizon=1, cooldown=None, guidance=True, order="ascending", verifications=1
    )
    events, prompts = played(mind, Repair(how, Pessimist()))
    (started,) = of(events, RepairStarted)
    (ended,) = of(events, RepairEnded)
    assert started.agents == (0, 1)
    assert len(ended.replaced) == 2 or mode == "notice", "who must plan again has done so"
    assert events[-1].event.kind == "episode_end"
    asked = [prompt for prompt in prompts if "# A repair" in prompt]
    assert bool(asked) == (minds.get(mind).uses_models and mode != "rules")


@pytest.mark.parametrize("mind", TOPOLOGIES)
def test_every_mind_hears_healers(mind: str) -> None:
    healing = Healing(HealSettings((Pattern.DEADLOCK,), Thresholds(5, 2, 10, 1), 3))
    events, prompts = played(mind, healing)
    assert of(events, HealerActed)
    assert events[-1].event.kind == "episode_end"
    asked = [prompt for prompt in prompts if "# A remark on how the team works together" in prompt]
    assert bool(asked) == minds.get(mind).uses_models
