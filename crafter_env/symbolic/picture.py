"""Drawings of the map, complete and as one agent sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from crafter_env.constants import Action, Cell, Entity, Item, Material
from crafter_env.kernels.arrays import ByteArray
from crafter_env.layout import MATERIAL_CHARACTERS
from crafter_env.observation import CrafterObservation
from crafter_env.state import CrafterState
from quorum_base.drawing import PAPER, Canvas, Depiction, Drawing, Mark, MarkKind, Rotation, Shape, Texture

_SIGNS = {material: sign for sign, material in MATERIAL_CHARACTERS.items() if sign.isalpha()}
_GROUNDS = {
    Material.water: ("#8fc3ea", "#1f4f78", Texture.WAVES),
    Material.grass: ("#d6e8c4", "#2c4224", Texture.PLAIN),
    Material.stone: ("#b9b9be", "#55555c", Texture.BRICKS),
    Material.path: ("#efe6d6", "#3a352c", Texture.DOTS),
    Material.sand: ("#f4e7a8", "#5d5430", Texture.STRIPES),
    Material.tree: ("#5c9a5a", "#3f7a3f", Texture.PLAIN),
    Material.lava: ("#e8663a", "#b5431c", Texture.CROSSES),
    Material.coal: ("#77777e", "#2a2a2e", Texture.BRICKS),
    Material.iron: ("#d9b38c", "#8a6642", Texture.BRICKS),
    Material.diamond: ("#7fd6dd", "#2f8b93", Texture.BRICKS),
    Material.table: ("#b98a56", "#7a5730", Texture.CROSSES),
    Material.furnace: ("#8c8c94", "#3c3c44", Texture.CROSSES),
}
_ENTITIES = {
    Entity.cow: ("cow", "#ffffff", "#e6e0d0", Shape.BOX, Texture.PLAIN),
    Entity.zombie: ("zombie", "#009e73", "#2fc79b", Shape.DIAMOND, Texture.PLAIN),
    Entity.skeleton: ("skeleton", "#cc79a7", "#e79bc6", Shape.DIAMOND, Texture.CROSSES),
    Entity.arrow: ("arrow", "#4a4a50", "#c8c8d0", Shape.WEDGE, Texture.STRIPES),
    Entity.plant: ("plant", "#5c9a5a", "#6fb86c", Shape.RING, Texture.PLAIN),
    Entity.ripe_plant: ("ripe plant", "#d55e00", "#ff8c3a", Shape.RING, Texture.DOTS),
}
_AGENT, _ASLEEP = len(_GROUNDS) + len(_ENTITIES), len(_GROUNDS) + len(_ENTITIES) + 1
KINDS = (
    *(MarkKind(m.name, light, dark, texture=t, sign=_SIGNS.get(m, "")) for m, (light, dark, t) in _GROUNDS.items()),
    *(MarkKind(*looks) for looks in _ENTITIES.values()),
    MarkKind("agent", "#0072b2", "#56b4e9", Shape.DISC),
    MarkKind("agent asleep", "#4b4b86", "#9a9ae0", Shape.DISC, Texture.STRIPES),
    MarkKind("where an agent looks", "#1d1d1f", "#ececf0", Shape.WEDGE),
)
_LOOK = _ASLEEP + 1
GROUND_OF = np.full(len(Material), PAPER, dtype=np.uint8)
GROUND_OF[[*_GROUNDS]] = range(len(_GROUNDS))
_KIND_OF = {entity: len(_GROUNDS) + number for number, entity in enumerate(_ENTITIES)}
_TURNS = {(1, 0): Rotation.RIGHT, (0, 1): Rotation.DOWN, (-1, 0): Rotation.LEFT, (0, -1): Rotation.UP}
_WEDGE = 0.3
_ITEMS = tuple(Item.__members__)
_ACTIONS = tuple(Action.__members__)


def canvas(state: CrafterState) -> Canvas:
    """Return the frame of a map."""
    return Canvas(*state.size, KINDS, ruled=False)


def draw(state: CrafterState) -> Drawing:
    """Draw a map; dead agents are left out, and a small wedge shows where an agent looks."""
    marks: dict[str, Mark] = {}
    for creature in state.creatures():
        kind = state.entity_at(creature.cell) if creature.kind == Entity.plant else creature.kind
        turn = _TURNS.get(creature.direction, Rotation.RIGHT)
        marks[f"{_ENTITIES[kind][0]} {creature.id}"] = mark_creature(kind, *creature.cell, turn)
    alive, sleeping = state.alive.tolist(), state.sleeping.tolist()
    rows = zip(state.positions.tolist(), state.facing.tolist(), alive, sleeping, strict=True)
    for agent, ((x, y), (right, down), lives, sleeps) in enumerate(rows):
        if not lives:
            continue
        name = f"agent_{agent}"
        marks[name] = mark_agent(agent, x, y, asleep=sleeps)
        centre = 0.5 - _WEDGE / 2
        marks[f"{name} looks"] = Mark(
            _LOOK, x + centre + 0.5 * right, y + centre + 0.5 * down, _WEDGE, _WEDGE,
            title=f"{name} looks here", turn=_TURNS[right, down],
        )  # fmt: skip
    ground = GROUND_OF[state.materials.T].tobytes()
    holdings = tuple(
        ", ".join(f"{name} {amount}" for name, amount in zip(_ITEMS, amounts, strict=True) if amount)
        if lives
        else "dead"
        for amounts, lives in zip(state.inventory.tolist(), alive, strict=True)
    )
    return Drawing(ground, marks, f"daylight {state.daylight:.0%}", holdings)


def image(state: CrafterState) -> npt.NDArray[np.uint8]:
    """Paint the drawing of `draw`, uint8 `(height, width, 3)`."""
    from quorum_base.painting.board import board_image  # noqa: PLC0415 (imaging libraries take long to import)

    return board_image(canvas(state), draw(state))


def mark_creature(kind: Entity, x: int, y: int, turn: Rotation = Rotation.RIGHT) -> Mark:
    """Mark a creature by the first letter of its kind."""
    name = _ENTITIES[kind][0]
    return Mark(_KIND_OF[kind], x, y, label=name[0].upper(), title=name, turn=turn)


def mark_agent(agent: int, x: int, y: int, *, asleep: bool) -> Mark:
    """Mark an agent by its number."""
    return Mark(_ASLEEP if asleep else _AGENT, x, y, label=str(agent), title=f"agent_{agent}", agent=agent)


def primitive_name(primitive: int, agents: int) -> str:
    """Name a primitive of `crafter_env.symbolic.controller`."""
    share = primitive - len(_ACTIONS)
    if share < 0:
        return _ACTIONS[primitive]
    rest, recipient = divmod(share, agents)
    quantity, item = divmod(rest, len(_ITEMS))
    return f"share {quantity} {_ITEMS[item]} with agent_{recipient}"


_UNSEEN = len(KINDS)
_DEPICTED = (*KINDS, MarkKind("unseen", "#2f2f36", "#2f2f36", sign="?"))

LEGEND = (
    "x is numbered above and below, y along both sides, as in actions. Blue discs are agents with their numbers, "
    "striped when asleep. Ground: plain light green is grass, beige with dots path, yellow with stripes sand, "
    "blue with waves water, red with crosses lava, grey with bricks stone, dark with ? unseen; letters on the ground "
    "are T tree, c coal, i iron, d diamond, t table, f furnace. A white box with C is a cow; diamonds are Z zombie and "
    "S skeleton; a wedge is an arrow; a ring is a plant, red and dotted when ripe. Below stand the moment, you with "
    "your needs and your bag, and the creatures in view with their ids."
)
"""Legend of the picture."""


def depict(seen: CrafterObservation, known: ByteArray) -> Depiction:
    """Draw an observation: the map in the agent's memory, and the agents and creatures in view.

    Args:
        seen: the observation.
        known: (W, H) the material last seen in each cell, 0 for unseen cells.
    """
    left, top = seen.map.left, seen.map.top
    width, height = len(seen.map.rows[0]), len(seen.map.rows)
    part = known[left : left + width, top : top + height]
    ground = np.where(part == Material.none, _UNSEEN, GROUND_OF[part])
    marks = {
        f"{entity.kind} {entity.id}": mark_creature(Entity[entity.kind], entity.cell[0] - left, entity.cell[1] - top)
        for entity in seen.entities
    }
    agents = [(mate.agent, mate.cell, mate.sleeping) for mate in seen.teammates]
    if seen.cell is not None and seen.alive:
        agents.append((seen.agent, seen.cell, seen.sleeping))
    for name, (x, y), sleeping in agents:
        marks[name] = mark_agent(int(name.removeprefix("agent_")), x - left, y - top, asleep=sleeping)
    drawing = Drawing(ground.T.astype(np.uint8).tobytes(), marks)
    canvas = Canvas(width, height, _DEPICTED, ruled=True)
    return Depiction(canvas, drawing, left, top, across="x", down="y", lines=tuple(_words(seen)), legend=LEGEND)


def _words(seen: CrafterObservation) -> Iterator[str]:
    yield f"Step {seen.step} of {seen.max_steps}. Score {seen.score:g}. Daylight {seen.daylight:.0%}."
    if seen.cell is None:
        return
    state = ", dead" if not seen.alive else ", asleep" if seen.sleeping else ""
    bag = _amounts(seen.inventory) or "empty"
    yield f"{seen.agent} at {_cell(seen.cell)}{state}. {_amounts(seen.needs)}. Bag: {bag}."
    if seen.entities:
        listed = ", ".join(f"{each.kind} {each.id} at {_cell(each.cell)}" for each in seen.entities)
        yield f"In view: {listed}."
    if seen.last_seen:
        listed = ", ".join(f"{each.agent} at {_cell(each.cell)} in step {each.step}" for each in seen.last_seen)
        yield f"Last seen: {listed}."
    if seen.agents_not_shown:
        yield f"Agents farther off: {seen.agents_not_shown}."


def _amounts(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {units}" for name, units in amounts.items())


def _cell(cell: Cell) -> str:
    return f"[{cell[0]}, {cell[1]}]"
