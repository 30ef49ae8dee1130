"""What to send: the configured request without what the service refuses.

We conclude that a service refuses something after it has refused the same request twice and accepted a reduced one.
Every answer records what its request lacked. What the service has accepted before is never left out for good, because
a gateway may report any failure as a refusal.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from quorum.agents.llm.errors import BadRequest, LanguageModelError, ServerFailed, UnknownModel
from quorum.agents.llm.protocol import MaxTokensKey, Sampling, Structured
from quorum.agents.llm.providers.content import PromptCaching
from quorum.agents.llm.records import PROMPT_CACHE, SUMMARY
from quorum.agents.llm.tables import wordings

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Offer:
    """What to send, given the known refusals of the server.

    Attributes:
        structured: how the schema is requested; None for free text.
        sampling: parameters sent; fields that the server refuses are None.
        max_tokens_key: name of the output token limit.
        longest: token limit of the answer, including the allowance for thinking.
        forced: whether a tool call is forced if the schema is requested as a tool; else the model may write text.
        prompt_cache: prompt cache settings.
        summary: whether to request a summary of thoughts, which OpenAI reserves for verified organizations.
        reduced: what is left out because the service has refused it; for `Reply.reduced`.
    """

    structured: Structured | None
    sampling: Sampling
    max_tokens_key: MaxTokensKey
    longest: int
    forced: bool = True
    prompt_cache: PromptCaching = PromptCaching.NONE
    summary: bool = True
    reduced: tuple[str, ...] = ()


def left_out(wanted: Sampling, sent: Sampling) -> tuple[str, ...]:
    """Return the names of fields that are wanted but not sent, in order."""
    names = (field.name for field in fields(Sampling))
    return tuple(name for name in names if getattr(wanted, name) is not None and getattr(sent, name) is None)


REFUSABLE: dict[str, re.Pattern[str]] = {name: re.compile(pattern) for name, pattern in wordings("fields").items()}
"""Optional fields of the sampling parameters, and the names that servers use for each."""

_OLD = frozenset({"temperature", "seed", "top_p", "stop"})
"""Fields that every server knows: it names them when it refuses them, so unexplained refusals are about others."""
FORCED = "forced tool choice"

_FORMS = (Structured.SCHEMA, Structured.TOOLS, Structured.PROMPT)
_NAMED = {Structured(name): re.compile(pattern) for name, pattern in wordings("forms").items()}
_GATEWAY = re.compile(wordings("gateway"))
_PROMPT_CACHE = re.compile(wordings("prompt_cache"))
_SUMMARY = re.compile(wordings("summary"))
_FORCED_TOOL = re.compile(wordings("forced_tool"))
_NOT_TAKEN = re.compile(wordings("not_taken"))
_OTHER_CAUSE = re.compile(wordings("other_cause"))
_STATUSES_OF_REFUSALS = frozenset({400, 422})


@dataclass(slots=True)
class Refusals:
    """What one service refuses, as learned from its answers.

    Args:
        structured: how to request the schema of an answer.
        max_tokens_key: first name of the output token limit; the other name is tried only if `rename` allows it.
        rename: whether the other name may be tried.
        prompt_cache: prompt cache settings until the service refuses them.
    """

    structured: Structured
    max_tokens_key: MaxTokensKey
    rename: bool = field(kw_only=True)
    prompt_cache: PromptCaching = PromptCaching.NONE
    _never: set[str] = field(default_factory=set, init=False)
    _refused: set[str] = field(default_factory=set, init=False)
    _taken: set[str] = field(default_factory=set, init=False)

    def never(self, *names: str) -> None:
        """Leave out fields from the start that the provider is known not to accept; this is the usual request."""
        self._never.update(names)

    def offer(self, sampling: Sampling, *, form: bool, suspected: frozenset[str]) -> Offer:
        """Return what to send.

        Args:
            sampling: the wanted parameters.
            form: whether the answer has a schema.
            suspected: fields or schema methods to leave out this time only.
        """
        refused = self._refused | suspected
        structured = self.structured if form else None
        if structured is Structured.AUTO:
            structured = next(way for way in _FORMS if way not in refused)
        key = self.max_tokens_key
        if key in refused:
            key = next(name for name in MaxTokensKey if name not in (MaxTokensKey.AUTO, self.max_tokens_key))
        left_out: dict[str, Any] = dict.fromkeys((refused | self._never) & REFUSABLE.keys())
        whole = Offer(structured, sampling, key, sampling.max_tokens, prompt_cache=self.prompt_cache)
        return replace(
            whole,
            sampling=replace(sampling, **left_out),
            forced=FORCED not in refused,
            prompt_cache=PromptCaching.NONE if PROMPT_CACHE in refused else self.prompt_cache,
            summary=SUMMARY not in refused,
            reduced=tuple(
                sorted(refused & (_parts(whole) | self._ways_before(structured)) | refused & {*MaxTokensKey})
            ),
        )

    def _ways_before(self, structured: Structured | None) -> set[str]:
        """Return the available schema methods that precede the given one."""
        free = self.structured is Structured.AUTO and structured is not None
        return {*_FORMS[: _FORMS.index(structured)]} if free and structured is not None else set()

    def take(self, offer: Offer, left_out: frozenset[str]) -> None:
        """Record that the service has accepted a request.

        Args:
            offer: what was sent.
            left_out: what it lacked because the service had refused the same request twice with it.
        """
        self._taken |= _parts(offer)
        concluded = left_out - self._taken - self._refused
        self._refused |= concluded
        if concluded:
            names = ", ".join(sorted(concluded))
            _log.warning("the service refused requests with %s twice each; from now on, Quorum leaves them out", names)
        elif left_out - self._refused:
            _log.info("one request left out %s", ", ".join(sorted(left_out)))

    def named(self, failure: LanguageModelError, offer: Offer) -> str | None:
        """Return the part of a request that a failure names as refused, if the request can do without it; else None.

        A server that cannot build a grammar from a schema responds with 400, 422 or 500, in its own words.
        """
        said = str(failure)
        if isinstance(failure, BadRequest):
            if offer.structured is Structured.TOOLS and offer.forced and _FORCED_TOOL.search(said):
                return FORCED
            if offer.prompt_cache is not PromptCaching.NONE and _PROMPT_CACHE.search(said):
                return PROMPT_CACHE
            if offer.summary and _SUMMARY.search(said):
                return SUMMARY
            if (named := self._field_named(failure, offer)) is not None:
                return named
        form = self._form_that_may_go(offer)
        grammar = isinstance(failure, BadRequest | ServerFailed) and form is not None and _NAMED[form].search(said)
        return form if grammar else None

    def _field_named(self, failure: BadRequest, offer: Offer) -> str | None:
        """Return the field that a refusal names. For newer fields, whose refusals vary in wording, the name is enough.

        The refusal may be about the level of an effort: without the field, the provider uses its default.
        """
        said = str(failure)
        not_taken = _NOT_TAKEN.search(said) is not None
        riddle = failure.status in _STATUSES_OF_REFUSALS
        for name, words in REFUSABLE.items():
            sent = getattr(offer.sampling, name) is not None
            if sent and words.search(said) and (not_taken or (riddle and name not in _OLD)):
                return name
        renamed = self.rename and offer.max_tokens_key is self.max_tokens_key
        return offer.max_tokens_key if renamed and not_taken and offer.max_tokens_key in said else None

    def suspicions(self, failure: LanguageModelError, offer: Offer) -> Iterator[frozenset[str]]:
        """Return sets of parts to leave out in turn after an unexplained refusal; none if it explains something else.

        The next tries show which part it was: the one without which the service accepts the request. Prompt cache
        settings come first, because they change no answer; then newer sampling fields, then schema methods, then both.
        """
        if not isinstance(failure, BadRequest) or failure.status not in _STATUSES_OF_REFUSALS:
            return
        said = str(failure)
        young = frozenset(n for n in REFUSABLE.keys() - _OLD if getattr(offer.sampling, n) is not None)
        if _OTHER_CAUSE.search(said) and not (young and _NOT_TAKEN.search(said)):
            return
        if offer.prompt_cache is not PromptCaching.NONE:
            yield frozenset({PROMPT_CACHE})
        if young:
            yield young
        forms = _FORMS[_FORMS.index(form) : -1] if (form := self._form_that_may_go(offer)) is not None else ()
        ways = [frozenset[str](forms[: count + 1]) for count in range(len(forms))]
        yield from ways
        if young:
            yield from (way | young for way in ways)

    def _form_that_may_go(self, offer: Offer) -> Structured | None:
        return offer.structured if self.structured is Structured.AUTO and offer.structured in _NAMED else None


def _parts(offer: Offer) -> set[str]:
    """Return the names of all parts of an offer that a service may refuse."""
    parts = {name for name in REFUSABLE if getattr(offer.sampling, name) is not None}
    parts |= {offer.max_tokens_key} | ({offer.structured} if offer.structured is not None else set())
    parts |= {FORCED} if offer.structured is Structured.TOOLS and offer.forced else set()
    parts |= {PROMPT_CACHE} if offer.prompt_cache is not PromptCaching.NONE else set()
    return parts | ({SUMMARY} if offer.summary else set())


@dataclass(slots=True)
class Reduction:
    """Reduces one request step by step as it is refused: each version is sent twice before the next one.

    Args:
        refusals: known refusals of the service.
    """

    refusals: Refusals
    left_out: frozenset[str] = frozenset()
    """What to leave out of the next try."""
    _sent: Offer | None = None
    _named: frozenset[str] = frozenset()
    _ways: Iterator[frozenset[str]] | None = None

    def refused(self, failure: LanguageModelError, offer: Offer) -> bool:
        """Decide what to send after a failure: the same once more, then less; return whether a retry may help.

        Args:
            failure: failure of the latest try.
            offer: what was sent in it.
        """
        named = self.refusals.named(failure, offer)
        if offer != self._sent:
            self._sent = offer
            return named is not None or _passed_on(failure) or self._is_riddle(failure, offer)
        if named is not None:
            self._named |= {named}
            self.left_out |= {named}
            return True
        if self._ways is None:
            self._ways = self.refusals.suspicions(failure, offer)
        way = next(self._ways, None) if isinstance(failure, BadRequest) else None
        if way is None:
            return False
        self.left_out = self._named | way
        return True

    def _is_riddle(self, failure: LanguageModelError, offer: Offer) -> bool:
        """Return whether a refusal is unexplained and something can be left out."""
        if self._ways is not None:
            return isinstance(failure, BadRequest)
        return next(self.refusals.suspicions(failure, offer), None) is not None


def _passed_on(failure: LanguageModelError) -> bool:
    """Return whether a gateway reports, as a refusal, the failure of a provider behind it."""
    return isinstance(failure, BadRequest | UnknownModel) and _GATEWAY.search(str(failure)) is not None
