"""The symbolic actions of the open world as typed models.

Source: EmCoop (arXiv 2603.00349), MA-Crafter. How each ends: docs/crafter.md, symbolic actions.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from crafter_env.constants import COLLECT, Action, Entity, Item, Material
from maeil.actions import SymbolicAction, Vocabulary

Steps = Annotated[int, Field(ge=1, le=10_000)]
Tries = Annotated[
    int,
    Field(ge=1, le=64, description="tries while too few agents take part"),
]
Id = Annotated[int, Field(ge=0)]


Direction = StrEnum("Direction", "left right up down")
Direction.__doc__ = "A direction on the map."


Resource = StrEnum("Resource", "wood stone coal iron diamond drink food sapling zombie skeleton")
Resource.__doc__ = "What can be collected."


Tool = StrEnum("Tool", "wood_pickaxe stone_pickaxe iron_pickaxe wood_sword stone_sword iron_sword")
Tool.__doc__ = "What can be crafted."


Placeable = StrEnum("Placeable", "stone table furnace plant")
Placeable.__doc__ = "What can be placed."


_VERBS: dict[type[StrEnum], str] = {Direction: "move", Tool: "make", Placeable: "place"}


def primitive_of(thing: Direction | Tool | Placeable) -> Action:
    """Return the primitive that walks in a direction, makes a tool, or places something."""
    return Action[f"{_VERBS[type(thing)]}_{thing.value}"]


Shareable = StrEnum("Shareable", [item.name for item in Item if item is not Item.health])  # type: ignore[misc] # not by hand
Shareable.__doc__ = "What can be given to a teammate."


Target = StrEnum("Target", "cell tree stone coal iron diamond water table furnace agent cow plant zombie skeleton")
Target.__doc__ = "What an agent can navigate to; `cell` is any cell that can be walked on."


MATERIAL_OF: dict[Target, Material] = {t: Material[t.value] for t in Target if t.value in Material.__members__}
"""The targets that are cells of a material."""
MATERIAL_OF_RESOURCE: dict[Resource, Material] = {
    Resource[recipe.item.name]: material for material, recipe in COLLECT.items() if material is not Material.grass
}
"""The resources that are cells of a material."""
CREATURES_OF: dict[str, tuple[Entity, ...]] = {
    "cow": (Entity.cow,),
    "plant": (Entity.plant, Entity.ripe_plant),
    "zombie": (Entity.zombie,),
    "skeleton": (Entity.skeleton,),
    "food": (Entity.cow, Entity.ripe_plant),
}
"""The creatures that each target or resource can refer to."""


class Noop(SymbolicAction):
    """Do nothing."""

    phrase: ClassVar[str] = "do nothing for {steps} step(s)"
    action: Literal["noop"] = "noop"
    steps: Steps = 1


class Move(SymbolicAction):
    """Walk; a step that is blocked only turns."""

    phrase: ClassVar[str] = "walk {direction} {steps} step(s)"
    action: Literal["move"] = "move"
    direction: Direction
    steps: Annotated[int, Field(ge=1, le=64)] = 1


class Collect(SymbolicAction):
    """Collect, drink, eat or fight something within reach."""

    phrase: ClassVar[str] = "collect {resource}[ at {target}]"
    action: Literal["collect"] = "collect"
    resource: Resource
    target: Annotated[int | None, Field(ge=0, description="id; null: the nearest")] = None
    steps: Tries = 3


class Craft(SymbolicAction):
    """Make a tool next to its station."""

    phrase: ClassVar[str] = "make {item}"
    action: Literal["craft"] = "craft"
    item: Tool
    steps: Tries = 3


class Sleep(SymbolicAction):
    """Sleep until your energy is full or something hurts you."""

    phrase: ClassVar[str] = "sleep"
    action: Literal["sleep"] = "sleep"


class Place(SymbolicAction):
    """Place something from your bag on a free cell next to you."""

    phrase: ClassVar[str] = "place {object}"
    action: Literal["place"] = "place"
    object: Placeable


class Share(SymbolicAction):
    """Give a teammate units of an item; you keep what does not fit."""

    phrase: ClassVar[str] = "give agent_{agent} {quantity} {item}"
    action: Literal["share"] = "share"
    agent: Annotated[int, Field(ge=0)]
    item: Shareable
    quantity: Annotated[int, Field(ge=1, le=10_000)] = 1


class Navigate(SymbolicAction):
    """Take the shortest way until the target is within reach, at most 64 steps; then navigate again."""

    phrase: ClassVar[str] = "go to {target} {id}[, near cell {near}]"
    action: Literal["navigate"] = "navigate"
    target: Target
    id: Id
    near: Annotated[
        int | None,
        Field(ge=0, description="cell where the agent says it is; null: where you last saw it"),
    ] = None


VOCABULARY = Vocabulary(Noop, Move, Collect, Craft, Sleep, Place, Share, Navigate)
