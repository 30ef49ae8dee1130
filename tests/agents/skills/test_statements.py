"""The statements of `extension=truth`: each is held against the state of the world, through whole episodes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from crafter_env import Material
from lbf_env import food_name
from llamac_env import write_place
from maeil import Plan, World
from maeil.extension import Extension
from maeil.messages import Message, MessageKind
from maeil.topology import Topology
from maeil.trace import Recorder
from quorum.agents.skills import role_of
from quorum.agents.skills.cube.negotiator import read_claim, read_order
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build, play
from quorum.open_world import statements as crafter
from quorum.open_world.hearsay import read_assignments, read_bag, read_cell, read_places

Statement = tuple[str, Any]
Check = Callable[[Any, Message, Sequence[Plan | None], Statement], None]


def true_in_cube(world: Any, message: Message, plans: Sequence[Plan | None], said: Statement) -> None:
    blocks = {block.id: block for block in world.env.snapshot().blocks}
    orders = read_order(said[0])
    if message.kind is MessageKind.DIRECTIVE:
        assert orders.keys() == set(message.recipients)
        assert set(orders.values()) <= blocks.keys()
        return
    claimed = read_claim(said[0])
    assert claimed in blocks
    assert said[1] is not None
    assert said[1].target == f"block_{claimed}"
    block, (row, col) = blocks[claimed], world.env.snapshot().agents[message.sender]
    face = [(block.row + down, block.col - 1) for down in range(block.weight)]
    steps = min(abs(row - other[0]) + abs(col - other[1]) for other in face)
    assert f"{steps} steps away" in said[0]
    plan = plans[message.sender]
    if plan is not None and plan.task is not None:
        assert plan.task.target == f"block_{claimed}", "who has a plan works on its block"


def true_in_crafter(world: Any, message: Message, plans: Sequence[Plan | None], said: Statement) -> None:
    state = world.env.crafter_state
    rows = state.size[1]

    def material(cell: int) -> str:
        x, y = divmod(cell - 1, rows)
        return Material(state.materials[x, y]).name

    for assignment in read_assignments(said[0], message.t):
        if assignment.task.kind == "collect":
            assert material(assignment.cell) == assignment.task.target.rpartition("_")[0]
        assert not plans[min(assignment.agents)] or {plans[agent].task for agent in assignment.agents} == {
            assignment.task
        }
    for kind, cell in read_places(said[0]):
        assert material(cell) == kind
    if message.sender < len(plans) and "I am dead" not in said[0]:
        x, y = map(int, state.positions[message.sender])
        assert read_cell(said[0]) == x * rows + y + 1
        assert read_bag(said[0]) == dict(world.observe(message.sender).inventory)


def true_in_transport(world: Any, message: Message, plans: Sequence[Plan | None], said: Statement) -> None:
    board = world.env.board
    sentences = re.findall(r"In (square\[[^]]*\]) there (?:is|are) ([^.]*)\.", said[0])
    assert sentences
    for where, what in sentences:
        targets = sorted(f"target_{one.colour}" for one in board.targets if write_place(one.place) == where)
        assert sorted(what.split(", ")) == (targets or ["no target"])
    if message.kind is not MessageKind.DIRECTIVE:
        assert [where for where, _ in sentences] == [write_place(board.grid.cells[message.sender])]
    for colour in re.findall(r"I work on box_(\w+)", said[0]):
        assert colour in {str(box.colour) for box in board.boxes}


def true_in_squeeze(world: Any, message: Message, plans: Sequence[Plan | None], said: Statement) -> None:
    history = world.global_observation().history
    paid = re.findall(r"The last round paid (\S+)\.", said[0])
    assert paid == ([f"{history[-1].reward:g}"] if history else [])
    picks = re.findall(r"I pick (\d+)|agent_\d+: (\d+)", said[0])
    assert len(picks) == (len(message.recipients) if message.kind is MessageKind.DIRECTIVE else 1)
    assert all(0 <= int(own or other) <= 9 for own, other in picks)


def true_in_foraging(world: Any, message: Message, plans: Sequence[Plan | None], said: Statement) -> None:
    field = world.global_observation()
    named = dict(re.findall(r"\b(food_\d+_\d+) has level (\d+)", said[0]))
    levels = {food_name(food): str(level) for food, level in field.food_levels.items()}
    assert named.items() <= levels.items()
    if message.sender >= len(plans):
        assert named == levels
        return
    assert named.keys() == {food_name(food) for food in world.observe(message.sender).food_levels}
    plan = plans[message.sender]
    assert plan is None or said[1] == plan.task


class Held(Extension):
    """Checks what would be stated in the place of anybody's message: when all think, and when they have planned."""

    name = "held"

    def __init__(self, check: Check) -> None:
        self._check, self.checked = check, 0

    def conversation_begins(self, topology: Topology) -> None:
        self._hold()

    async def plans_committed(self) -> None:
        self._hold()

    def _hold(self) -> None:
        world: World = self.episode.world
        state = role_of(world.name, "statements", "a test")(world)
        live = [agent.plan for agent in self.episode.team.agents]
        plans = [plan.plan if plan is not None else None for plan in live]
        everybody = tuple(range(len(plans)))
        messages = []
        for sender in (*everybody, len(plans)):
            kind = MessageKind.DIRECTIVE if sender == len(plans) else MessageKind.PROPOSE
            readers = tuple(agent for agent in everybody if agent != sender)
            message = Message(0, sender, readers, "", kind, self.episode.team.now.t, 0, 0)
            messages.append(message)
        held = state(messages, plans)
        for message, said in zip(messages, held, strict=True):
            self._check(world, message, plans, said)
        self.checked += len(held)


def test_a_place_that_is_something_else_by_now_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the open world: its sender remembers a diamond that another has taken."""
    world = build(Cell.compose(["env=crafter_coop", "n=3", "agents=heuristic"]), no_models).world
    world.reset(3)
    remembered = crafter.sights
    monkeypatch.setattr(crafter, "sights", lambda scene: [*remembered(scene), "diamond_1"])
    state = role_of("crafter", "statements", "a test")(world)
    (said,) = state([Message(0, 0, (1,), "", MessageKind.PROPOSE, 0, 0, 0)], [None] * 3)
    assert "I am at cell" in said[0]
    assert "diamond_1" not in said[0]


WORLDS = {
    "env=cube n=4": true_in_cube,
    "env=cube n=8 env.vocabulary=emcoop": true_in_cube,
    "env=crafter_coop n=3": true_in_crafter,
    "env=transport n=4": true_in_transport,
    "env=transport_hard n=4": true_in_transport,
    "env=squeeze n=3": true_in_squeeze,
    "env=foraging n=3 env.sight=3": true_in_foraging,
}


@pytest.mark.parametrize("words", WORLDS)
def test_every_statement_holds_in_the_state_of_the_world(words: str) -> None:
    cell = Cell.compose([*words.split(), "agents=heuristic", "seed=3", "max_steps=25"])
    held = Held(WORLDS[words])
    parts = replace(build(cell, no_models), extensions=(held,))
    with Recorder(None) as recorder:
        asyncio.run(play(cell, parts, recorder))
    assert held.checked >= 30
