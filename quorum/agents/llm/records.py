"""JSON-ready records of requests, replies and calls for caches, recordings, replays and traces; and replies back."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from math import fsum
from typing import Any

import msgspec
import orjson

from maeil.calls import Call, current_ledger
from maeil.errors import EpisodeStop
from quorum.agents.llm.errors import AnswerInvalid, BudgetReached, EmptyAnswer, LanguageModelError, UnknownPrice
from quorum.agents.llm.paid import paid_with, together
from quorum.agents.llm.protocol import (
    ChatMessage,
    MaxTokensKey,
    Model,
    Rejected,
    Reply,
    Request,
    Sampling,
    Usage,
)

PROMPT_CACHE = "prompt_cache"
"""Name in `Reply.reduced` of all prompt cache settings."""
SUMMARY = "summary of thoughts"
"""Name in `Reply.reduced` of the requested summary of thoughts."""
NO_CHANGE = frozenset({*MaxTokensKey, PROMPT_CACHE, SUMMARY})
"""Names in `Reply.reduced` of what a service can refuse in an ordinary request."""

WALL = "wall"
"""Field of a record for values that may differ between equal runs: times, tries, cache hits."""


def describe_request(request: Request) -> dict[str, Any]:
    """Return a request as a JSON-ready record of exactly what reaches the model."""
    answer = request.answer
    return {
        "messages": [describe_message(message) for message in request.messages],
        "answer": None if answer is None else {"name": answer.name, "schema": answer.schema},
        "sampling": _describe_sampling(request.sampling),
        "sample": request.sample,
        **({"carry": True} if request.carry else {}),
    }


def describe_message(message: ChatMessage) -> dict[str, Any]:
    """Return a message, with descriptions of its pictures and its carried data, if any."""
    pictures = {"pictures": [picture.record for picture in message.pictures]} if message.pictures else {}
    carried = {"carried": list(message.carried)} if message.carried else {}
    return {"role": message.role.value, "content": message.content, **pictures, **carried}


_USAGE = tuple(field.name for field in fields(Usage))
_USAGE_ALWAYS = ("prompt", "completion", "cached")
_SAMPLING = tuple(field.name for field in fields(Sampling))
_SAMPLING_ALWAYS = ("temperature", "max_tokens", "seed")


def _describe_sampling(sampling: Sampling) -> dict[str, Any]:
    """Return the sampling parameters; fields added in later versions are included only if set.

    So requests recorded earlier keep their keys.
    """
    found = ((name, getattr(sampling, name)) for name in _SAMPLING)
    return {name: value for name, value in found if value is not None or name in _SAMPLING_ALWAYS}


def read_sampling(record: Mapping[str, Any]) -> Sampling:
    """Return the sampling parameters of a recorded request.

    Raises:
        ValueError: it is not a record of sampling parameters.
    """
    return msgspec.convert(record, type=Sampling)


def request_key(request: Request, identity: Mapping[str, str] | None = None) -> str:
    """Hash a request, and the model's identity if given.

    Args:
        request: the request; its origin is ignored.
        identity: provider, address, model, and all other provider settings that reach the model.
    """
    return record_key(describe_request(request), identity)


def record_key(record: Mapping[str, Any], identity: Mapping[str, str] | None = None) -> str:
    """Hash the record of a request; equals `request_key` of that request."""
    content = {"request": record, "identity": dict(identity or {})}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def describe_reply(reply: Reply) -> dict[str, Any]:
    """Return a reply as a JSON-ready record; values that may differ between equal runs are under `wall`.

    These include the service's fingerprint, because a new build may give the same answers.
    """
    fingerprint = {"fingerprint": reply.fingerprint} if reply.fingerprint else {}
    return {
        "text": reply.text,
        **({"thinking": reply.thinking} if reply.thinking else {}),
        **({"carried": list(reply.carried)} if reply.carried else {}),
        **({"logprobs": [asdict(token) for token in reply.logprobs]} if reply.logprobs else {}),
        "value": reply.value,
        "finish": reply.finish.value,
        "model": reply.model,
        "usage": _describe_usage(reply.usage),
        "usd": reply.usd,
        "repairs": reply.repairs,
        **{name: value for name in ("widened", "unusable", "form") if (value := getattr(reply, name))},
        **({"reduced": list(reply.reduced)} if reply.reduced else {}),
        "rejected": [{"text": answer.text, "reasons": list(answer.reasons)} for answer in reply.rejected],
        "not_sent": list(reply.not_sent),
        "simulated": reply.simulated,
        **{name: value for name in ("tier", "fallback") if (value := getattr(reply, name))},
        WALL: {"seconds": reply.seconds, "attempts": reply.attempts, "cache_hit": reply.cache_hit, **fingerprint},
    }


def _describe_usage(usage: Usage) -> dict[str, Any]:
    """Return token counts; rare ones (thoughts, tokens written to a cache) only if present."""
    found = ((name, getattr(usage, name)) for name in _USAGE)
    return {name: value for name, value in found if value or name in _USAGE_ALWAYS}


def read_reply(record: Mapping[str, Any]) -> Reply:
    """Read a reply from its record.

    Raises:
        KeyError, TypeError, ValueError: it is not a record of a reply.
    """
    return msgspec.convert({**record, **record[WALL]}, type=Reply)


def answered(reply: Reply, *, repairs: int = 0, parse_failure: bool = False, empty: str = "") -> Call:
    """Record an answered call, with the keys that `maeil.metrics.model` reads and some more.

    If the last request of a call got no answer, the record holds the answers before it and `unanswered`: `cancelled`
    (while under way) or `failed`.

    Args:
        reply: the answer.
        repairs: number of times the mind itself repeated the request with this call.
        parse_failure: whether the answer did not match the request.
        empty: why there was no answer, from `Finish`; empty if there was one.
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
    again = reply.repairs + reply.widened
    otherwise = [name for name in reply.reduced if name not in NO_CHANGE]
    only_if_so = {
        "usage_estimated": usage.estimated,
        "reasoning_tokens": usage.reasoning,
        "reasoning_estimated": usage.reasoning_estimated,
        "cache_written_tokens": usage.cache_written,
        "answers": again and again + 1,
        "widened": reply.widened,
        "unusable": reply.unusable,
        "tier": reply.tier,
        "fallback": reply.fallback,
        "fingerprint": reply.fingerprint,
        "not_sent": list(reply.not_sent),
        "asked_otherwise": otherwise,
        "parse_failure": parse_failure,
        "empty_answer": empty,
    }
    record |= {name: value for name, value in only_if_so.items() if value}
    return Call(usage.completion, record, usage.reasoning)


def invalid(error: AnswerInvalid) -> Call:
    """Record a call without a valid answer."""
    if isinstance(error, EmptyAnswer):
        return answered(error.reply, empty=error.cause)
    return answered(error.reply, parse_failure=True)


class CallEntry:
    """One call in the ledger of its thought, updated after every answer.

    So the answers are known even if a repeated request fails or is cancelled.
    """

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        """The answers so far."""
        self._widened = 0  # answers to repeated requests with a higher token limit
        self._unanswered = ""
        self._invalid: AnswerInvalid | None = None
        current_ledger().enter(self)

    @property
    def call(self) -> Call | None:
        """The call so far; None if there is no answer yet, or no request was made."""
        if self._invalid is not None:
            return invalid(self._invalid)
        if not self._unanswered:
            return answered(self.whole()) if self.replies else None
        known = answered(self.whole()) if self.replies else Call(0, {})
        return replace(known, record={**known.record, "unanswered": self._unanswered})

    def whole(self, value: Any = None, rejected: Sequence[Rejected] = ()) -> Reply:
        """Return the answers so far, at least one, as one reply: tokens, cost, time and tries are totals.

        Args:
            value: the last answer as JSON, if it matches the schema.
            rejected: earlier answers and what was wrong with each.
        """
        replies = self.replies
        return replace(
            together(replies),
            value=value,
            seconds=fsum(reply.seconds for reply in replies),
            attempts=sum(reply.attempts for reply in replies),
            repairs=len(replies) - 1 - self._widened,
            widened=self._widened,
            cache_hit=all(reply.cache_hit for reply in replies),
            reduced=tuple(dict.fromkeys(name for reply in replies for name in reply.reduced)),
            rejected=tuple(rejected),
            fallback=", ".join(dict.fromkeys(reply.fallback for reply in replies if reply.fallback)),
            fingerprint=", ".join(dict.fromkeys(reply.fingerprint for reply in replies if reply.fingerprint)),
        )

    async def ask(self, model: Model, request: Request, *, wider: bool = False) -> Reply:
        """Make one request and record its result, whatever it is.

        Args:
            model: the model.
            request: the request.
            wider: whether this repeats a request with a higher token limit, after an empty answer.

        Raises:
            quorum.agents.llm.errors.LanguageModelError, maeil.errors.EpisodeStop: raised by the model.
        """
        try:
            reply = await model.complete(request)
        except (BudgetReached, UnknownPrice):
            raise  # before any request was made
        except AnswerInvalid as error:
            self.fail(error)
            raise
        except (asyncio.CancelledError, LanguageModelError, EpisodeStop) as error:
            self._unanswered = "cancelled" if isinstance(error, asyncio.CancelledError) else "failed"
            if (paid := paid_with(error)) is not None:
                self.replies.append(paid)
            raise
        self.replies.append(reply)
        self._widened += wider
        return reply

    def fail(self, error: AnswerInvalid) -> None:
        """Record that no answer matches the schema."""
        self._invalid = error
