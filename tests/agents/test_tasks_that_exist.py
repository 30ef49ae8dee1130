"""A plan for a task that does not exist is an invalid plan: the next prompt says so, and `plans.invalid` counts it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crafter_env import Collect, Resource
from maeil.messages import Message, MessageKind
from maeil.metrics import compute_metrics
from maeil.trace import Recorder, Stamped, Trace
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.structured import Structuring
from quorum.agents.prompting.schemas import foreseen_of, tasks_of
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.parts import build, play
from quorum.process.event_loop import run_coroutine
from tests.agents.naive_team import settings, view
from tests.crafter_env.joined import number, run
from tests.crafter_env.joined import world as crafter

BLOCK_7 = {"kind": "deliver", "target": "block_7"}


class Copying:
    """Answers by rules, but all its plans are for the block of a prompt's example."""

    def __init__(self) -> None:
        self.model = Structuring(SimulatedModel(settings()), 0)
        self.prompts: list[str] = []

    async def complete(self, request: Request) -> Reply:
        self.prompts.append(request.messages[-1].content)
        reply = await self.model.complete(request)
        assert isinstance(reply.value, dict)
        return replace(reply, value={**reply.value, "plan": {**reply.value["plan"], "task": BLOCK_7}})


def test_a_plan_for_the_block_of_the_example_is_counted_and_named_in_the_next_prompt() -> None:
    cell = Cell.compose(["env=cube", "n=2", "agents=naive", "topology=individual", "max_steps=4", "seed=1"])
    models: list[Copying] = []

    def model(_: str) -> Any:
        models.append(Copying())
        return models[-1]

    events: list[Stamped] = []
    with Recorder(None, [events.append]) as recorder:
        run_coroutine(play(cell, build(cell, model), recorder))
    assert compute_metrics(Trace(tuple(events)))["plans.invalid"] > 0
    problem = "there is no task deliver:block_7; there are, for example, deliver:block_0"
    assert any(problem in prompt for prompt in models[0].prompts)


def test_another_may_be_expected_to_do_what_one_knows_to_be_done_but_nothing_that_nobody_has_named() -> None:
    world = crafter("....................\n0T.................T\n...................1")
    near, far = number(world, (1, 1)), number(world, (19, 1))
    run(world, {0: Collect(resource=Resource.wood, target=near)})
    content = f"agent_1: collect tree_{near}, try 3 times."
    turn = view(world, unread=(Message(0, 1, (0,), content, MessageKind.PROPOSE, 0, 0.0, 0.0),))
    own, foreseen = tasks_of(world, 0, turn), foreseen_of(world, turn)
    assert own is not None
    assert foreseen is not None
    assert f"tree_{near}" not in own["collect"]
    assert set(foreseen["collect"]) == {*own["collect"], f"tree_{near}"}
    assert f"tree_{far}" in world.tasks(1)["collect"]
