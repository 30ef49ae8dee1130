"""A repair in prompts: what a model is shown of it, what the simulated model makes of that, and what the loop takes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import orjson
import pytest

from maeil import Act, Plan, Resume, Task, Thought, View
from maeil.judging import Advice, Violation
from maeil.messages import Message, MessageKind
from maeil.mind import PlanView
from maeil.plans import PlanStatus
from maeil.tasks import Constraint
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated.model import SimulatedModel
from quorum.agents.skills.cube.plans import CUBE
from quorum.methods.repair.gate import repair_note
from quorum.methods.repair.rules import Notice
from quorum.methods.repair.simulated import part
from tests.agents.naive_team import config, context, cube, settings, topology, view

TASK = Task("push", "block_0/left")
ACTIONS = ("move_to_block(block=0, face=left, timeout=null)", "push_block(block=0, steps=1, timeout=3)")
OWN = PlanView("P0.1", Task("deliver", "block_0"), ACTIONS, 0, PlanStatus.COMMITTED)


@pytest.fixture(scope="module")
def world() -> Any:
    found = cube(4)
    found.reset(1)
    return found


def notice(
    world: Any, *, replan: bool = True, advised: tuple[int, ...] = (), failing: tuple[int, ...] = (0, 2)
) -> Notice:
    block = world.global_observation().blocks[0]
    advice = Advice(TASK, dict.fromkeys(advised, CUBE.delivery(block, "as advised", 9))) if advised else None
    return Notice(
        (Violation(TASK, Constraint.TEMPORAL, failing, 1, 3),),
        {
            0: PlanView("", TASK, ACTIONS, 0, PlanStatus.COMMITTED),
            2: PlanView("", None, (), 1, PlanStatus.COMMITTED),
        },
        (0, 2),
        replan,
        advice,
    )


def asked(world: Any, reported: Notice, acts: tuple[Act, ...] = (Act.PLAN,), **changes: Any) -> View:
    found = view(world, 0, acts, plan=OWN, recipients=(2,) if Act.SPEAK in acts else (), **changes)
    return replace(found, notes=(repair_note(reported, world.agents),))


def think(world: Any, seen: View, **rates: float) -> tuple[Thought, str]:
    """What the simulated model decides, and the message of the turn that it was asked with."""
    prompts: list[str] = []

    class Listening:
        async def complete(self, request):
            prompts.append(request.messages[-1].content)
            return await SimulatedModel(settings(**rates)).complete(request)

    mind = build(config(), context(world, topology("individual", 4), lambda _: Structuring(Listening(), 1)))[0]
    return asyncio.run(mind.think(seen)), prompts[0]


def test_a_notice_is_read_as_it_was_written(world: Any) -> None:
    reported = notice(world, advised=(0, 2, 3))
    note = repair_note(reported, world.agents)
    index = {name: number for number, name in enumerate(world.agents)}
    read = part.note({"repair": orjson.dumps(note.shown).decode()}, index, world.vocabulary)
    assert read is not None
    assert (read.content, read.replan, read.agents) == (reported, note.replan, note.agents)


def test_a_turn_to_speak_asks_for_an_intention_and_gets_one_message(world: Any) -> None:
    thought, prompt = think(world, asked(world, notice(world), (Act.SPEAK,), limit=1))
    assert "In one message of 1 to 3 sentences, say what you intend" in prompt
    assert orjson.loads(read_blocks(prompt)["repair"])["failures"][0]["constraint"] == "temporal"
    assert "Nobody talks in this team" not in prompt, "the words of the usual topology would be wrong here"
    (message,) = thought.messages
    assert (message.recipients, message.content.startswith("I take block_")) == ((2,), True)


def test_a_channel_asks_for_a_plan_and_offers_no_way_to_resume(world: Any) -> None:
    thought, prompt = think(world, asked(world, notice(world)))
    assert '"plan"' in prompt
    assert '"decision"' not in prompt.split("# What you see")[0]
    assert "advice" not in prompt
    assert isinstance(thought.decision, Plan)


def test_the_advised_plan_is_committed_and_said(world: Any) -> None:
    reported = notice(world, advised=(0, 2))
    thought, prompt = think(world, asked(world, reported))
    assert "`advice`: an assignment" in prompt
    assert reported.advice is not None
    assert isinstance(thought.decision, Plan)
    assert thought.decision.actions == reported.advice.plans[0].actions
    said, _ = think(world, asked(world, reported, (Act.SPEAK,), limit=1))
    assert said.messages[0].content == "I take part in push:block_0/left, as advised."


def test_a_poor_model_does_not_follow_advice(world: Any) -> None:
    reported = notice(world, advised=(0, 2))
    decision = think(world, asked(world, reported), poor=1.0)[0].decision
    assert reported.advice is not None
    assert isinstance(decision, Plan)
    assert decision.actions != reported.advice.plans[0].actions


def test_who_is_told_and_is_not_concerned_goes_on(world: Any) -> None:
    thought, prompt = think(world, asked(world, notice(world, replan=False, failing=(2, 3))))
    assert thought.decision is Resume.RESUME
    assert "Continue your plan, or replace it" in prompt
    assert isinstance(think(world, asked(world, notice(world, replan=False)))[0].decision, Plan)


def test_what_was_said_in_the_channel_changes_the_plan(world: Any) -> None:
    blocks = {block.id for block in world.global_observation().blocks}
    alone = think(world, asked(world, notice(world)))[0].decision
    assert isinstance(alone, Plan)
    plans = set()
    for block in blocks:
        claims = tuple(
            Message(0, sender, (0,), f"I take block_{block}, 1 steps away.", MessageKind.PROPOSE, 0, 0, 0)
            for sender in (1, 2, 3)
        )
        decision = think(world, asked(world, notice(world), unread=claims))[0].decision
        assert isinstance(decision, Plan)
        plans.add(decision.task)
    assert len(plans) > 1


def test_a_prompt_without_a_repair_says_nothing_of_one(world: Any) -> None:
    _, prompt = think(world, view(world))
    assert "repair" not in prompt.lower()
