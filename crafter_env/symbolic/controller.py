"""Base of all controllers: ticks, death, and the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from crafter_env.constants import DISPLACEMENT, Action, Cell, Item
from crafter_env.kernels.grid import NO_CELL
from crafter_env.symbolic.episode_state import EpisodeState
from maeil.controllers import SUCCESS, failed
from maeil.world import ActionEnd
from quorum_base.drawing import Way


class Reason(StrEnum):
    """Reason of a failure; the comment lists the values that follow it."""

    another_is_nearer = "another_is_nearer"  # id of the cell that `do` would act on instead
    asleep = "asleep"
    dead = "dead"
    gone = "gone"  # previous content; current content
    missing_input = "missing_input"  # item, units held `of` units needed
    missing_tool = "missing_tool"  # item
    no_luck = "no_luck"  # tries
    no_path = "no_path"  # target, id
    no_place = "no_place"  # object
    no_station = "no_station"  # table or furnace
    no_such_agent = "no_such_agent"  # index
    not_as_told = "not_as_told"  # name in the plan (`iron_2081`), `found`, actual content (`nobody` for a teammate)
    not_held = "not_held"  # item
    not_in_profile = "not_in_profile"  # feature missing from the profile
    not_reached = "not_reached"  # steps taken
    not_ripe = "not_ripe"
    not_shareable = "not_shareable"  # item
    not_tired = "not_tired"
    nothing_in_reach = "nothing_in_reach"  # resource
    out_of_reach = "out_of_reach"  # cells to the target `of` cells allowed
    out_of_sight = "out_of_sight"  # target, id
    recipient_dead = "recipient_dead"  # index
    recipient_far = "recipient_far"  # cells between `of` cells allowed
    recipient_full = "recipient_full"  # index
    team_too_small = "team_too_small"  # agents alive `of` agents needed
    too_few_agents = "too_few_agents"  # capable agents `of` agents needed
    unknown_id = "unknown_id"  # target, id


_PLAIN = len(Action)
_ITEMS = len(Item)


def encode_share(recipient: int, item: Item, quantity: int, agents: int) -> int:
    """Write a share as one integer."""
    return _PLAIN + (quantity * _ITEMS + item) * agents + recipient


def decode(joint: Sequence[int], *, sharing: bool) -> npt.NDArray[np.int64]:
    """Read a joint action.

    Args:
        joint: one integer for each of n agents.
        sharing: whether the environment accepts the numbers of a share.

    Returns:
        Integers, shape (n, 4) with sharing and (n,) without.
    """
    if not sharing:
        return np.array(joint, dtype=np.int64)
    agents = len(joint)
    actions = np.zeros((agents, 4), dtype=np.int64)
    if max(joint) < _PLAIN:
        actions[:, 0] = joint
        return actions
    for agent, code in enumerate(joint):
        if code < _PLAIN:
            actions[agent, 0] = code
        else:
            rest, recipient = divmod(code - _PLAIN, agents)
            quantity, item = divmod(rest, _ITEMS)
            actions[agent] = Action.share, recipient, item, quantity
    return actions


NOOP: Final = int(Action.noop)
DO: Final = int(Action.do)


class CrafterController(ABC):
    """Base of the controllers of the open world; they implement `maeil.world.Controller`.

    The result of `check` depends on the state and the agent's own ticks, so it runs once per state.

    Args:
        episode: state shared by the controllers of the episode.
        agent: index of the agent.
    """

    def __init__(self, episode: EpisodeState, agent: int) -> None:
        self.episode = episode
        self.agent = agent
        self.ticks = 0
        self.step = NOOP
        """The primitive for the coming step; `check` sets it while the action runs."""
        self._end: ActionEnd | None = None
        self._checked_at = -1

    def status(self) -> ActionEnd | None:
        """Return the end of the action in the current state; None while it runs."""
        if self._checked_at != self.episode.version:
            self._checked_at = self.episode.version
            self._end = self.check() if self.episode.lives(self.agent) else self.when_dead()
        return self._end

    def act(self) -> int:
        """Return the primitive for the coming step."""
        self.ticks += 1
        return self.step

    def close(self) -> None:
        """Release shared resources."""
        self.episode.named[self.agent] = NO_CELL

    def way(self) -> Way | None:
        """Return the action's path for pictures (`quorum_base.drawing.ShowsWays`); no path by default."""
        return None

    def way_over(self, cells: Sequence[Cell], target: Cell | None = None) -> Way:
        """Return the way over cells to a target, by default the last cell."""
        start = self.episode.cell_of(self.agent)
        x, y = target or (cells[-1] if cells else start)
        return Way(tuple((u + 0.5, v + 0.5) for u, v in (start, *cells)), (x, y, 1, 1))

    @abstractmethod
    def check(self) -> ActionEnd | None:
        """Return success or failure; if the action goes on, set the primitive of the coming step and return None."""

    def when_dead(self) -> ActionEnd | None:
        """Return the end of a dead agent's action."""
        return failed(Reason.dead)


class RepeatController(CrafterController):
    """Repeat one primitive for some steps, whether the map allows it or not."""

    def __init__(self, episode: EpisodeState, agent: int, primitive: Action, steps: int) -> None:
        super().__init__(episode, agent)
        self.step = int(primitive)
        self._steps = steps

    def check(self) -> ActionEnd | None:
        """Run until the steps are over."""
        return SUCCESS if self.ticks >= self._steps else None

    def way(self) -> Way | None:
        """Return the way straight on, as far as it is free."""
        right, down = DISPLACEMENT[Action(self.step)]
        cells = [self.episode.cell_of(self.agent)]
        while len(cells) <= self._steps - self.ticks:
            there = cells[-1][0] + right, cells[-1][1] + down
            if not self.episode.is_free(there):
                break
            cells.append(there)
        return self.way_over(cells[1:]) if len(cells) > 1 else None
