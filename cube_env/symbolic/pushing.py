"""Controllers that push a block, for a number of cells or a number of ticks."""

from __future__ import annotations

from cube_env.constants import DISPLACEMENT, PUSH_DIRECTION, Action, PushOutcome
from cube_env.symbolic.actions import PushBlock, PushTowards
from cube_env.symbolic.controller import BLOCK_GONE, STAY, CubeController
from cube_env.symbolic.episode_state import NO_BLOCK, EpisodeState
from cube_env.symbolic.waiting import not_aligned
from maeil.controllers import SUCCESS, failed
from maeil.world import ActionEnd
from quorum_base.drawing import Way

_MOVED = PushOutcome.moved, PushOutcome.delivered


class PushBlockController(CubeController):
    """Push a block away from the face that the agent is aligned with, counting the cells that the block has moved."""

    def __init__(self, episode: EpisodeState, agent: int, action: PushBlock) -> None:
        super().__init__(episode, agent, action, action.timeout)
        self._block = action.block
        self._steps = action.steps
        self._moved = 0
        self._pushed_to = episode.pushed_to(action.block)
        face = episode.face_of(agent, action.block)
        self._not_aligned = not_aligned((action.block, face or episode.aimed_face(agent, action.block)))
        if face is not None:
            self.step = int(PUSH_DIRECTION[face])
            episode.aim(agent, (action.block, face))
            episode.pushing[agent] = action.block

    def check(self) -> ActionEnd | None:
        """End when the block has moved far enough or is delivered; fail if the agent is not aligned."""
        if not self.episode.is_live(self._block):
            return SUCCESS if self.ticks and not self.episode.was_removed(self._block) else BLOCK_GONE
        if self.step == STAY:
            return self._not_aligned
        cell = self.episode.pushed_to(self._block)
        if cell != self._pushed_to:
            self._pushed_to = cell
            self._moved += 1
        if self._moved >= self._steps:
            return SUCCESS
        return None if self.episode.places[self.agent] >= 0 else self._not_aligned

    def way(self) -> Way:
        """Return the way with the block: the cells it must still move, up to the edge of the board."""
        row, col, weight, _ = self.episode.blocks[self._block]
        down, right = DISPLACEMENT[Action(self.step)]
        last = self.episode.state.side - weight
        room = last - row if down > 0 else row if down else last - col if right > 0 else col
        start = self.episode.cell_of(self.agent)
        cells = [
            (start[0] + k * down, start[1] + k * right) for k in range(1, min(self._steps - self._moved, room) + 1)
        ]
        return self.way_over(cells, self.episode.square_of(self._block))

    def progress(self) -> str:
        """Return how far the block has moved."""
        return f"moved_too_little {self._moved} of {self._steps}"

    def let_go(self) -> None:
        """Stop pushing."""
        self.episode.pushing[self.agent] = NO_BLOCK


class PushController(CubeController):
    """Push towards a block's centre for some ticks (EmCoop); succeed if one of them moved the block."""

    def __init__(self, episode: EpisodeState, agent: int, action: PushTowards) -> None:
        super().__init__(episode, agent, action, action.steps)
        self._block = action.block
        self._moved = False
        self._failure = ""
        episode.pushing[agent] = action.block

    def check(self) -> ActionEnd | None:
        """Process the result of the last tick; end early if the block is delivered."""
        if self.ticks:
            self._judge()
        if not self.episode.is_live(self._block):
            return SUCCESS if self._moved else BLOCK_GONE
        self.step = self._towards()
        return None

    def out_of_time(self) -> ActionEnd:
        """Succeed if a tick moved the block, else fail for the reason of the last tick."""
        return SUCCESS if self._moved else failed(self._failure)

    def way(self) -> Way:
        """Return the way to the block."""
        return self.way_over((), self.episode.square_of(self._block))

    def _judge(self) -> None:
        attempt = self.episode.attempt_of(self.agent)
        if attempt is None:
            self._failure = "no_contact"
        elif attempt.outcome in _MOVED and self.episode.was_displaced(self._block):
            self._moved = True
        elif attempt.block != self._block:
            self._failure = f"pushed_another_block {attempt.block}"
        elif attempt.outcome == PushOutcome.force:
            self._failure = f"insufficient_force {attempt.force} of {attempt.required}"
        else:
            self._failure = f"blocked_destination {attempt.outcome.name}"

    def _towards(self) -> int:
        """Return the primitive along the longer axis to the block's centre, horizontal if both are equal."""
        top, left, weight, _ = self.episode.blocks[self._block]
        row, col = self.episode.cell_of(self.agent)
        # Twice the distances, so that the centre of a block of even weight is an integer.
        down, right = 2 * top + weight - 1 - 2 * row, 2 * left + weight - 1 - 2 * col
        if abs(right) >= abs(down):
            return int(Action.RIGHT if right > 0 else Action.LEFT)
        return int(Action.DOWN if down > 0 else Action.UP)

    def let_go(self) -> None:
        """Stop pushing."""
        self.episode.pushing[self.agent] = NO_BLOCK
