"""What the language models did.

A mind leaves one JSON record for each call that it makes (`Call.record`); `thought_end` holds them. The keys read here,
all optional:

| key | value |
|---|---|
| `completion_tokens` | tokens that the model wrote, those of hidden reasoning included |
| `prompt_tokens` | tokens that it was given, cached ones included |
| `cached_tokens` | those of them that the provider read from its cache |
| `cache_written_tokens` | those of them that it read and wrote into its cache; absent: 0 |
| `usage_estimated` | whether a count of tokens is our own estimate, as the provider gave none; absent: false |
| `usd` | what the call cost, in US dollars; absent or null when the price is not known |
| `seconds` | wall time from the request to the whole reply, retries included |
| `retries` | how often the request was sent again after an error of the provider; absent: 0 |
| `repairs` | how often the mind itself asked again because the reply was of no use; absent: 0 |
| `parse_failure` | whether the reply could not be read as what was asked for; absent: false |
| `widened` | how often the same was asked again with more room because the answer was empty; absent: 0 |
| `empty_answer` | why there was no answer, nor with more room: `stop`, `length`, `refusal`; absent: there was one |
| `reasoning_tokens` | those of the completion tokens that were thoughts; absent: 0 |
| `answers` | answers that were received in the call, where asking again took more than one; absent: 1, or none |
| `unanswered` | why its last request got no answer: `cancelled` under way, or `failed`; absent: it got one |
| `fallback` | the models that answered in the place of the chosen one, which could not be reached; absent: none |
| `asked_otherwise` | what the request lacked because the service had refused it; absent: nothing |
| `cache_hit` | whether all answers came from the cache of the harness; absent: false |

A call is a question of a mind: asking again because of a useless answer (a repair) belongs to it, and so does sending a
request again (a retry). `budget.calls` bounds requests for an answer, each repair among them: `model.answers` and
`model.unanswered` together.

Tokens and money are those of all answers. They are unknown, None and never 0, as soon as one answered call does not
tell them; what a provider may charge for a request that got no reply is not in them. A reply without an answer is, if
it says what it has cost. A team that makes no calls has spent 0. Thoughts that the loop asks for again are
`decision.repairs`, invalid plans `plans.invalid`.
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
    """Return a number of a record, None when it is not given."""
    value = call.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) else None


def answers_of(call: Mapping[str, Any]) -> int:
    """Return how many answers a call got."""
    given = call_number(call, "answers")
    if given is not None:
        return int(given)
    return int("unanswered" not in call or "completion_tokens" in call)


def _total(key: str, trace: Trace) -> Value:
    """Sum up over calls; None when one of them does not tell."""
    values = [call_number(call, key) for call in calls_of(trace) if answers_of(call)]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return fsum(known) if any(isinstance(value, float) for value in known) else sum(known)


def _count(key: str, trace: Trace) -> Value:
    """Sum up over calls; one that does not tell counts 0."""
    return sum(call_number(call, key) or 0 for call in calls_of(trace))


@metric("model.calls", "calls", better="lower")
def calls(trace: Trace) -> Value:
    """Calls of language models: questions of minds, each with all the repairs and retries that it took."""
    return sum(1 for _ in calls_of(trace))


@metric("model.answers", "answers", better="lower")
def answers(trace: Trace) -> Value:
    """Answers of language models, those to repairs and those of the cache included."""
    return sum(map(answers_of, calls_of(trace)))


@metric("model.unanswered", "requests", better="lower", reproducible=False)
def unanswered(trace: Trace) -> Value:
    """Requests for an answer that got none: cancelled under way when the episode ended, or failed after all retries.

    What a provider may charge for them is in no other figure.
    """
    return sum("unanswered" in call for call in calls_of(trace))


@metric("model.cached_answers", "answers", reproducible=False)
def cached_answers(trace: Trace) -> Value:
    """Answers that came from the cache of the harness, so that they were paid earlier, if at all."""
    return sum(answers_of(call) for call in calls_of(trace) if call.get("cache_hit") is True)


@metric("model.fallbacks", "calls", better="lower", reproducible=False)
def fallbacks(trace: Trace) -> Value:
    """Calls of which another model answered in the place of the chosen one, which could not be reached."""
    return sum(bool(call.get("fallback")) for call in calls_of(trace))


@metric("model.asked_otherwise", "calls", better="lower", reproducible=False)
def asked_otherwise(trace: Trace) -> Value:
    """Calls whose request lacked something that the service had refused twice: a schema, an effort, a temperature."""
    return sum(bool(call.get("asked_otherwise")) for call in calls_of(trace))


_TOKENS: tuple[tuple[str, Better | None, str], ...] = (
    ("completion_tokens", "lower", "Tokens that the models wrote, their thoughts included"),
    ("prompt_tokens", "lower", "Tokens that the models were given"),
    ("cached_tokens", None, "Prompt tokens that came from the provider's cache"),
)
for _key, _better, _what in _TOKENS:
    _doc = f"{_what}, summed over calls; None when a call does not tell."
    metric(f"model.{_key}", "tokens", better=_better, doc=_doc)(partial(_total, _key))


@metric("model.cache_written_tokens", "tokens")
def cache_written_tokens(trace: Trace) -> Value:
    """Prompt tokens that the provider wrote into its cache, which some charge for; summed over calls."""
    return _count("cache_written_tokens", trace)


@metric("model.prompt_cache_share", better="higher", rate=True)
def prompt_cache_share(trace: Trace) -> Value:
    """Share of the prompt tokens that came from the provider's cache; None if a call does not tell, or there are none.

    `model.cached_tokens / model.prompt_tokens`. 0 for the simulated model, which has no such cache.
    """
    cached, prompt = _total("cached_tokens", trace), _total("prompt_tokens", trace)
    return cached / prompt if cached is not None and prompt else None


@metric("model.reasoning_tokens", "tokens")
def reasoning_tokens(trace: Trace) -> Value:
    """Completion tokens that were thoughts, as far as the providers tell them."""
    return _count("reasoning_tokens", trace)


@metric("model.estimated_calls", "calls")
def estimated_calls(trace: Trace) -> Value:
    """Calls whose tokens, and so their money, are our own estimate: the provider did not count them."""
    return sum(call.get("usage_estimated") is True for call in calls_of(trace))


@metric("model.usd", "USD", better="lower", title="USD")
def usd(trace: Trace) -> Value:
    """Money that the answers cost, those of the cache when they were bought; None when a price is not known."""
    return _total("usd", trace)


@metric("model.latency_median_seconds", "s", better="lower")
def latency_median(trace: Trace) -> Value:
    """Median wall time of the calls that report it; answers of the harness's own cache are left out."""
    asked = (call for call in calls_of(trace) if call.get("cache_hit") is not True)
    taken = [seconds for call in asked if (seconds := call_number(call, "seconds")) is not None]
    return median(taken) if taken else None


@metric("model.retries", "retries", reproducible=False)
def retries(trace: Trace) -> Value:
    """Requests sent again after an error of the provider; not reproducible."""
    return _count("retries", trace)


@metric("model.repairs", "repairs", better="lower")
def repairs(trace: Trace) -> Value:
    """Calls made again by a mind itself because a reply was of no use to it."""
    return _count("repairs", trace)


@metric("model.parse_failures", "calls", better="lower")
def parse_failures(trace: Trace) -> Value:
    """Calls whose reply could not be read as what was asked for."""
    return sum(call.get("parse_failure") is True for call in calls_of(trace))


@metric("model.empty_answers", "calls", better="lower")
def empty_answers(trace: Trace) -> Value:
    """Calls that got no answer at all, not with more room either: only thoughts, nothing, or a refusal."""
    return sum("empty_answer" in call for call in calls_of(trace))


ACTORS = frozenset({"actor", "reviewer"})


@metric("gates.rejections", "rejections")
def rejections(trace: Trace) -> Value:
    """Rules that plans broke, each counted as often as it was found broken."""
    return sum(len(call.get("rejections", ())) for call in calls_of(trace))


@metric("gates.rejected_proposals", "calls")
def rejected_proposals(trace: Trace) -> Value:
    """Calls for a joint plan whose answer did not pass: the retries of a planner, but for the last one of a failure."""
    return sum(1 for call in calls_of(trace) if call.get("rejections") and call.get("role") not in ACTORS)


@metric("gates.actor_calls", "calls")
def actor_calls(trace: Trace) -> Value:
    """Calls of agents for feedback on their part: when it failed its confirmation (LLaMAC), or always (HMAS-2)."""
    return sum(1 for call in calls_of(trace) if call.get("role") in ACTORS)


@metric("gates.feedback_rounds", "rounds")
def feedback_rounds(trace: Trace) -> Value:
    """Thoughts in which a coordinator planned again on feedback (LLaMAC, external feedback; HMAS-2, objections)."""
    return sum(any(call.get("on_feedback") for call in thought.calls) for thought in trace.of(ThoughtEnd))


@metric("gates.repaired_plans", "plans")
def repaired_plans(trace: Trace) -> Value:
    """Plans that were dropped because they did not go with others and all retries were used up."""
    return sum(len(call.get("repaired", ())) for call in calls_of(trace))


@dataclass(frozen=True, slots=True)
class Wasted:
    """What the answers of dropped attempts at a run took: attempts that were killed, or failed or damaged and repeated.

    Attributes:
        answers: their number.
        tokens: read and written.
        usd: their money; None where a price is not known.
    """

    answers: int
    tokens: int
    usd: float | None


@metric("model.wasted_answers", "answers", better="lower", reproducible=False, source=Wasted)
def wasted_answers(found: Wasted) -> Value:
    """Answers of dropped attempts at this run, in no other figure of it. There in folders that keep such attempts."""
    return found.answers


@metric("model.wasted_tokens", "tokens", better="lower", reproducible=False, source=Wasted)
def wasted_tokens(found: Wasted) -> Value:
    """Tokens that the answers of dropped attempts at this run read and wrote."""
    return found.tokens


@metric("model.wasted_usd", "USD", better="lower", reproducible=False, source=Wasted)
def wasted_usd(found: Wasted) -> Value:
    """Money that the answers of dropped attempts at this run cost; None when a price is not known."""
    return found.usd
