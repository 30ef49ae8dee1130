"""What the failures of a server or an SDK mean, and the API keys that no message may show."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from maeil.user_errors import mask_passwords
from quorum.agents.llm.errors import (
    AuthenticationFailed,
    BadRequest,
    ConnectionLost,
    ContextOverflow,
    LanguageModelError,
    RateLimited,
    RequestRefused,
    ServerFailed,
    TimedOut,
    UnknownModel,
)
from quorum.agents.llm.tables import wordings

_OVERFLOW = re.compile("|".join(wordings("overflow")), re.IGNORECASE | re.DOTALL)
_ROOM = [re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in wordings("room")]
_LONGEST = re.compile("|".join(wordings("longest")), re.IGNORECASE)


def room_for_answer(text: str) -> int | None:
    """Return how many tokens the context leaves for the answer, where a refusal reports it; 0 or less is none.

    Args:
        text: what the server says.
    """
    for pattern in _ROOM:
        if found := pattern.search(text):
            counts = {name: int(number) for name, number in found.groupdict().items()}
            prompt = counts["prompt"] if "prompt" in counts else counts["all"] - counts["answer"]
            return counts["context"] - prompt
    return None


def longest_answer(text: str) -> int | None:
    """Return how many tokens the longest answer of a model has, where a refusal of a longer one reports it.

    Args:
        text: what the server says.
    """
    found = _LONGEST.search(text)
    return None if found is None else int(next(number for number in found.groups() if number))


REDACTED = "[key]"
_PLACEHOLDER = "not-needed"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_SHORTEST_SECRET = 8


class Key:
    """An API key. Its text form names the variable, never the key.

    Args:
        variable: the environment variable that holds the key; None for a server that needs none.

    Raises:
        AuthenticationFailed: the variable is not set, or holds what no key can be.
    """

    __slots__ = ("_secrets", "_value", "variable")

    def __init__(self, variable: str | None) -> None:
        self.variable = variable
        self._value: str | None = None
        if variable is not None:
            self._value = os.environ.get(variable, "").strip()
            if not self._value:
                raise AuthenticationFailed(f"no key: set the environment variable {variable}")
            if not (self._value.isascii() and self._value.isprintable()):
                raise AuthenticationFailed(f"the key in {variable} holds characters that no key has")
        secrets = {value.strip() for name, value in os.environ.items() if _SECRET_NAME.search(name)}
        self._secrets = sorted((s for s in secrets if len(s) >= _SHORTEST_SECRET), key=len, reverse=True)

    def __repr__(self) -> str:
        return f"Key({self.variable})"

    def reveal(self) -> str:
        """Return the key itself, for the SDK alone; a placeholder where none is needed."""
        return _PLACEHOLDER if self._value is None else self._value

    def redact(self, text: str) -> str:
        """Take this key, passwords of addresses and what the environment names like a secret out of an error text."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return mask_passwords(self.redact_own(text))

    def redact_own(self, text: str) -> str:
        """Take this key out of an answer; what is shorter than a key (`EMPTY`) is left, for it may be a word."""
        if self._value is not None and len(self._value) >= _SHORTEST_SECRET:
            return text.replace(self._value, REDACTED)
        return text


LONGEST_TEXT = 500
_TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "anyio"})
_NO_SUCH_MODEL = re.compile(r"model.*(not found|does not exist|not a valid model|not exist)", re.IGNORECASE | re.DOTALL)


def readable(text: str) -> str:
    """Return untrusted text as one short line of printable characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * LONGEST_TEXT]).split())
    return line if len(line) <= LONGEST_TEXT else line[:LONGEST_TEXT] + " [...]"


def error_text(body: Any, message: str) -> tuple[str, str]:
    """Find the text and the code of an error in the body of a response.

    Args:
        body: the body as the SDK gives it: decoded JSON, text or None.
        message: what the SDK says, where the body holds nothing.
    """
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(inner, Mapping):
        text = _text_of(inner.get("message") or inner.get("detail")) or message
        parameter = inner.get("param")
        if parameter and str(parameter) not in text:
            text += f" (parameter {parameter})"
        metadata = inner.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("raw"):  # OpenRouter: what the provider behind it has said
            text += f" ({metadata['raw']})"
        return text, str(inner.get("code") or inner.get("type") or "")
    return (inner or message) if isinstance(inner, str) else message, ""


def _text_of(said: Any) -> str:
    """Write what an error says as text: FastAPI says it as a list of places and messages, some within one another."""
    if isinstance(said, Mapping):
        inner = said.get("detail") or said.get("message") or said.get("msg")
        place = said.get("loc")
        where = ".".join(map(str, place)) + ": " if isinstance(place, list | tuple) else ""
        return where + (_text_of(inner) if inner else str(dict(said)))
    if isinstance(said, list | tuple):
        return "; ".join(map(_text_of, said))
    return str(said) if said else ""


def retry_after(headers: Mapping[str, str] | None) -> float | None:
    """Read how many seconds a provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    if headers is None:
        return None
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        else:
            seconds = float(headers["retry-after"])
    except KeyError:
        return None
    except ValueError:
        try:
            seconds = parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time()
        except (KeyError, ValueError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def status_failure(
    status: int, text: str, *, code: str, wait: float | None, model: str, variable: str | None
) -> LanguageModelError:
    """Return the error that an HTTP status means.

    Args:
        status: HTTP status of 300 or more.
        text: what the provider says, redacted and readable.
        code: the provider's own code of the error.
        wait: seconds that the provider asks to wait.
        model: the model that was asked.
        variable: the environment variable of the key.
    """
    said = f"HTTP {status}: {text}"
    if status in {401, 403}:
        return AuthenticationFailed(f"the key in {variable or 'the environment'} is not accepted ({said})")
    if status == 402 or "insufficient_quota" in code + text:
        return RequestRefused(f"the account has no credit left ({said})")
    if status == 408:
        return TimedOut(said, wait)
    if status == 429:
        return RateLimited(said, wait)
    if _OVERFLOW.search(code) or _OVERFLOW.search(text):
        return ContextOverflow(said, room_for_answer(text))
    if status in {409, 425} or status >= 500:
        return ServerFailed(said, wait)
    if status == 404 and "model" not in text.lower():
        return BadRequest(f"nothing answers at this address: is base_url right? ({said})", status)
    if status == 404 or _NO_SUCH_MODEL.search(text):
        return UnknownModel(f"the provider has no model '{model}' ({said})")
    return BadRequest(said, status)


def is_transport_failure(error: BaseException) -> bool:
    """Return whether an exception comes from the network below the SDK."""
    return isinstance(error, OSError) or _package(error) in _TRANSPORTS


def own_failure(error: BaseException) -> LanguageModelError | None:
    """Return the failure of ours that an SDK has wrapped in its own, if there is one."""
    return next((cause for cause in _causes(error) if isinstance(cause, LanguageModelError)), None)


def is_timeout(error: BaseException) -> bool:
    """Return whether a time-out of an SDK is one: OpenAI's way to aiohttp gives lost connections the same name."""
    return not any(_package(cause) == "aiohttp" and not isinstance(cause, TimeoutError) for cause in _causes(error))


def connection_failure(error: BaseException) -> ConnectionLost:
    """Name what broke a connection; its own text stays out, for it may hold headers."""
    *_, origin = (cause for cause in _causes(error) if cause is error or _package(cause) in _TRANSPORTS)
    return ConnectionLost(f"no connection, or it was lost ({type(origin).__name__})")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Return an exception and what caused it, the deepest last."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _package(error: BaseException) -> str:
    return type(error).__module__.partition(".")[0]
