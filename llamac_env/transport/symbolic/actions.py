"""The symbolic actions of grid transportation: the paper's `move`, and waiting."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from maeil.actions import SymbolicAction, Vocabulary


class BoxName(StrEnum):
    """The boxes, by colour: those of one colour cannot be told apart."""

    box_blue = "box_blue"
    box_red = "box_red"
    box_green = "box_green"
    box_purple = "box_purple"
    box_orange = "box_orange"


Destination = Annotated[
    str,
    Field(
        pattern=r"^(target_[a-z]+|(square|position)[\[\(] *\d+(\.\d+)? *, *\d+(\.\d+)? *[\]\)])$",
        description='"target_<colour>" to put it on the target in your cell, '
        'or "square[0.5, 1.5]" (a neighbour cell), or "position[1.0, 0.0]" (a corner of your cell)',
    ),
]


class Move(SymbolicAction):
    """Bring a box that you can reach to one of your places, or put it on the target in your cell; takes one step."""

    action: Literal["move"] = "move"
    box: Annotated[BoxName, Field(description="a box in your cell or on a corner of it")]
    to: Destination


class Wait(SymbolicAction):
    """Do nothing for `steps` steps."""

    action: Literal["wait"] = "wait"
    steps: Annotated[int, Field(ge=1, le=1000, description="number of steps")] = 1


VOCABULARY = Vocabulary(Move, Wait)
