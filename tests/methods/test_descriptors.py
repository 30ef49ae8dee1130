"""Offers and needs in prompts and answers: asked for in their own turns, and shown to those who plan by them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import orjson
import pytest

from maeil import Act, Seeds, View
from maeil.errors import InvalidThought
from maeil.trace import Stamped
from quorum.agents.answer_parts import Asked
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.naive.answers import AnswerTypes, write
from quorum.agents.naive.prompts import PromptWriter
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.prompting.requests import turn_of
from quorum.agents.prompting.templates import PromptSet
from quorum.agents.simulated.model import SimulatedModel
from quorum.agents.simulated.reading import read_view
from quorum.agents.skills import Chooser, skills_of
from quorum.methods.dytopo.answer import part
from quorum.methods.dytopo.describe import DESCRIBE, Describing, needs_note
from quorum.methods.dytopo.descriptors import Descriptor, Need, Offer
from quorum.methods.dytopo.matchers import MATCHERS
from tests.agents.naive_team import cube, episode, prompts, settings, topology, view

NAMES = tuple(f"agent_{i}" for i in range(4))
HELP = Need("block_0 takes 2 more.", ("block_0",))


def describing(world: Any, agent: int = 0) -> View:
    return view(world, agent, (), asks=frozenset({DESCRIBE}), notes=(needs_note((), NAMES),))


class Overheard:
    """A simulated model that keeps what it was asked: who, in which turn, by which message."""

    def __init__(self) -> None:
        self.model, self.asked = SimulatedModel(settings()), []

    async def complete(self, request: Request) -> Reply:
        self.asked.append((request.origin.agent, read_blocks(request.messages[-1].content)))
        return await self.model.complete(request)


@pytest.fixture(scope="module")
def world() -> Any:
    found = cube(4)
    found.reset(1)
    return found


def writer(world: Any, prompt_set: str = "default") -> PromptWriter:
    answers = AnswerTypes(world.vocabulary, 8)
    return PromptWriter(PromptSet(**prompts(prompt_set)), world, topology("dytopo", 4), answers)


@cache
def overheard() -> tuple[Overheard, list[Stamped]]:
    """An episode of four: what its model was asked, and its trace."""
    model = Overheard()
    typed = Describing("typed", MATCHERS["typed"])
    return model, episode("dytopo", 4, 1, model=model, max_steps=40, extensions=[typed])


def test_offers_and_needs_are_asked_for_in_turns_to_describe_alone(world: Any) -> None:
    answers = AnswerTypes(world.vocabulary, 8)
    wanted = answers.wanted(describing(world), grounded=True, world=world).schema
    assert list(wanted["properties"]) == ["thoughts", "offers", "needs"]
    listed = [wanted["$defs"][part]["properties"]["tasks"]["items"] for part in ("OfferAnswer", "NeedAnswer")]
    targets = [target for tasks in world.tasks(0).values() for target in tasks]
    assert listed == [{"type": "string", "enum": list(dict.fromkeys(targets))}] * 2
    for acts in ((Act.PLAN,), (Act.SPEAK,), (Act.SPEAK, Act.PLAN)):
        assert not {"offers", "needs"} & {*answers.keys(view(world, 0, acts, recipients=(1,)))}


def test_a_descriptor_is_read_as_it_is_written(world: Any) -> None:
    seen = describing(world)
    descriptor = Descriptor(Offer("hands", ("block_1",), False), HELP)
    answers = AnswerTypes(world.vocabulary, 8)
    value = write(
        replace(answers.read(example_of(world, seen), seen), answers={DESCRIBE: descriptor}), seen, answers.parts(seen)
    )
    assert answers.read(value, seen).answers[DESCRIBE] == descriptor


def example_of(world: Any, seen: View) -> Any:
    return AnswerTypes(world.vocabulary, 8).example(seen, skills_of("cube").example(world))


@pytest.mark.parametrize(
    ("key", "value", "reported"),
    [
        ("offers", None, "offers: "),
        ("offers", {"text": "x", "tasks": [], "free": "yes"}, "offers.free: "),
        ("needs", {"text": "x" * 500, "tasks": []}, "needs.text: "),
        ("needs", {"text": "x", "tasks": ["a"] * 9}, "needs.tasks: "),
    ],
)
def test_a_wrong_part_is_reported_by_its_key(world: Any, key: str, value: Any, reported: str) -> None:
    seen = describing(world)
    with pytest.raises(InvalidThought) as error:
        AnswerTypes(world.vocabulary, 8).read({**example_of(world, seen), key: value}, seen)
    assert error.value.reasons[0].startswith(reported)


@pytest.mark.parametrize("prompt_set", ["default", "terse"])
def test_the_words_for_offers_and_needs_stand_last_and_nowhere_in_other_turns(world: Any, prompt_set: str) -> None:
    write_prompt = writer(world, prompt_set).write
    describe, needed, plain = (
        write_prompt(seen)
        for seen in (describing(world), view(world, 0, notes=(needs_note(((2, HELP),), NAMES),)), view(world, 0))
    )
    assert describe[0] == needed[0] == plain[0]
    assert "# What you offer and need" in describe[1].content
    assert "# What others need" not in describe[1].content
    assert needed[1].content.startswith(plain[1].content)
    assert orjson.loads(read_blocks(needed[1].content)["needs"]) == {
        "agent_2": {"text": HELP.text, "tasks": ["block_0"]}
    }
    assert '"offers"' not in plain[1].content


def test_what_a_prompt_says_of_needs_is_read_back(world: Any) -> None:
    needs = ((2, HELP), (3, Need("", ())))
    seen = view(world, 0, notes=(needs_note(needs, NAMES),))
    blocks = {
        name: text for message in writer(world).write(seen) for name, text in read_blocks(message.content).items()
    }
    read = read_view(blocks, seen.observation, world.vocabulary)
    assert read.noted(DESCRIBE) == [needs]
    assert read.wanted == {2: HELP.tasks, 3: ()}


def test_a_turn_to_describe_is_a_turn_to_talk(world: Any) -> None:
    assert turn_of(describing(world)) == ("talk",)


def test_what_was_routed_is_in_the_prompt_of_the_turn_that_plans_and_nothing_else_is() -> None:
    model, events = overheard()
    sent = [s.event for s in events if s.t == 0 and s.event.kind == "message_sent"]
    [routed] = [s.event for s in events if s.t == 0 and s.event.kind == "routed"]
    needs = {s.event.agent: s.event.needs for s in events if s.t == 0 and s.event.kind == "described"}
    assert 0 < len(routed.edges) < 12
    for agent, blocks in model.asked:
        turn = orjson.loads(blocks["turn"])
        if turn["step"] > 0 or turn["may"] != ["plan"]:
            continue
        me = int(agent.removeprefix("agent_"))
        reported = [
            (int(said["author"][-1]), said["content"])
            for group in shown(blocks)
            for said in group["messages"]
            if said["author"] != agent
        ]
        assert sorted(reported) == sorted((m.sender, m.content) for m in sent if me in m.recipients)
        joined = {recipient for sender, recipient in routed.edges if sender == me}
        wanted = {
            f"agent_{other}": {"text": needs[other]["text"], "tasks": list(needs[other]["tasks"])} for other in joined
        }
        assert orjson.loads(blocks.get("needs", "{}")) == wanted


def shown(blocks: Any) -> list[Any]:
    return [group for name in ("memory", "unread") for group in orjson.loads(blocks.get(name, "[]"))]


def test_the_simulated_speaker_of_cube_offers_the_nearest_blocks_and_asks_for_hands() -> None:
    board = cube(4)
    board.reset(0)
    speaker, chooser = skills_of("cube").speaker(), Chooser(Seeds(0).generator())
    views = [describing(board, agent) for agent in range(4)]
    descriptors = [part.says(Asked(seen, {}, {"world": "cube"}, speaker, True, chooser)) for seen in views]
    weight = {f"block_{block.id}": block.weight for block in board.global_observation().blocks}
    for descriptor in descriptors:
        assert len(descriptor.offers.tasks) == 2
        assert descriptor.needs.tasks == descriptor.offers.tasks[:1]
        assert descriptor.offers.free
        hands = weight[descriptor.needs.tasks[0]] - 1
        assert (f"takes {hands} more" in descriptor.needs.text) == (hands > 0)
    assert any("more" in descriptor.needs.text for descriptor in descriptors)


def test_the_simulated_speaker_of_cube_goes_where_it_is_needed(world: Any) -> None:
    speaker = skills_of("cube").speaker()
    talking = view(world, 0, (Act.SPEAK,), recipients=(1, 2))
    blocks = world.global_observation().blocks
    heavy = max(blocks, key=lambda block: block.weight)
    other = next(block for block in blocks if block.id != heavy.id)
    for block in (heavy, other):
        need = Need("hands!", (f"block_{block.id}",))
        helped = speaker.answer(
            replace(talking, notes=(needs_note(((1, need), (2, need)), NAMES),)), Chooser(Seeds(0).generator())
        )
        reported = helped.messages[0].content
        if block is heavy:
            first = reported
    assert first != reported


@pytest.mark.parametrize("matcher", ["typed", "lexical"])
def test_equal_episodes_have_equal_traces(matcher: Any) -> None:
    one, other = (
        [
            (s.t, s.t_hat, s.event)
            for s in episode("dytopo", 3, 2, max_steps=15, extensions=[Describing(matcher, MATCHERS[matcher])])
            if s.event.kind in KINDS
        ]
        for _ in range(2)
    )
    assert one == other


KINDS = ("described", "routed", "message_sent", "plan", "step")
