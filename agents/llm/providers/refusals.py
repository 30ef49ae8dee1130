"""What of a request is sent: what the configuration chooses, without what the server has refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from quorum.agents.llm.errors import BadRequest, LanguageModelError, ServerFailed
from quorum.agents.llm.protocol import MaxTokensKey, Sampling, Structured
from quorum.agents.llm.providers.content import OFFERED, PromptCaching
from quorum.agents.llm.tables import wordings


@dataclass(frozen=True, slots=True)
class Offer:
    """What of a request is sent, given what the server is known to refuse.

    Attributes:
        structured: how the form is asked for; None for free text.
        sampling: as it is sent: a field that the server refuses is None.
        max_tokens_key: what the longest answer is called.
        longest: tokens that the answer may have, the room for thinking included.
        forced: whether a tool's call is forced where the form is asked for by a tool; else the model may write text.
        prompt_cache: what is said of the provider's prompt cache.
        summary: whether a summary of thoughts may be asked for, which OpenAI keeps for organizations that it knows.
    """

    structured: Structured | None
    sampling: Sampling
    max_tokens_key: MaxTokensKey
    longest: int
    forced: bool = True
    prompt_cache: PromptCaching = PromptCaching.NONE
    summary: bool = True


def left_out(wanted: Sampling, sent: Sampling) -> tuple[str, ...]:
    """Return the names of the fields that are wanted and not sent, in their order."""
    names = (field.name for field in fields(Sampling))
    return tuple(name for name in names if getattr(wanted, name) is not None and getattr(sent, name) is None)


REFUSABLE: dict[str, re.Pattern[str]] = {name: re.compile(pattern) for name, pattern in wordings("fields").items()}
"""Fields of a sampling that a request can do without, and how servers name each."""

_OLD = frozenset({"temperature", "seed", "top_p", "stop"})
"""Fields that every server knows: it refuses one in words that say so, and no riddle is about them."""
FORCED = "forced tool choice"
SUMMARY = "summary of thoughts"

_FORMS = (Structured.SCHEMA, Structured.TOOLS, Structured.PROMPT)
_NAMED = {Structured(name): re.compile(pattern) for name, pattern in wordings("forms").items()}
_PROMPT_CACHE = re.compile(wordings("prompt_cache"))
_SUMMARY = re.compile(wordings("summary"))
_FORCED_TOOL = re.compile(wordings("forced_tool"))
_NOT_TAKEN = re.compile(wordings("not_taken"))
_OTHER_CAUSE = re.compile(wordings("other_cause"))
_STATUSES_OF_REFUSALS = frozenset({400, 422})


@dataclass(slots=True)
class Refusals:
    """What one server refuses, as its answers have shown.

    Args:
        structured: how the form of an answer is asked for.
        max_tokens_key: what the longest answer is called first; the other name is tried only if `rename` allows it.
        rename: whether the other name may be tried.
        prompt_cache: what is said of the prompt cache until the server refuses that.
    """

    structured: Structured
    max_tokens_key: MaxTokensKey
    rename: bool = field(kw_only=True)
    prompt_cache: PromptCaching = PromptCaching.NONE
    _known: set[str] = field(default_factory=set, init=False)

    def add(self, *names: str) -> None:
        """Remember that the server does not take something."""
        self._known.update(names)

    def offer(self, sampling: Sampling, *, form: bool, suspected: frozenset[str]) -> Offer:
        """Return what is sent.

        Args:
            sampling: as it is wanted.
            form: whether the answer has a form.
            suspected: what is left out this once: fields, or ways to ask for the form.
        """
        refused = self._known | suspected
        structured = self.structured if form else None
        if structured is Structured.AUTO:
            structured = next(way for way in _FORMS if way not in refused)
        key = self.max_tokens_key
        if key in self._known:
            key = next(name for name in MaxTokensKey if name not in (MaxTokensKey.AUTO, self.max_tokens_key))
        left_out: dict[str, Any] = dict.fromkeys(refused & REFUSABLE.keys())
        sent = replace(sampling, **left_out)
        prompt_cache = PromptCaching.NONE if OFFERED in refused else self.prompt_cache
        forced, summary = FORCED not in self._known, SUMMARY not in self._known
        longest = sampling.max_tokens
        return Offer(structured, sent, key, longest, forced=forced, prompt_cache=prompt_cache, summary=summary)

    def learn(self, failure: LanguageModelError, offer: Offer) -> bool:
        """Remember what a failure names as refused; return whether asking again without it makes sense.

        A server that cannot make a grammar of a schema says so with 400, 422 or 500, in its own words.
        """
        said = str(failure)
        if isinstance(failure, BadRequest):
            if offer.structured is Structured.TOOLS and offer.forced and _FORCED_TOOL.search(said):
                self.add(FORCED)
                return True
            if offer.prompt_cache is not PromptCaching.NONE and _PROMPT_CACHE.search(said):
                self.add(OFFERED)
                return True
            if offer.summary and _SUMMARY.search(said):
                self.add(SUMMARY)
                return True
            if (named := self._field_named(failure, offer)) is not None:
                self.add(named)
                return True
        form = self._form_that_may_go(offer)
        if form is not None and isinstance(failure, BadRequest | ServerFailed) and _NAMED[form].search(said):
            self.add(form)
            return True
        return False

    def _field_named(self, failure: BadRequest, offer: Offer) -> str | None:
        """Return the field that a refusal names; of younger ones, whose refusals have many words, it need say no more.

        The level of an effort may be what is refused: without it, the provider takes its own.
        """
        said = str(failure)
        not_taken = _NOT_TAKEN.search(said) is not None
        riddle = failure.status in _STATUSES_OF_REFUSALS
        for name, words in REFUSABLE.items():
            sent = getattr(offer.sampling, name) is not None
            if sent and words.search(said) and (not_taken or (riddle and name not in _OLD)):
                return name
        renamed = self.rename and self.max_tokens_key not in self._known
        return offer.max_tokens_key if renamed and not_taken and offer.max_tokens_key in said else None

    def suspicions(self, failure: LanguageModelError, offer: Offer) -> Iterator[frozenset[str]]:
        """Return what an unexplained refusal may be about, to be left out in turn; nothing where it says what else.

        Which one it was, the next tries show: what is taken without it was refused for it. What is said of the prompt
        cache, which changes no answer, is the first; then the younger fields of the sampling, then the ways to ask for
        the form, then both of these.
        """
        if not isinstance(failure, BadRequest) or failure.status not in _STATUSES_OF_REFUSALS:
            return
        said = str(failure)
        young = frozenset(n for n in REFUSABLE.keys() - _OLD if getattr(offer.sampling, n) is not None)
        if _OTHER_CAUSE.search(said) and not (young and _NOT_TAKEN.search(said)):
            return
        if offer.prompt_cache is not PromptCaching.NONE:
            yield frozenset({OFFERED})
        if young:
            yield young
        forms = _FORMS[_FORMS.index(form) : -1] if (form := self._form_that_may_go(offer)) is not None else ()
        ways = [frozenset[str](forms[: count + 1]) for count in range(len(forms))]
        yield from ways
        if young:
            yield from (way | young for way in ways)

    def _form_that_may_go(self, offer: Offer) -> Structured | None:
        return offer.structured if self.structured is Structured.AUTO and offer.structured in _NAMED else None
