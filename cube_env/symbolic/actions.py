"""The symbolic actions of CUBE as typed models (CUBE page, table of actions)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cube_env.constants import Face
from maeil.actions import SymbolicAction, Vocabulary

BlockId = Annotated[int, Field(ge=0, description="id of a block")]
Steps = Annotated[int, Field(ge=1, le=10_000, description="number of steps")]
Timeout = Annotated[
    int | None,
    Field(ge=1, le=1_000_000, description="steps until the action gives up; left out: 6 times the grid's side"),
]


class MoveToBlock(SymbolicAction):
    """Go by the shortest path to a free cell of a block's face, or to the end of its shortest agent line when full."""

    action: Literal["move_to_block"] = "move_to_block"
    block: BlockId
    face: Face
    timeout: Timeout = None


class Rendezvous(SymbolicAction):
    """Wait at a block's face until `count` agents wait there; then all of them go on in the same step."""

    action: Literal["rendezvous"] = "rendezvous"
    block: BlockId
    face: Face
    count: Annotated[int, Field(ge=1, description="agents that must be there")]
    timeout: Timeout = None


class PushBlock(SymbolicAction):
    """Push a block away from the face at which the agent stands, until the block has moved `steps` cells."""

    action: Literal["push_block"] = "push_block"
    block: BlockId
    steps: Steps = 1
    timeout: Timeout = None


class Idle(SymbolicAction):
    """Do nothing for some steps."""

    action: Literal["idle"] = "idle"
    steps: Steps = 1


CUBE_VOCABULARY = Vocabulary(MoveToBlock, Rendezvous, PushBlock, Idle)
