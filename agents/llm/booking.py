"""What a call leaves in the trace, and in the ledger of the thought that makes it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from math import fsum
from typing import Any

from maeil.calls import Call, current_ledger
from maeil.errors import EpisodeStop
from quorum.agents.llm.errors import AnswerInvalid, BudgetReached, EmptyAnswer, LanguageModelError, UnknownPrice
from quorum.agents.llm.protocol import Model, Rejected, Reply, Request, Usage
from quorum.agents.llm.records import read_reply


def answered(reply: Reply, *, repairs: int = 0, parse_failure: bool = False, empty: str = "") -> Call:
    """Record a call that was answered; the keys are those that `maeil.metrics.model` reads, and some more.

    A call whose last request got no answer is entered with the answers before it and `unanswered`: `cancelled` under
    way, or `failed`.

    Args:
        reply: the answer.
        repairs: times that the mind itself has asked again by this call.
        parse_failure: whether the answer was not what was asked for.
        empty: why there was no answer at all, of `Finish`; empty where there was one.
    """
    usage = reply.usage
    record: dict[str, Any] = {
        "model": reply.model,
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "cached_tokens": usage.cached,
        "usd": reply.usd,
        "seconds": round(reply.seconds, 6),
        "attempts": reply.attempts,
        "retries": max(reply.attempts - 1 - reply.repairs - reply.widened, 0),
        "repairs": reply.repairs + repairs,
        "finish": reply.finish.value,
        "cache_hit": reply.cache_hit,
        "simulated": reply.simulated,
    }
    if usage.estimated:
        record["usage_estimated"] = True
    if usage.reasoning:
        record["reasoning_tokens"] = usage.reasoning
    if usage.reasoning_estimated:
        record["reasoning_estimated"] = True
    if usage.cache_written:
        record["cache_written_tokens"] = usage.cache_written
    if again := reply.repairs + reply.widened:
        record["answers"] = again + 1
    if reply.widened:
        record["widened"] = reply.widened
    if reply.tier:
        record["tier"] = reply.tier
    if reply.fallback:
        record["fallback"] = reply.fallback
    if reply.not_sent:
        record["not_sent"] = list(reply.not_sent)
    if parse_failure:
        record["parse_failure"] = True
    if empty:
        record["empty_answer"] = empty
    return Call(usage.completion, record, usage.reasoning)


def invalid(error: AnswerInvalid) -> Call:
    """Record a call that gave no valid answer, by the reply that the error holds."""
    reply = read_reply(error.record)
    return answered(reply, empty=error.cause) if isinstance(error, EmptyAnswer) else answered(reply, parse_failure=True)


def together(replies: Sequence[Reply], value: Any = None, rejected: Sequence[Rejected] = (), widened: int = 0) -> Reply:
    """Return the answers of one call as one: tokens, money, time and tries are those of all of them.

    Args:
        replies: the answers, in order, at least one.
        value: the last one as JSON, when it is of the wanted form.
        rejected: those before it, and what was wrong with each.
        widened: how many of the answers came when the same was asked again with more room, as the one before was empty.
    """
    money = [reply.usd for reply in replies]
    known = [usd for usd in money if usd is not None]
    return replace(
        replies[-1],
        value=value,
        usage=Usage(
            prompt=sum(reply.usage.prompt for reply in replies),
            completion=sum(reply.usage.completion for reply in replies),
            cached=sum(reply.usage.cached for reply in replies),
            cache_written=sum(reply.usage.cache_written for reply in replies),
            estimated=any(reply.usage.estimated for reply in replies),
            reasoning=sum(reply.usage.reasoning for reply in replies),
            reasoning_estimated=any(reply.usage.reasoning_estimated for reply in replies),
        ),
        usd=fsum(known) if len(known) == len(money) else None,
        seconds=fsum(reply.seconds for reply in replies),
        attempts=sum(reply.attempts for reply in replies),
        repairs=len(replies) - 1 - widened,
        widened=widened,
        cache_hit=all(reply.cache_hit for reply in replies),
        rejected=tuple(rejected),
        fallback=", ".join(dict.fromkeys(reply.fallback for reply in replies if reply.fallback)),
    )


class Booking:
    """One call in the ledger of its thought, up to date from answer to answer.

    So what was answered is known although asking again fails or is cancelled.
    """

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        """The answers so far."""
        self._widened = 0
        self._unanswered = ""
        self._invalid: AnswerInvalid | None = None
        current_ledger().enter(self)

    @property
    def call(self) -> Call | None:
        """The call as far as it is known; None while nothing was answered, or nobody was asked."""
        if self._invalid is not None:
            return invalid(self._invalid)
        if not self._unanswered:
            return answered(self.whole()) if self.replies else None
        known = answered(self.whole()) if self.replies else Call(0, {})
        return replace(known, record={**known.record, "unanswered": self._unanswered})

    def whole(self, value: Any = None, rejected: Sequence[Rejected] = ()) -> Reply:
        """Return the answers so far as one; see `together`."""
        return together(self.replies, value, rejected, self._widened)

    async def ask(self, model: Model, request: Request, *, wider: bool = False) -> Reply:
        """Ask once, and book what comes of it, whatever that is.

        Args:
            model: the model.
            request: what is asked.
            wider: whether the same is asked again with more room, since the answer was empty.

        Raises:
            quorum.agents.llm.errors.LanguageModelError, maeil.errors.EpisodeStop: as the model does.
        """
        try:
            reply = await model.complete(request)
        except (BudgetReached, UnknownPrice):
            raise  # before anybody was asked
        except AnswerInvalid as error:
            self.fail(error)
            raise
        except asyncio.CancelledError:
            self._unanswered = "cancelled"
            raise
        except (LanguageModelError, EpisodeStop):
            self._unanswered = "failed"
            raise
        self.replies.append(reply)
        self._widened += wider
        return reply

    def fail(self, error: AnswerInvalid) -> None:
        """Book that no answer is of the wanted form."""
        self._invalid = error
