"""The symbolic actions of grid transportation: the paper's `move`, and waiting."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

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
        description='"square[0.5, 1.5]", "position[1.0, 0.0]" or "target_green"',
    ),
]


class Move(SymbolicAction):
    """Bring a box that you can reach to a place that you can reach, in one step."""

    phrase: ClassVar[str] = "bring {box} to {to}"
    action: Literal["move"] = "move"
    box: BoxName
    to: Destination


class Wait(SymbolicAction):
    """Do nothing for `steps` steps."""

    phrase: ClassVar[str] = "wait {steps} step(s)"
    action: Literal["wait"] = "wait"
    steps: Annotated[int, Field(ge=1, le=1000)] = 1


VOCABULARY = Vocabulary(Move, Wait)
