"""What healers say in prompts: how it is shown, what the simulated model makes of it, and where it stands."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest
from healers.healing import HealerNote, healer_note
from healers.heeding import HeedingModel, read_remarks, toward

from maeil import Act, Plan, Resume, Task, Thought, View
from maeil.dig.patterns import Pattern
from maeil.messages import Message, MessageKind
from maeil.mind import PlanView
from maeil.plans import PlanStatus
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.skills import Chooser, skills_of
from tests.agents.naive_team import config, context, cube, settings, topology, view

BLOCK = "block_0"
ACTIONS = ("move_to_block(block=0, face=left, timeout=null)", "push_block(block=0, steps=2, timeout=null)")
OWN = PlanView("P0.1", Task("deliver", BLOCK), ACTIONS, 0, PlanStatus.RUNNING)


@pytest.fixture(scope="module")
def world() -> Any:
    found = cube(4)
    found.reset(1)
    return found


def note(healer: Pattern, subject: str = BLOCK, handlers: tuple[int, ...] = (), **changes: Any) -> HealerNote:
    return HealerNote(0, healer, f"Mind {subject}.", subject, handlers, **changes)


def shown_to(world: Any, *notes: HealerNote, acts: tuple[Act, ...] = (Act.PLAN,), **changes: Any) -> View:
    shown = (healer_note(notes, world.agents, (0,)),) if notes else ()
    return replace(view(world, 0, acts, **{"plan": OWN, **changes}), notes=shown)


def think(world: Any, seen: View, **rates: float) -> tuple[Thought, str]:
    """What the simulated model decides, and the message of the turn that it was asked with."""
    prompts: list[str] = []

    class Listening:
        async def complete(self, request):
            prompts.append(request.messages[-1].content)
            return await HeedingModel(settings(**rates)).complete(request)

    mind = build(config(), context(world, topology("individual", 4), lambda _: Structuring(Listening(), 1)))[0]
    return asyncio.run(mind.think(seen)), prompts[0]


def test_notes_are_read_as_they_were_written(world: Any) -> None:
    notes = (
        note(Pattern.ORPHAN, messages=((0, "Come to block_0."),)),
        HealerNote(1, Pattern.REPEATED_EFFORT, "Too many.", BLOCK, (1, 2)),
        HealerNote(2, Pattern.DEADLOCK, "Go on."),
    )
    shown = healer_note(notes, world.agents, (0,)).shown
    assert read_remarks(orjson.dumps(shown).decode(), world.agents) == notes
    assert shown[2] == {"finding": "deadlock", "says": "Go on."}


def test_the_prompt_of_the_turn_that_decides_ends_with_what_the_healer_says(world: Any) -> None:
    _, prompt = think(world, shown_to(world, note(Pattern.ORPHAN, messages=((0, "Come!"),))))
    before, _, last = prompt.partition("# A remark on how the team works together")
    assert "# Your turn" in before
    assert orjson.loads(read_blocks(last)["healer"]) == [
        {"about": BLOCK, "finding": "orphan", "messages": [["agent_0", "Come!"]], "says": "Mind block_0."}
    ]
    assert "Decide with this in mind." in last


def test_a_turn_to_speak_shows_it_too(world: Any) -> None:
    _, prompt = think(world, shown_to(world, note(Pattern.ORPHAN), acts=(Act.SPEAK,), recipients=(1,)))
    assert "Speak with this in mind." in prompt


def test_without_a_note_a_prompt_says_nothing_of_healers(world: Any) -> None:
    _, prompt = think(world, view(world))
    assert "remark" not in prompt
    assert "healer" not in prompt


@pytest.mark.parametrize(
    "healer", [Pattern.ORPHAN, Pattern.DEADLOCK, Pattern.INCOMPLETE_COVERAGE, Pattern.REPEATED_EFFORT]
)
def test_who_hears_that_its_plan_comes_to_nothing_plans_again(world: Any, healer: Pattern) -> None:
    heard = (Message(0, 1, (0,), "I take block_0, 1 steps away.", MessageKind.PROPOSE, 0, 0, 0),)
    assert think(world, shown_to(world, memory=heard))[0].decision is Resume.RESUME
    decision = think(world, shown_to(world, note(healer), memory=heard))[0].decision
    assert isinstance(decision, Plan)
    assert decision.task != OWN.task


def test_a_note_on_something_else_changes_nothing(world: Any) -> None:
    heard = (Message(0, 1, (0,), "I take block_0, 1 steps away.", MessageKind.PROPOSE, 0, 0, 0),)
    assert think(world, shown_to(world, note(Pattern.ORPHAN, "block_9"), memory=heard))[0].decision is Resume.RESUME


@pytest.mark.parametrize("healer", [Pattern.MISSED_SUBMISSION, Pattern.EXCESSIVE_REROUTING])
def test_a_handler_plans_for_what_it_is_asked_to(world: Any, healer: Pattern) -> None:
    for block in world.global_observation().blocks:
        if block.ahead:
            continue
        subject = f"block_{block.id}"
        decision = think(world, shown_to(world, note(healer, subject, (0,)), plan=None))[0].decision
        assert isinstance(decision, Plan)
        assert decision.task == Task("deliver", subject)
    alone = think(world, shown_to(world, plan=None))[0].decision
    assert think(world, shown_to(world, note(healer, handlers=(1,)), plan=None))[0].decision == alone, "no handler"


def test_who_is_asked_for_different_things_listens_to_the_handler(world: Any) -> None:
    blocks = [block.id for block in world.global_observation().blocks if not block.ahead][:2]
    orders = tuple(
        Message(0, sender, (0,), f"agent_0: block_{block}.", MessageKind.DIRECTIVE, 0, 0, 0)
        for sender, block in zip((1, 2), blocks, strict=True)
    )
    shown = tuple((order.sender, order.content) for order in orders)
    for handler, block in zip((1, 2), blocks, strict=True):
        mixed = note(Pattern.MISSING_DEPENDENCY, "", (handler,), messages=shown)
        decision = think(world, shown_to(world, mixed, plan=None, unread=orders))[0].decision
        assert isinstance(decision, Plan)
        assert decision.task == Task("deliver", f"block_{block}")


def test_a_poor_model_does_not_heed_it(world: Any) -> None:
    block = next(block for block in world.global_observation().blocks if not block.ahead)
    urged = note(Pattern.MISSED_SUBMISSION, f"block_{block.id}", (0,))
    rationales = {
        think(replaced, shown_to(replaced, urged, plan=None), poor=1.0)[0].decision.rationale  # type: ignore[union-attr]
        for replaced in [world]
    }
    assert rationales == {"at random"}


def test_a_speaker_that_does_not_know_a_thing_by_name_plans_as_ever(world: Any) -> None:
    speaker = skills_of("cube").speaker()
    seen = shown_to(world, plan=None)
    assert toward(speaker, seen, "block_99") is None
    assert toward(speaker, seen, "tree") is None
    assert isinstance(speaker.answer(seen, Chooser(np.random.default_rng(0))).decision, Plan)
