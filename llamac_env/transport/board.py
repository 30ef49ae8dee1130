"""A state of grid transportation, its joint actions, and the moves available to an agent.

A step is simultaneous: all actions refer to the state before it. So the order of the agents in a joint action does not
    matter (in HMAS-2's public code it does; see section 2 of the rules).

Boards are drawn from a random stream by the rules of BoxNet1 (easy) and BoxNet2 (hard).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from llamac_env.transport.grid import Colour, Difficulty, EntryRule, FailureCode, Grid, Place
from quorum_base.environments.errors import LayoutError


class Item(NamedTuple):
    """A box or a target."""

    colour: Colour
    place: Place


class BoxMove(NamedTuple):
    """An agent's action in a step: move a box of a colour to a place; its own cell stands for the target in it."""

    colour: Colour
    to: Place


@dataclass(frozen=True, slots=True)
class Board:
    """A state; boxes of one colour are interchangeable, and so are targets.

    Attributes:
        grid: the cells and the rules.
        boxes: boxes not yet placed, sorted.
        targets: targets still free, sorted.

    Raises:
        LayoutError: a box or target is in an invalid place, the colours do not match, or two boxes share a corner.
    """

    grid: Grid
    boxes: tuple[Item, ...]
    targets: tuple[Item, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "boxes", tuple(sorted(self.boxes)))
        object.__setattr__(self, "targets", tuple(sorted(self.targets)))

    def check(self) -> Board:
        """Return the board itself if an episode can start with it.

        Raises:
            LayoutError: it is not a valid start; the message gives the reason.
        """
        for what, items, places in (
            ("box", self.boxes, frozenset(self.grid.box_places)),
            ("target", self.targets, frozenset(self.grid.cells)),
        ):
            for item in items:
                if item.place not in places:
                    row, col = item.place
                    raise LayoutError(f"{what}_{item.colour} at {row / 2}, {col / 2}: the grid has no such place")
        boxes, targets = (Counter(item.colour for item in items) for items in (self.boxes, self.targets))
        for colour in Colour:
            if boxes[colour] != targets[colour]:
                raise LayoutError(f"{colour}: {boxes[colour]} boxes and {targets[colour]} targets: each box needs one")
            if self.grid.is_hard and boxes[colour] > 1:
                raise LayoutError(f"{colour}: {boxes[colour]} boxes: a hard board has at most one of each colour")
        if taken := self.collisions():
            row, col = taken[0]
            raise LayoutError(f"corner {row / 2}, {col / 2}: two boxes are on it")
        return self

    def box_at(self, agent: int, colour: Colour) -> Place | None:
        """Return the place of a box of a colour within an agent's reach; None if there is none."""
        reach = self.grid.reach[agent]
        return next((box.place for box in self.boxes if box.colour == colour and box.place in reach), None)

    def refusal(self, agent: int, move: BoxMove) -> FailureCode | None:
        """Return the reason why an agent cannot make a move in this state; None if it can."""
        source = self.box_at(agent, move.colour)
        if source is None:
            has_any = any(box.colour == move.colour for box in self.boxes)
            return FailureCode.box_not_here if has_any else FailureCode.no_such_box
        if move.to not in self.grid.slots[agent]:
            return FailureCode.out_of_reach
        if move.to == self.grid.cells[agent]:
            return None if Item(move.colour, move.to) in self.targets else FailureCode.no_target
        if move.to == source:
            return FailureCode.already_there
        if self.grid.is_hard and self.grid.entry_rule is EntryRule.start_empty:
            return FailureCode.corner_taken if any(box.place == move.to for box in self.boxes) else None
        return None

    def available(self, agent: int) -> tuple[BoxMove, ...]:
        """Return the moves that an agent can make in this state, by colour, then in the order of its places."""
        reach = self.grid.reach[agent]
        colours = dict.fromkeys(box.colour for box in self.boxes if box.place in reach)
        moves = (BoxMove(colour, to) for colour in colours for to in self.grid.slots[agent] if to is not None)
        return tuple(move for move in moves if self.refusal(agent, move) is None)

    def after(self, joint: Mapping[int, BoxMove]) -> Step:
        """Take a step.

        Args:
            joint: moves by agent; missing agents do nothing.
        """
        failed = {agent: code for agent, move in joint.items() if (code := self.refusal(agent, move)) is not None}
        moves = {agent: move for agent, move in joint.items() if agent not in failed}
        if self.grid.is_hard:  # on hard boards up to four agents can reach a box, on easy ones only one
            named = Counter(move.colour for move in moves.values())
            failed |= {agent: FailureCode.conflict for agent, move in moves.items() if named[move.colour] > 1}
            moves = {agent: move for agent, move in moves.items() if agent not in failed}
        boxes, targets, placed = list(self.boxes), list(self.targets), []
        for agent, move in sorted(moves.items()):
            source = self.box_at(agent, move.colour)
            assert source is not None
            boxes.remove(Item(move.colour, source))
            if move.to == self.grid.cells[agent]:
                targets.remove(Item(*move))
                placed.append(agent)
            else:
                boxes.append(Item(*move))
        board = replace(self, boxes=tuple(boxes), targets=tuple(targets))
        return Step(board, tuple(sorted(moves)), tuple(placed), dict(sorted(failed.items())), board.collisions())

    def collisions(self) -> tuple[Place, ...]:
        """Return the corners with more than one box."""
        if self.grid.difficulty is Difficulty.easy:
            return ()
        return tuple(sorted(place for place, boxes in Counter(box.place for box in self.boxes).items() if boxes > 1))


@dataclass(frozen=True, slots=True)
class Step:
    """Result of a step.

    Attributes:
        board: the state after the step.
        moved: agents whose move was made, ascending.
        placed: those among them that placed a box.
        failed: agents whose move was not made, with the reason.
        collisions: corners with more than one box after the step; these fail the episode.
    """

    board: Board
    moved: tuple[int, ...]
    placed: tuple[int, ...]
    failed: Mapping[int, FailureCode]
    collisions: tuple[Place, ...]


JointMove = Mapping[int, BoxMove]
"""Moves by agent; missing agents do nothing."""

JointPlan = tuple[JointMove, ...]
"""A sequence of joint moves, one per step."""


class Broken(ValueError):
    """A plan that cannot be carried out completely."""


def replay(board: Board, plan: Sequence[JointMove]) -> Board:
    """Carry out a plan and check it.

    Returns:
        The board after its last step.

    Raises:
        Broken: a move is refused or fails, or boxes collide; the message names the step.
    """
    for number, joint in enumerate(plan):
        step = board.after(joint)
        if step.failed or step.collisions:
            raise Broken(f"step {number}: {dict(step.failed)} failed, collisions at {step.collisions}")
        board = step.board
    return board


def achieves(board: Board, plan: Sequence[JointMove]) -> bool:
    """Whether a plan places every box, the last one in its last step, and nothing in it fails."""
    try:
        return not replay(board, plan).boxes and (not plan or bool(replay(board, plan[:-1]).boxes))
    except Broken:
        return False


MOST_OF_A_COLOUR = 3
"""Maximum number of boxes of a colour on an easy board."""


def board_generator(seed: int | None) -> np.random.Generator:
    """Return the stream from which a seed's board is drawn; None: a stream with a random start."""
    return np.random.Generator(np.random.PCG64(seed))


def draw_board(grid: Grid, generator: np.random.Generator) -> Board:
    """Draw a board.

    Easy: for each colour, 1 to 3 boxes and as many targets, each in a cell drawn separately. Hard: for each colour, a
    box on the first free corner, in random order, of a random cell, and a target in a random cell; if the four corners
    are taken, the colour is left out. All draws are uniform.
    """
    boxes: list[Item] = []
    targets: list[Item] = []
    for colour in Colour:
        if not grid.is_hard:
            for _ in range(int(generator.integers(1, MOST_OF_A_COLOUR + 1))):
                box, target = generator.integers(grid.agents, size=2).tolist()
                boxes.append(Item(colour, grid.cells[box]))
                targets.append(Item(colour, grid.cells[target]))
            continue
        corners = grid.reach[int(generator.integers(grid.agents))]
        taken = {box.place for box in boxes}
        free = [corners[i] for i in generator.permutation(len(corners)).tolist() if corners[i] not in taken]
        target = int(generator.integers(grid.agents))
        if free:
            boxes.append(Item(colour, free[0]))
            targets.append(Item(colour, grid.cells[target]))
    return Board(grid, tuple(boxes), tuple(targets))
