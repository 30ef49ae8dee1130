"""Errors of language models.

LanguageModelError
|- RequestRefused             never retried: the request or its sender is wrong
|  |- AuthenticationFailed    no key, or a wrong one
|  |- UnknownModel            the provider has no such model
|  |- BadRequest              the provider rejects the request
|  |- ContentFiltered         a content filter refuses a text; providers turn this into a refused answer
|  |- ContextOverflow         the prompt does not fit into the model's context
|- Transient                  retried, within bounds
|  |- RateLimited             429, with the provider's Retry-After if it gave one
|  |- ServerFailed            5xx, 529
|  |- ConnectionLost          no route, reset, stale connection
|  |  |- Unreachable          no connection was possible, with the reason: final before the first answer
|  |- TimedOut                over its deadline
|  |- BrokenResponse          reports success but holds no answer: HTML, broken JSON, no choices
|- UnknownPrice               a budget of money for a model with an unknown price
|- AnswerInvalid              no valid answer after all repairs: a parse failure, never an invented answer
|  |- EmptyAnswer             no answer at all, even with twice the token limit: counted separately
|- NotRecorded                a replayed episode makes a request that was not recorded

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
from quorum.agents.llm.protocol import Reply


class LanguageModelError(Exception):
    """Base of every failure of a language model. Messages never hold a key."""


class RequestRefused(LanguageModelError):
    """The provider refuses the request; retrying would not help."""


class AuthenticationFailed(RequestRefused):
    """There is no key, or the provider does not accept it."""


class UnknownModel(RequestRefused):
    """The provider has no such model."""


class BadRequest(RequestRefused):
    """The provider rejects the request.

    Attributes:
        status: HTTP status of the refusal; None if there was none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ContentFiltered(RequestRefused):
    """A content filter of the service refuses the text of the prompt or of the answer."""


class ContextOverflow(RequestRefused):
    """The prompt does not fit into the model's context, or leaves no tokens for the answer.

    Attributes:
        room: tokens left for an answer, if the provider reports it; else None.
    """

    def __init__(self, message: str, room: int | None = None) -> None:
        super().__init__(message)
        self.room = room


class Transient(LanguageModelError):
    """A failure that may pass.

    Attributes:
        retry_after: seconds that the provider asks to wait; None if it does not say.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RateLimited(Transient):
    """Too many requests.

    Attributes:
        rounds: consecutive rounds of rate limits without an answer, over all calls that share limits; None without
            shared limits.
    """

    rounds: int | None = None


class ServerFailed(Transient):
    """The provider failed."""


class ConnectionLost(Transient):
    """No connection, or it was lost."""


class Unreachable(ConnectionLost):
    """The server cannot be reached: nothing listens there, a proxy is down, a certificate is not trusted.

    Attributes:
        remedy: how to fix it; empty if no server was found, because the remedy then depends on the address.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class TimedOut(Transient):
    """No complete answer within the deadline."""


class BrokenResponse(Transient):
    """A response that reports success but holds no answer."""


class UnknownPrice(LanguageModelError):
    """A budget of money cannot be enforced because the model's price is unknown."""


class AnswerInvalid(LanguageModelError):
    """No answer matched the schema after all repairs.

    Attributes:
        reasons: why the last answer was rejected.
        reply: all answers of the call, as one reply.
    """

    def __init__(self, reasons: tuple[str, ...], reply: Reply) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons
        self.reply = reply


class EmptyAnswer(AnswerInvalid):
    """No answer at all, even with twice the token limit: only thoughts, nothing, or a refusal.

    Attributes:
        cause: why the model stopped, from `quorum.agents.llm.protocol.Finish`.
    """

    _WHY: ClassVar[Mapping[str, str]] = {
        "stop": "the model ended without an answer",
        "length": "its thoughts have used up all tokens",
        "refusal": "the model refuses",
    }

    def __init__(self, cause: str, reply: Reply) -> None:
        super().__init__((f"the answer is empty: {self._WHY[cause]}",), reply)
        self.cause = cause


class NotRecorded(LanguageModelError):
    """A replay got a request that was not recorded."""


class InfrastructureFailed(EpisodeStop):
    """The provider did not answer within the bounds on tries and waiting; the episode is not pooled with others.

    Attributes:
        attempts: HTTP requests made.
    """

    def __init__(self, message: str, attempts: int = 0) -> None:
        super().__init__(message)
        self.attempts = attempts


class ContextExceeded(EpisodeStop):
    """A mind's prompt does not fit into its model's context: the episode ends at this point.

    This is a failure of the method (LLaMAC and HMAS-2 count it as one), scored and pooled like any other.
    """

    outcome = Outcome.FAILURE


class BudgetReached(EpisodeStop):
    """The budget of the episode or of its sweep is exhausted.

    Attributes:
        kind: `usd`, `tokens` or `calls`.
        value: amount used.
        limit: the limit.
    """

    outcome = Outcome.BUDGET

    def __init__(self, kind: str, value: float, limit: float) -> None:
        super().__init__(f"{kind}: {value:g} of {limit:g} are used")
        self.kind, self.value, self.limit = kind, value, limit
