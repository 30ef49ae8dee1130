"""Quorum's episodes in verifiers: a task is a board, an agent is a seat, a branch of its trace is a request."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack, aclosing
from itertools import count
from typing import Self

import verifiers.v1 as vf
from pydantic import Field, model_validator

import quorum
from quorum.train.api import Rollouts
from quorum.train.episodes import Episode
from quorum.train.policy import Completion, Policy, PolicyRequest
from quorum_base.user_errors import UserError


class Board(vf.TaskData):
    """A board, and a seat on it. Its seed is `idx`, its position among all boards."""

    seat: str = ""
    """The participant whose trace this is, such as `agent_0`; empty for the task of the whole team."""
    idle: str = ""
    """The participant that does nothing, in an episode for its difference reward."""


class BoardTask(vf.Task[Board]):
    """The task of a team on a board. `TeamEnv` records its rewards."""


class Boards(vf.Taskset[BoardTask, vf.TasksetConfig]):
    """All boards, in the order of their seeds; choose some by `--select.include.idx 1000:1100`."""

    INFINITE = True

    def load(self) -> Iterator[BoardTask]:
        """Yield a task for each board; verifiers numbers them."""
        return (BoardTask(Board()) for _ in count())


class TeamEnvConfig(vf.EnvConfig):
    """Which team plays, and who is trained."""

    team: str = "env=cube n=2 topology=debate agents=naive prompts=terse"
    """The configuration, as in `quorum run`, without `seed` and `draw`."""
    seats: list[str] = Field(default_factory=list)
    """Participants that ask the model; empty: all that ask one. The others do what `team` says."""
    difference: bool = False
    """Whether a seat's reward is what the team loses without it, which takes another episode for each seat."""
    seat: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The agent that plays each of the seats; it is trained."""
    shadow: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The agent that plays the seats in episodes for difference rewards; it is not trained."""

    def rollouts(self, policy: Policy, boards: Iterable[int]) -> Rollouts:
        """Return the episodes of boards.

        Raises:
            UserError: the configuration is not valid, or a seat asks no model.
        """
        words = shlex.split(self.team)
        return quorum.rollouts(*words, policy=policy, boards=boards, seats=self.seats, difference=self.difference)

    @model_validator(mode="after")
    def _check(self) -> Self:
        try:
            self.rollouts(str, [])
        except UserError as error:
            raise ValueError(error) from None
        return self


class TeamEnv(vf.Env[TeamEnvConfig]):
    """A team of Quorum: each seat is an agent with its own trace and its own reward."""

    async def setup(self, agents: vf.Agents) -> None:
        """Leave the traces of shadow episodes out of the training."""
        agents.shadow.trainable = False

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play one board, and reward each seat.

        Raises:
            RuntimeError: a seat's run ended before the episode did.
        """
        taken: dict[tuple[str, str], vf.Interaction] = {}
        taking = asyncio.Lock()

        async def policy(request: PolicyRequest) -> Completion:
            seat = request.seat, request.idle
            async with taking:
                if seat not in taken:
                    agent = agents.shadow if request.idle else agents.seat
                    own = task.with_data(seat=request.seat, idle=request.idle)
                    taken[seat] = await stack.enter_async_context(agent.interaction(own))
            answer = await taken[seat].turn([dict(message) for message in request.messages])
            if answer.terminated:
                raise RuntimeError(f"{request.seat} gave no answer: {taken[seat].trace.stop_condition}")
            used = taken[seat].trace.calls[-1].usage
            return Completion(
                answer.messages[-1].content or "",
                prompt_tokens=used and used.input_tokens,
                completion_tokens=used and used.completion_tokens,
            )

        rollouts = self.config.rollouts(policy, [task.data.idx])
        async with AsyncExitStack() as stack, aclosing(aiter(rollouts)) as episodes:
            async for episode in episodes:
                for (seat, idle), interaction in taken.items():
                    if not idle:
                        self._reward(interaction.trace, episode, seat)

    def _reward(self, trace: vf.Trace, episode: Episode, seat: str) -> None:
        """Record what a seat has earned."""
        calls, reward = episode.seats[seat].calls, episode.seats[seat].reward
        measured = {"team": reward.team, "difference": reward.difference, "constraints": reward.constraints}
        name = "difference" if self.config.difference else "team"
        trace.record_reward(name, measured.pop(name))
        trace.record_metrics({key: value for key, value in measured.items() if value is not None})
        trace.record_metrics({"steps": episode.steps, "success": episode.outcome == "success"})
        trace.info |= {
            "outcome": episode.outcome,
            "simulated": episode.simulated,
            "per_step": list(reward.per_step),
            "steps": [call.request.step for call in calls],
        }
