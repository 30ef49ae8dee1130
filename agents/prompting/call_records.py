"""What a call of a language model leaves in the trace."""

from __future__ import annotations

from typing import Any

from maeil.calls import Call
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import Reply
from quorum.agents.llm.records import read_reply


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
    if reply.not_sent:
        record["not_sent"] = list(reply.not_sent)
    if parse_failure:
        record["parse_failure"] = True
    return Call(usage.completion, record)


def unanswered(error: AnswerInvalid) -> Call:
    """Record a call that gave no valid answer, by the reply that the error holds."""
    return answered(read_reply(error.record), parse_failure=True)
