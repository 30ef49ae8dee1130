"""Metrics of language model calls.

A mind writes one JSON record for each of its calls (`Call.record`); the event `thought_end` contains them. These
metrics read the following keys, all of them optional:

| key | value |
|---|---|
| `completion_tokens` | tokens written by the model, including hidden reasoning |
| `prompt_tokens` | tokens of the prompt, including cached ones |
| `cached_tokens` | prompt tokens that the provider read from its cache |
| `cache_written_tokens` | prompt tokens that the provider wrote into its cache; absent: 0 |
| `usage_estimated` | whether a token count is an estimate, because the provider gave none; absent: false |
| `usd` | cost of the call in US dollars; absent or null if the price is unknown |
| `seconds` | wall time from the request to the complete reply, including retries |
| `retries` | how often the request was sent again after an error of the provider; absent: 0 |
| `repairs` | how often the mind asked again because a reply was unusable; absent: 0 |
| `parse_failure` | whether the reply could not be parsed; absent: false |
| `widened` | how often the same request was sent again with more room because the answer was empty; absent: 0 |
| `empty_answer` | why there was no answer even with more room: `stop`, `length`, `refusal`; absent: there was one |
| `reasoning_tokens` | completion tokens that were reasoning; absent: 0 |
| `answers` | answers received in the call, if there were repeated requests; absent: 1, or none |
| `unanswered` | why the last request got no answer: `cancelled` under way, or `failed`; absent: it got one |
| `fallback` | the models that answered instead of the chosen one, which could not be reached; absent: none |
| `asked_otherwise` | what was left out of the request because the service refused it; absent: nothing |
| `cache_hit` | whether all answers came from the cache of the harness; absent: false |

A call is one question of a mind, including requests repeated because of an unusable answer (repairs) or an error
(retries). `budget.calls` limits the number of requests for an answer, including each repair: the sum of `model.answers`
and `model.unanswered`.

Token counts and costs cover all answers. They are unknown (None, never 0) if one answered call lacks them. They exclude
any charges of a provider for a request without a reply, but include a reply without an answer if it states its cost. A
team without calls has spent 0. For thoughts that the loop refuses see `decision.refused`, for invalid plans
`plans.invalid`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import fsum, isfinite
from statistics import median
from typing import Any

from maeil.metrics.registry import Better, Value, metric
from maeil.trace.events import ThoughtEnd
from maeil.trace.reader import Trace


def calls_of(trace: Trace) -> Iterator[Mapping[str, Any]]:
    """Return the records of all calls, in order."""
    return (call for thought in trace.of(ThoughtEnd) for call in thought.calls)


def call_number(call: Mapping[str, Any], key: str) -> int | float | None:
    """Return a number from a record; None if it is missing."""
    value = call.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) else None


def answers_of(call: Mapping[str, Any]) -> int:
    """Return the number of answers in a call."""
    given = call_number(call, "answers")
    if given is not None:
        return int(given)
    return int("unanswered" not in call or "completion_tokens" in call)


def _total(key: str, trace: Trace) -> Value:
    """Sum a key over answered calls; None if one of them lacks it."""
    values = [call_number(call, key) for call in calls_of(trace) if answers_of(call)]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return fsum(known) if any(isinstance(value, float) for value in known) else sum(known)


def _count(key: str, trace: Trace) -> Value:
    """Sum a key over calls; a call without it counts as 0."""
    return sum(call_number(call, key) or 0 for call in calls_of(trace))


@metric("model.calls", "calls", better="lower")
def calls(trace: Trace) -> Value:
    """Language model calls: questions of minds, each with all its repairs and retries."""
    return sum(1 for _ in calls_of(trace))


@metric("model.answers", "answers", better="lower")
def answers(trace: Trace) -> Value:
    """Answers of language models, including answers to repairs and answers from the cache."""
    return sum(map(answers_of, calls_of(trace)))


@metric("model.unanswered", "requests", better="lower", reproducible=False)
def unanswered(trace: Trace) -> Value:
    """Requests without an answer: cancelled under way when the episode ended, or failed after all retries.

    No other metric includes what a provider may charge for them.
    """
    return sum("unanswered" in call for call in calls_of(trace))


@metric("model.cached_answers", "answers", reproducible=False)
def cached_answers(trace: Trace) -> Value:
    """Answers from the cache of the harness, which were paid for earlier, if at all."""
    return sum(answers_of(call) for call in calls_of(trace) if call.get("cache_hit") is True)


@metric("model.fallbacks", "calls", better="lower", reproducible=False)
def fallbacks(trace: Trace) -> Value:
    """Calls that another model answered because the chosen one could not be reached."""
    return sum(bool(call.get("fallback")) for call in calls_of(trace))


@metric("model.asked_otherwise", "calls", better="lower", reproducible=False)
def asked_otherwise(trace: Trace) -> Value:
    """Calls that left out a part of the request that the service had refused twice: a schema, effort or temperature."""
    return sum(bool(call.get("asked_otherwise")) for call in calls_of(trace))


_TOKENS: tuple[tuple[str, Better | None, str], ...] = (
    ("completion_tokens", "lower", "Tokens that the models wrote, including their thoughts"),
    ("prompt_tokens", "lower", "Tokens that the models read"),
    ("cached_tokens", None, "Prompt tokens that came from the provider's cache"),
)
for _key, _better, _what in _TOKENS:
    _doc = f"{_what}, summed over calls; None if a call does not report them."
    metric(f"model.{_key}", "tokens", better=_better, doc=_doc)(partial(_total, _key))


@metric("model.cache_written_tokens", "tokens")
def cache_written_tokens(trace: Trace) -> Value:
    """Prompt tokens that the provider wrote into its cache (some providers charge for this), summed over calls."""
    return _count("cache_written_tokens", trace)


@metric("model.prompt_cache_share", better="higher", rate=True)
def prompt_cache_share(trace: Trace) -> Value:
    """Share of the prompt tokens that came from the provider's cache; None if a call lacks the counts, or without any.

    `model.cached_tokens / model.prompt_tokens`. 0 for the simulated model, which has no such cache.
    """
    cached, prompt = _total("cached_tokens", trace), _total("prompt_tokens", trace)
    return cached / prompt if cached is not None and prompt else None


@metric("model.reasoning_tokens", "tokens")
def reasoning_tokens(trace: Trace) -> Value:
    """Completion tokens that were reasoning, as far as the providers report them."""
    return _count("reasoning_tokens", trace)


@metric("model.estimated_calls", "calls")
def estimated_calls(trace: Trace) -> Value:
    """Calls with estimated token counts and therefore estimated costs, because the provider reported no counts."""
    return sum(call.get("usage_estimated") is True for call in calls_of(trace))


@metric("model.usd", "USD", better="lower", title="USD")
def usd(trace: Trace) -> Value:
    """Cost of the answers; cached ones count at their original cost. None if a price is unknown."""
    return _total("usd", trace)


@metric("model.latency_median_seconds", "s", better="lower")
def latency_median(trace: Trace) -> Value:
    """Median wall time of the calls that report it, without answers from the cache of the harness."""
    asked = (call for call in calls_of(trace) if call.get("cache_hit") is not True)
    taken = [seconds for call in asked if (seconds := call_number(call, "seconds")) is not None]
    return median(taken) if taken else None


@metric("model.retries", "retries", reproducible=False)
def retries(trace: Trace) -> Value:
    """Requests sent again after an error of the provider; not reproducible."""
    return _count("retries", trace)


@metric("model.repairs", "repairs", better="lower")
def repairs(trace: Trace) -> Value:
    """Requests that a mind repeated because a reply was unusable."""
    return _count("repairs", trace)


@metric("model.parse_failures", "calls", better="lower")
def parse_failures(trace: Trace) -> Value:
    """Calls with a reply that could not be parsed."""
    return sum(call.get("parse_failure") is True for call in calls_of(trace))


@metric("model.empty_answers", "calls", better="lower")
def empty_answers(trace: Trace) -> Value:
    """Calls without an answer, even with more room: the reply was only reasoning, empty, or a refusal."""
    return sum("empty_answer" in call for call in calls_of(trace))


ACTORS = frozenset({"actor", "reviewer"})


@metric("gates.rejections", "rejections")
def rejections(trace: Trace) -> Value:
    """Violations of rules by plans, each counted as often as it was found."""
    return sum(len(call.get("rejections", ())) for call in calls_of(trace))


@metric("gates.rejected_proposals", "calls")
def rejected_proposals(trace: Trace) -> Value:
    """Calls for a joint plan with a rejected answer: a planner's retries, plus its last call if it failed for good."""
    return sum(1 for call in calls_of(trace) if call.get("rejections") and call.get("role") not in ACTORS)


@metric("gates.actor_calls", "calls")
def actor_calls(trace: Trace) -> Value:
    """Calls of agents for feedback on their part of a plan: if it failed confirmation (LLaMAC), or always (HMAS-2)."""
    return sum(1 for call in calls_of(trace) if call.get("role") in ACTORS)


@metric("gates.feedback_rounds", "rounds")
def feedback_rounds(trace: Trace) -> Value:
    """Thoughts in which a coordinator replanned after feedback (LLaMAC, external feedback; HMAS-2, objections)."""
    return sum(any(call.get("on_feedback") for call in thought.calls) for thought in trace.of(ThoughtEnd))


@metric("gates.repaired_plans", "plans")
def repaired_plans(trace: Trace) -> Value:
    """Plans that were dropped because they conflicted with others after all retries."""
    return sum(len(call.get("repaired", ())) for call in calls_of(trace))


@dataclass(frozen=True, slots=True)
class Wasted:
    """Costs of the discarded attempts at a run: attempts that were killed, or that failed or were damaged and repeated.

    Attributes:
        answers: number of answers.
        tokens: tokens read and written.
        usd: cost in US dollars; None if a price is unknown.
    """

    answers: int
    tokens: int
    usd: float | None


@metric("model.wasted_answers", "answers", better="lower", reproducible=False, source=Wasted)
def wasted_answers(found: Wasted) -> Value:
    """Answers of discarded attempts at this run, not part of any other metric; only in folders that keep attempts."""
    return found.answers


@metric("model.wasted_tokens", "tokens", better="lower", reproducible=False, source=Wasted)
def wasted_tokens(found: Wasted) -> Value:
    """Tokens read and written for the answers of discarded attempts at this run."""
    return found.tokens


@metric("model.wasted_usd", "USD", better="lower", reproducible=False, source=Wasted)
def wasted_usd(found: Wasted) -> Value:
    """Cost of the answers of discarded attempts at this run; None if a price is unknown."""
    return found.usd
