"""What an agent has seen of the open world, for a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from crafter_env.constants import Cell, Entity, Material
from crafter_env.kernels.arrays import ByteArray
from crafter_env.observation import CrafterObservation
from crafter_env.symbolic.picture import GROUND_OF, KINDS, mark_agent, mark_creature
from maeil.drawing import Canvas, Depiction, Drawing, MarkKind

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
"""How the picture is read."""


def depict(seen: CrafterObservation, known: ByteArray) -> Depiction:
    """Draw an observation: what its agent remembers of the map, and who and what is in view.

    Args:
        seen: what is observed.
        known: (W, H) the material that was last seen in each cell, 0 where nothing was.
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
        marks[name] = mark_agent(_index(name), x - left, y - top, asleep=sleeping)
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
        told = ", ".join(f"{each.kind} {each.id} at {_cell(each.cell)}" for each in seen.entities)
        yield f"In view: {told}."
    if seen.last_seen:
        told = ", ".join(f"{each.agent} at {_cell(each.cell)} in step {each.step}" for each in seen.last_seen)
        yield f"Last seen: {told}."
    if seen.agents_not_shown:
        yield f"Agents farther off: {seen.agents_not_shown}."


def _amounts(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {units}" for name, units in amounts.items())


def _cell(cell: Cell) -> str:
    return f"[{cell[0]}, {cell[1]}]"


def _index(name: str) -> int:
    return int(name.removeprefix("agent_"))
