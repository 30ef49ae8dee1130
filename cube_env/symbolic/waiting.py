"""Controllers that wait for other agents, at a face of a block or anywhere."""

from __future__ import annotations

from dataclasses import replace

from cube_env.symbolic.actions import Rendezvous, WaitAgents
from cube_env.symbolic.controller import BLOCK_GONE, NOT_ALIGNED, CubeController
from cube_env.symbolic.episode_state import EpisodeState, FaceKey, Meeting
from cube_env.symbolic.tasks import push_task
from maeil.controllers import SUCCESS
from maeil.world import ActionEnd
from quorum_base.drawing import Way


def not_aligned(key: FaceKey) -> ActionEnd:
    """Return the end of an action at a face that its agent is not aligned with: a push from the wrong place."""
    return replace(NOT_ALIGNED, unmet=push_task(*key))


class SharedController(CubeController):
    """A controller whose end depends on other agents' actions in the same state, so its status is never cached."""

    def status(self) -> ActionEnd | None:
        """Return the end of the action in the current state; None while it runs."""
        self._checked_at = -1
        return super().status()


class RendezvousController(SharedController):
    """Wait at a face until enough agents wait there; all of them are released in the same tick."""

    def __init__(self, episode: EpisodeState, agent: int, action: Rendezvous) -> None:
        super().__init__(episode, agent, action, action.timeout)
        self._key: FaceKey = action.block, action.face
        self._count = action.count
        self._meeting = episode.meetings.setdefault(self._key, Meeting())
        if episode.aim(agent, self._key) >= 0:
            self._meeting.join(agent, action.count)

    def check(self) -> ActionEnd | None:
        """End when released; fail if the agent is not aligned, or no longer."""
        if not self.episode.is_live(self._key[0]):
            return BLOCK_GONE
        if self.agent in self._meeting.released:
            return SUCCESS
        if self.episode.places[self.agent] < 0:
            self._meeting.leave(self.agent)
            return not_aligned(self._key)
        self._meeting.release()
        return SUCCESS if self.agent in self._meeting.released else None

    def way(self) -> Way:
        """Return the way at the block, where the agent already is."""
        return self.way_over((), self.episode.square_of(self._key[0]))

    def progress(self) -> str:
        """Return how many agents came."""
        return f"too_few_agents {len(self._meeting.waiting)} of {self._count}"

    def out_of_time(self) -> ActionEnd:
        """End an unsuccessful wait, which is an attempt to push from there."""
        return replace(super().out_of_time(), unmet=push_task(*self._key))

    def let_go(self) -> None:
        """Leave the meeting; the last one clears the place."""
        self._meeting.leave(self.agent)
        if not self._meeting.waiting and self.episode.meetings.get(self._key) is self._meeting:
            del self.episode.meetings[self._key]


class WaitAgentsController(SharedController):
    """Wait until enough agents wait for the team or are idle; all waiting agents are released together."""

    def __init__(self, episode: EpisodeState, agent: int, action: WaitAgents) -> None:
        super().__init__(episode, agent, action, action.timeout)
        self._count = action.count
        self._free = 0
        self._asked_at = episode.roster.moment
        episode.waiting.join(agent, action.count)

    def check(self) -> ActionEnd | None:
        """End when released."""
        waiting, roster = self.episode.waiting, self.episode.roster
        self._free = roster.free(self.agent, self._asked_at)
        self._asked_at = roster.moment
        waiting.release(self._free)
        return SUCCESS if self.agent in waiting.released else None

    def progress(self) -> str:
        """Return how many agents were free."""
        return f"too_few_agents {len(self.episode.waiting.waiting) + self._free} of {self._count}"

    def let_go(self) -> None:
        """Stop waiting."""
        self.episode.waiting.leave(self.agent)
