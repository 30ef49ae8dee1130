"""The policy that a trainer trains: its requests and answers, and how it replaces the models of its seats."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

from quorum.agents.llm.cache import Cache
from quorum.agents.llm.limits import CallLimits
from quorum.agents.llm.protocol import Finish, Model, Origin, Reply, Request
from quorum.agents.llm.providers.usage import counted_usage
from quorum.configuration.providers.config import ProviderConfig
from quorum.episode.model_pool import Client, ModelPool
from quorum_base.user_errors import UserError

NAME = "policy"
"""Name of the model in the trace."""


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """A request to the policy.

    Attributes:
        messages: the prompt, each message with `role` (`system`, `user`, `assistant`) and `content`, as chat templates
            take it.
        schema: JSON schema of the answer; None for free text.
        seat: the participant that asks, such as `agent_0`.
        board: seed of the board.
        draw: number of the episode among those of its board.
        step: environment step, from 0.
        turn: kinds of the turn, such as `plan` and `talk`; empty if unknown.
        role: role of the call, if the participant's method has several; else empty.
        max_tokens: longest answer, in tokens (`llm.max_tokens`).
        idle: the seat that does nothing in an episode played for `Reward.difference`; empty in all others.
    """

    messages: Sequence[Mapping[str, str]]
    schema: Mapping[str, Any] | None
    seat: str
    board: int
    draw: int
    step: int
    turn: Sequence[str]
    role: str
    max_tokens: int
    idle: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer of the policy.

    Attributes:
        text: the answer as written.
        attached: anything to get back in `Call.attached`, such as token ids and log-probabilities.
        prompt_tokens: length of the prompt; None: estimated from its characters.
        completion_tokens: length of the answer, by which the cognitive clock counts; None: estimated likewise.
        finish: why the answer ends; `Finish.LENGTH` if it was cut off.
    """

    text: str
    attached: Any = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish: Finish = Finish.STOP


Policy = Callable[[PolicyRequest], str | Completion | Awaitable[str | Completion]]
"""Answers requests. A plain function answers one at a time; an asynchronous one can answer many at once."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the policy.

    Attributes:
        request: the request.
        text: the answer as written.
        attached: what the policy attached; None for an endpoint.
    """

    request: PolicyRequest
    text: str
    attached: Any = None


@dataclass(frozen=True, slots=True)
class Hearing:
    """Where an episode asks the policy, and collects its calls.

    Attributes:
        policy: the policy; None: the configured model of each seat, an endpoint, is the policy.
        calls: the calls of each seat so far, in order.
        board: seed of the board.
        draw: number of the episode among those of its board.
        idle: the seat that does nothing; empty for none.
    """

    policy: Policy | None
    calls: Mapping[str, list[Call]]
    board: int
    draw: int
    idle: str = ""


@dataclass(frozen=True, slots=True)
class _SeatModel:
    """A model that passes the calls of the seats on to the policy, and those of others to the configured model."""

    configured: Model
    hearing: Hearing

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            UserError: the policy returned something else than an answer.
            Exception: any error of the policy.
        """
        origin = request.origin or Origin("", 0)
        calls = self.hearing.calls.get(origin.agent)
        if calls is None:
            return await self.configured.complete(request)
        asked = self._asked(request, origin)
        if self.hearing.policy is None:
            reply = await self.configured.complete(request)
            calls.append(Call(asked, reply.text))
            return reply
        begin = time.perf_counter()
        answer = self.hearing.policy(asked)
        answer = await answer if isawaitable(answer) else answer
        seconds = time.perf_counter() - begin
        answer = Completion(answer) if isinstance(answer, str) else answer
        if not isinstance(answer, Completion) or not isinstance(answer.text, str):
            raise UserError(
                f"policy: it returned {answer!r:.100} of type {type(answer).__name__} for {asked.seat}",
                "Return the text of the answer, or quorum.Completion(text, attached=...).",
            )
        calls.append(Call(asked, answer.text, answer.attached))
        usage = counted_usage(
            answer.prompt_tokens, answer.completion_tokens, None, None, request=request, text=answer.text
        )
        return Reply(answer.text, answer.finish, usage, 0.0, seconds, NAME)

    def _asked(self, request: Request, origin: Origin) -> PolicyRequest:
        if any(message.pictures for message in request.messages):
            raise UserError(f"policy: the prompts of {origin.agent} have pictures", "Choose prompts without pictures.")
        hearing = self.hearing
        return PolicyRequest(
            messages=tuple({"role": str(one.role), "content": one.content} for one in request.messages),
            schema=request.answer.schema if request.answer is not None else None,
            seat=origin.agent,
            board=hearing.board,
            draw=hearing.draw,
            step=origin.t,
            turn=origin.turn,
            role=origin.role,
            max_tokens=request.sampling.max_tokens,
            idle=hearing.idle,
        )


class SeatPool(ModelPool):
    """The models of one episode: the policy for the seats, and for others the models of a pool that episodes share.

    No answer comes from the cache on disk, or enters it: the policy changes, and each draw is a new sample.

    Args:
        pool: the shared pool.
        hearing: asks the policy.
    """

    def __init__(self, pool: ModelPool, hearing: Hearing) -> None:
        super().__init__(under_way=pool.under_way)
        self._pool = pool
        self._hearing = hearing

    def client(self, config: ProviderConfig) -> Client:
        """Return the shared client of a configuration."""
        return self._pool.client(config)

    def model(self, client: Client, cell: str = "") -> Model:
        """Return a client's model, which asks the policy in calls of a seat."""
        return _SeatModel(self._pool.model(client, cell), self._hearing)

    def limits(self, client: Client) -> CallLimits:
        """Return the shared limits of a client."""
        return self._pool.limits(client)

    def cache(self, config: ProviderConfig) -> Cache | None:  # noqa: ARG002
        """Return no cache."""
        return None
