"""What can go wrong with a language model.

LanguageModelError
|- Refused                    never retried: the request or its sender is wrong
|  |- AuthenticationFailed    no key, or a wrong one
|  |- UnknownModel            the provider has no such model
|  |- BadRequest              the provider does not take the request
|  |- ContentFiltered         the service refuses a text for what it says: a provider makes a refused answer of it
|  |- ContextOverflow         the prompt does not fit into the model's context
|- Transient                  retried, within bounds
|  |- RateLimited             429, with the provider's Retry-After if it gave one
|  |- ServerFailed            5xx, 529
|  |- ConnectionLost          no route, reset, stale connection
|  |  |- Unreachable          there was no connection yet, and why there can be none: final before the first answer
|  |- TimedOut                over its deadline
|  |- BrokenResponse          a success that holds no answer: HTML, broken JSON, no choices
|- UnknownPrice             a budget of money for a model whose price is not known
|- AnswerInvalid              no valid answer after all repairs: a parse failure, never a made-up answer
|  |- EmptyAnswer             no answer at all, also with twice the room: counted apart
|- NotRecorded                a replayed episode asks what was not recorded

Episode stops (`maeil.errors.EpisodeStop`), which end the episode with a labelled outcome:
InfrastructureFailed          the bound on tries or on waiting is reached: `error`
ContextExceeded               a prompt does not fit into the model's context: `failure`
BudgetReached                 money, tokens or calls are used up: `budget`
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from maeil.errors import EpisodeStop
from maeil.outcomes import Outcome


class LanguageModelError(Exception):
    """Base of every failure of a language model. Messages never hold a key."""


class RequestRefused(LanguageModelError):
    """The provider refuses the request; asking again would not help."""


class AuthenticationFailed(RequestRefused):
    """There is no key, or the provider does not accept it."""


class UnknownModel(RequestRefused):
    """The provider has no such model."""


class BadRequest(RequestRefused):
    """The provider does not take the request.

    Attributes:
        status: HTTP status of the refusal; None where there was none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ContentFiltered(RequestRefused):
    """A filter of the service refuses the text of the prompt or of the answer."""


class ContextOverflow(RequestRefused):
    """The prompt does not fit into the model's context, or leaves no room there for the answer.

    Attributes:
        room: tokens that the context leaves for an answer, where the provider reports it; None where it does not.
    """

    def __init__(self, message: str, room: int | None = None) -> None:
        super().__init__(message)
        self.room = room


class Transient(LanguageModelError):
    """A failure that may pass.

    Attributes:
        retry_after: seconds that the provider asks to wait; None when it does not say.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RateLimited(Transient):
    """Too many requests.

    Attributes:
        rounds: rounds of rate limits without an answer between them, of all calls that share its limits; None where
            nothing is shared.
    """

    rounds: int | None = None


class ServerFailed(Transient):
    """The provider failed."""


class ConnectionLost(Transient):
    """No connection, or it was lost."""


class Unreachable(ConnectionLost):
    """There is no way to the server: nothing listens there, a proxy is dead, a certificate is not trusted.

    Attributes:
        remedy: what to do about it; empty where no server was found, which depends on the address.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class TimedOut(Transient):
    """No whole answer within the deadline."""


class BrokenResponse(Transient):
    """A response that says success and holds no answer."""


class UnknownPrice(LanguageModelError):
    """A budget of money cannot be kept: the price of the model is not known."""


class AnswerInvalid(LanguageModelError):
    """No answer of the wanted form came after all repairs.

    Attributes:
        reasons: why the last answer was refused.
        record: the call as a JSON-ready record, for the trace.
    """

    def __init__(self, reasons: tuple[str, ...], completion_tokens: int, record: dict[str, object]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons
        self.completion_tokens = completion_tokens
        self.record = record


class EmptyAnswer(AnswerInvalid):
    """No answer came at all, not with twice the room either: only thoughts, nothing, or a refusal.

    Attributes:
        cause: why the model ended, of `quorum.agents.llm.protocol.Finish`.
    """

    _WHY: ClassVar[Mapping[str, str]] = {
        "stop": "the model ended without an answer",
        "length": "its thoughts have used up all tokens",
        "refusal": "the model refuses",
    }

    def __init__(self, cause: str, completion_tokens: int, record: dict[str, object]) -> None:
        super().__init__((f"the answer is empty: {self._WHY[cause]}",), completion_tokens, record)
        self.cause = cause


class NotRecorded(LanguageModelError):
    """A replay was asked for a call that was not recorded."""


class InfrastructureFailed(EpisodeStop):
    """The provider did not answer within the bounds on tries and waiting; such an episode is not pooled with others.

    Attributes:
        attempts: HTTP requests that were made.
    """

    def __init__(self, message: str, attempts: int = 0) -> None:
        super().__init__(message)
        self.attempts = attempts


class ContextExceeded(EpisodeStop):
    """A mind's prompt does not fit into the context of its model: the episode ends where it stands.

    It is a failure of the method (LLaMAC and HMAS-2 count it as one), scored and pooled like any other.
    """

    outcome = Outcome.FAILURE


class BudgetReached(EpisodeStop):
    """The budget of the episode, or of its sweep, is used up.

    Attributes:
        kind: `usd`, `tokens` or `calls`.
        value: what has been used.
        limit: what was allowed.
    """

    outcome = Outcome.BUDGET

    def __init__(self, kind: str, value: float, limit: float) -> None:
        super().__init__(f"{kind}: {value:g} of {limit:g} are used")
        self.kind, self.value, self.limit = kind, value, limit
