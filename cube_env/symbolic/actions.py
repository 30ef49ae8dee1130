"""The symbolic actions of CUBE as typed models, and the two vocabularies that choose among them.

Sources: the CUBE page, table of symbolic actions (vocabulary `cube`); EmCoop (arXiv 2603.00349) and its public code
(`emcoop`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeInt, model_validator

from cube_env.constants import Direction, Face
from maeil.actions import SymbolicAction, Vocabulary

BlockId = Annotated[int, Field(ge=0)]
Steps = Annotated[int, Field(ge=1, le=10_000)]
Count = Annotated[int, Field(ge=1, le=10_000, description="agents that must be there, including you")]
Timeout = Annotated[
    int | None,
    Field(ge=1, le=1_000_000, description="steps until it gives up; null: 6 times the side"),
]


class Move(SymbolicAction):
    """Walk `steps` steps; a step that the board does not allow counts, too."""

    phrase: ClassVar[str] = "walk {direction} {steps} step(s)"
    action: Literal["move"] = "move"
    direction: Direction
    steps: Steps = 1


class MoveToBlock(SymbolicAction):
    """Go to a free cell at a face or, if the face is full, to the end of its shortest line."""

    phrase: ClassVar[str] = "go to the {face} face of block {block}"
    action: Literal["move_to_block"] = "move_to_block"
    block: BlockId
    face: Face
    timeout: Timeout = None


class Rendezvous(SymbolicAction):
    """Wait at a face until `count` agents wait there; all of them continue in the same step."""

    phrase: ClassVar[str] = "meet at the {face} face of block {block} until {count} agent(s) wait there"
    action: Literal["rendezvous"] = "rendezvous"
    block: BlockId
    face: Face
    count: Count
    timeout: Timeout = None


class PushBlock(SymbolicAction):
    """Push the block from the face where you stand until it has moved `steps` cells."""

    phrase: ClassVar[str] = "push block {block} by {steps} cell(s)"
    action: Literal["push_block"] = "push_block"
    block: BlockId
    steps: Steps = 1
    timeout: Timeout = None


class YieldBlock(SymbolicAction):
    """Step straight back from a face, `steps` steps."""

    phrase: ClassVar[str] = "step back from the {face} face of block {block}, {steps} step(s)"
    action: Literal["yield_block"] = "yield_block"
    block: BlockId
    face: Face
    steps: Steps = 1


class Idle(SymbolicAction):
    """Do nothing."""

    phrase: ClassVar[str] = "do nothing for {steps} step(s)"
    action: Literal["idle"] = "idle"
    steps: Steps = 1


class WaitAgents(SymbolicAction):
    """Wait until `count` agents are waiting like this or have nothing to do."""

    phrase: ClassVar[str] = "wait until {count} agent(s) wait"
    action: Literal["wait_agents"] = "wait_agents"
    count: Count
    timeout: Timeout = None


class Wait(SymbolicAction):
    """Do nothing."""

    phrase: ClassVar[str] = "wait {steps} step(s)"
    action: Literal["wait"] = "wait"
    steps: Steps = 1


class PushTowards(SymbolicAction):
    """Push towards a block `steps` times; this succeeds if the block moves at least once."""

    phrase: ClassVar[str] = "push towards block {block}, {steps} time(s)"
    action: Literal["push"] = "push"
    block: BlockId
    steps: Steps = 1


class Entity(StrEnum):
    """What an agent can navigate to."""

    agent = "agent"
    block = "block"
    goal = "goal"
    cell = "cell"


class Navigate(SymbolicAction):
    """Take the shortest way to a cell next to an agent, the left face of a block, the goal column or a cell."""

    phrase: ClassVar[str] = "go to {entity}[ {id}][ {cell}]"
    action: Literal["navigate"] = "navigate"
    entity: Entity
    id: Annotated[NonNegativeInt | None, Field(description="index of the agent or id of the block")] = None
    cell: Annotated[tuple[int, int] | None, Field(description="row and column, if the entity is a cell")] = None
    timeout: Timeout = None

    @model_validator(mode="after")
    def _names_one_place(self) -> Navigate:
        needs_id = self.entity in (Entity.agent, Entity.block)
        if needs_id is (self.id is None):
            raise ValueError(f"entity {self.entity} {'needs an id' if needs_id else 'takes no id'}")
        needs_cell = self.entity is Entity.cell
        if needs_cell is (self.cell is None):
            raise ValueError(f"entity {self.entity} {'needs a cell' if needs_cell else 'takes no cell'}")
        return self


CUBE_VOCABULARY = Vocabulary(Move, MoveToBlock, Rendezvous, PushBlock, YieldBlock, Idle, WaitAgents)
EMCOOP_VOCABULARY = Vocabulary(Move, Wait, PushTowards, Navigate)

OnBlock = MoveToBlock | Rendezvous | PushBlock | YieldBlock | PushTowards
"""The actions that name a block in their argument `block`."""
