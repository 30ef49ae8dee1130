"""What of a request is sent: what the configuration chooses, less what the server is known to refuse."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from quorum.agents.llm.errors import BadRequest, LanguageModelError, ServerFailed


class Structured(StrEnum):
    """How the form of an answer is asked for.

    `AUTO` begins with `SCHEMA` and remembers what the server refuses.
    """

    AUTO = "auto"
    SCHEMA = "schema"
    TOOLS = "tools"
    PROMPT = "prompt"


class MaxTokensKey(StrEnum):
    """What the longest answer is called in OpenAI's format. `AUTO` takes the other name where one is refused."""

    AUTO = "auto"
    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


@dataclass(frozen=True, slots=True)
class Offer:
    """What of a request is sent, given what the server is known to refuse.

    Attributes:
        structured: how the form is asked for; None for free text.
        temperature: None is not sent.
        seed: None is not sent.
        max_tokens_key: what the longest answer is called.
    """

    structured: Structured | None
    temperature: float | None
    seed: int | None
    max_tokens_key: MaxTokensKey


_FORMS = (Structured.SCHEMA, Structured.TOOLS, Structured.PROMPT)
_NAMED = {
    Structured.SCHEMA: re.compile(
        r"schema|grammar|sampler|response.?format|output_config|output_format|structured|guided", re.IGNORECASE
    ),
    Structured.TOOLS: re.compile(r"tool|function|schema|grammar|sampler|template", re.IGNORECASE),
}
_NOT_TAKEN = re.compile(
    r"unsupported|not support|deprecated|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|extra",
    re.IGNORECASE,
)
_OTHER_CAUSE = re.compile(
    r"too long|too large|context|prompt|message|content|image|policy|safety|billing|credit|max\w*.?tokens|temperature"
    r"|service.?tier|flex",
    re.IGNORECASE,
)
_STATUSES_OF_REFUSALS = frozenset({400, 422})


class Refusals:
    """What one server refuses, as its answers have shown.

    Args:
        structured: how the form of an answer is asked for.
        max_tokens_key: what the longest answer is called first; the other name is tried only if `rename` allows it.
        rename: whether the other name may be tried.
    """

    def __init__(self, structured: Structured, max_tokens_key: MaxTokensKey, *, rename: bool) -> None:
        self._structured = structured
        self._key = max_tokens_key
        self._rename = rename
        self._known: set[str] = set()

    def add(self, *names: str) -> None:
        """Remember that the server does not take something."""
        self._known.update(names)

    def offer(
        self, *, form: bool, temperature: float | None, seed: int | None, suspected: frozenset[Structured]
    ) -> Offer:
        """Return what is sent.

        Args:
            form: whether the answer has a form.
            temperature: as it is wanted.
            seed: as it is wanted.
            suspected: ways to ask for the form that are left out this once.
        """
        structured = self._structured if form else None
        if structured is Structured.AUTO:
            structured = next(way for way in _FORMS if way not in self._known | suspected)
        key = self._key
        if key in self._known:
            key = next(name for name in MaxTokensKey if name not in (MaxTokensKey.AUTO, self._key))
        return Offer(
            structured,
            None if "temperature" in self._known else temperature,
            None if "seed" in self._known else seed,
            key,
        )

    def learn(self, failure: LanguageModelError, offer: Offer) -> bool:
        """Remember what a failure names as refused; tell whether asking again without it makes sense.

        A server that cannot make a grammar of a schema says so with 400, 422 or 500, in words of its own.
        """
        said = str(failure)
        if isinstance(failure, BadRequest) and _NOT_TAKEN.search(said):
            sent: dict[str, object] = {"temperature": offer.temperature, "seed": offer.seed}
            if self._rename and self._key not in self._known:
                sent[offer.max_tokens_key] = True
            named = next((name for name, value in sent.items() if value is not None and name in said), None)
            if named is not None:
                self.add(named)
                return True
        form = self._form_that_may_go(offer)
        if form is not None and isinstance(failure, BadRequest | ServerFailed) and _NAMED[form].search(said):
            self.add(form)
            return True
        return False

    def suspects(self, failure: LanguageModelError, offer: Offer) -> Structured | None:
        """Return the way to ask for the form that an unexplained refusal may be about; None where it says what else.

        Whether it was that, the next try shows: what is taken without it was refused for it.
        """
        if not isinstance(failure, BadRequest) or failure.status not in _STATUSES_OF_REFUSALS:
            return None
        return None if _OTHER_CAUSE.search(str(failure)) else self._form_that_may_go(offer)

    def _form_that_may_go(self, offer: Offer) -> Structured | None:
        return offer.structured if self._structured is Structured.AUTO and offer.structured in _NAMED else None
