"""The pictures of prompts: a different picture makes a different prompt, and those who see the same share one."""

from __future__ import annotations

from maeil.mind import Act, Turn, View
from maeil.world import World
from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.protocol import ChatMessage, ChatRole
from quorum.agents.prompting.pictures import Pictures
from quorum.agents.prompting.requests import RequestCounter
from quorum.agents.prompting.templates import PromptSet
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build
from quorum.methods.tom.answers import TomRole
from quorum.methods.tom.mind import TomPrompts
from tests.agents.naive_team import prompts as of_set


def cube(*words: str) -> World:
    return build(Cell.compose(["n=2", "env.observation=picture", *words]), no_models).world


def seen(world: World, agent: int | None, pictures: Pictures | None = None) -> Picture:
    pictures = pictures or Pictures(world)
    drawing = pictures.see(agent)
    assert drawing is not None
    return pictures.painted(drawing)


def test_another_picture_is_another_prompt_and_no_further_sample_of_it() -> None:
    world = cube()
    names = tuple(world.agents)
    view = View(0, names[0], names, Turn(0, frozenset({Act.PLAN})), 0, 0, world.observe(0))
    counter = RequestCounter()
    boards = [seen(cube(f"seed={seed}"), 0) for seed in (0, 1, 0)]
    prompts = [(ChatMessage(ChatRole.USER, "What do you see?", pictures=(board,)),) for board in boards]
    assert [counter.request(messages, None, view).sample for messages in prompts] == [0, 0, 1]


def test_those_who_see_the_same_share_a_picture() -> None:
    world = cube()
    pictures = Pictures(world)
    first, second = (seen(world, agent, pictures) for agent in (0, 1))
    assert first is second


def test_the_roles_of_a_mind_share_a_picture() -> None:
    world = cube()
    names = tuple(world.agents)
    view = View(0, names[0], names, Turn(0, frozenset({Act.PLAN})), 0, 0, world.observe(0))
    prompts = TomPrompts(PromptSet(**of_set("default")), world, 8)
    shown = [prompts.write(role, view, {names[1]: {}})[-1].pictures[0] for role in TomRole]
    assert all(picture is shown[0] for picture in shown)


def test_a_world_that_shows_text_has_no_pictures() -> None:
    world = build(Cell.compose(["n=2"]), no_models).world
    assert Pictures(world).see(0) is None
