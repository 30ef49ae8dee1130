"""Controllers that wait: for some steps, or until awake again."""

from __future__ import annotations

from crafter_env.constants import Action, Result
from crafter_env.symbolic.actions import Noop
from crafter_env.symbolic.controller import CrafterController, Reason, RepeatController
from crafter_env.symbolic.episode_state import EpisodeState
from maeil.controllers import SUCCESS, failed
from maeil.world import ActionEnd


class NoopController(RepeatController):
    """Do nothing for some steps; a dead agent does nothing until the end of the episode."""

    def __init__(self, episode: EpisodeState, agent: int, action: Noop) -> None:
        super().__init__(episode, agent, Action.noop, action.steps)
        self._started_dead = not episode.lives(agent)

    def when_dead(self) -> ActionEnd | None:
        """Fail if the agent dies. An action started after its death never ends, because dead agents make no plans."""
        return None if self._started_dead else failed(Reason.dead)

    def way(self) -> None:
        """Return None: an agent that waits goes nowhere."""


class SleepController(CrafterController):
    """Sleep until awake again."""

    def check(self) -> ActionEnd | None:
        """Succeed when awake after some sleep; fail if not tired."""
        self.step = int(Action.sleep)
        if self.ticks == 0:
            return None
        if self.episode.sleeps(self.agent):
            return None
        outcome = self.episode.state.outcome(self.agent)
        return failed(Reason.not_tired) if self.ticks == 1 and outcome.result == Result.not_tired else SUCCESS
