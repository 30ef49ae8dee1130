"""How a mind calls a language model: the requests that it makes, and what a call leaves in the trace."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from maeil.calls import Call
from maeil.mind import View
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, Origin, Reply, Request, Sampling
from quorum.agents.llm.records import read_reply

UNSET = Sampling(temperature=None, max_tokens=4096)
"""What a mind asks of the sampling: nothing. The stack of a model puts the configured values in its place."""


class RequestCounter:
    """Makes requests; a prompt that was asked before is another sample of it."""

    def __init__(self) -> None:
        self._asked: Counter[bytes] = Counter()

    def request(self, messages: tuple[ChatMessage, ...], wanted: AnswerFormat, view: View) -> Request:
        """Return the request for an answer.

        Args:
            messages: the prompt.
            wanted: the form of the answer.
            view: the turn in which it is asked.
        """
        joined = "\0".join(f"{message.role.value}\0{message.content}" for message in messages)
        digest = hashlib.sha256(joined.encode()).digest()
        self._asked[digest] += 1
        return Request(messages, wanted, UNSET, self._asked[digest] - 1, Origin(view.name, view.t))


def answered(reply: Reply, *, repairs: int = 0, parse_failure: bool = False) -> Call:
    """Record a call that was answered; the keys are those that `maeil.metrics.model` reads, and some more.

    Args:
        reply: the answer.
        repairs: times that the mind itself has asked again by this call.
        parse_failure: whether the answer was not what was asked for.
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
        "retries": max(reply.attempts - 1 - reply.repairs, 0),
        "repairs": reply.repairs + repairs,
        "finish": reply.finish.value,
        "cache_hit": reply.cache_hit,
        "simulated": reply.simulated,
    }
    if usage.estimated:
        record["usage_estimated"] = True
    if reply.not_sent:
        record["not_sent"] = list(reply.not_sent)
    if parse_failure:
        record["parse_failure"] = True
    return Call(usage.completion, record)


def unanswered(error: AnswerInvalid) -> Call:
    """Record a call that gave no valid answer, by the reply that the error holds."""
    return answered(read_reply(error.record), parse_failure=True)
