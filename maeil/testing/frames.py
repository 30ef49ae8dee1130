"""How a world looks: what two equal states have in common."""

from __future__ import annotations

from maeil.drawing import Drawable
from maeil.testing import answers
from maeil.testing.contract import Contract
from maeil.world import World

Record = list[tuple[str, str]]
"""What was asked and what came back, in order."""


def frame(contract: Contract, world: World, t: int) -> Record:
    """Return how the world looks to people."""
    text = world.ansi()
    contract.require(isinstance(text, str) and text != "", "ansi() draws the world as text", text)
    seen = [("progress()", contract.json(world.progress(), "progress()")), ("ansi()", text)]
    if isinstance(world, Drawable):
        canvas = world.canvas()
        seen.append(("canvas()", contract.json(canvas, "canvas()")))
        seen.append(("draw()", answers.check_drawing(contract, canvas, world.draw(), len(world.agents))))
    return [(f"step {t}: {what}", value) for what, value in seen]
