"""Interprets failures of servers and SDKs, and holds API keys."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from quorum.agents.llm.errors import (
    AuthenticationFailed,
    BadRequest,
    ConnectionLost,
    ContentFiltered,
    ContextOverflow,
    LanguageModelError,
    RateLimited,
    RequestRefused,
    ServerFailed,
    TimedOut,
    UnknownModel,
)
from quorum.agents.llm.redaction import Redaction
from quorum.agents.llm.tables import wordings


def _worded(name: str) -> re.Pattern[str]:
    """Return the pattern that finds a fact's wordings in a text."""
    said = wordings(name)
    return re.compile(said if isinstance(said, str) else "|".join(said), re.IGNORECASE | re.DOTALL)


_OVERFLOW, _CREDIT, _BEYOND, _DAILY = map(_worded, ("overflow", "credit", "beyond", "daily"))
_FILTERED, _REGION, _NO_ACCESS = map(_worded, ("filtered", "region", "no_access"))
_LIMIT_AND_REQUEST = re.compile(r"\blimit (\d+)\b.*?\brequested (\d+)\b", re.IGNORECASE | re.DOTALL)
"""OpenAI, Groq: "Limit 30000, Used 20000, Requested 15000"."""
_ROOM = [re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in wordings("room")]
_LONGEST = re.compile("|".join(wordings("longest")), re.IGNORECASE)


def room_for_answer(text: str) -> int | None:
    """Return the tokens left for the answer, if a refusal reports them; 0 or less means none.

    Args:
        text: the server's message.
    """
    for pattern in _ROOM:
        if found := pattern.search(text):
            counts = {name: int(number) for name, number in found.groupdict().items()}
            prompt = counts["prompt"] if "prompt" in counts else counts["all"] - counts["answer"]
            return counts["context"] - prompt
    return None


def longest_answer(text: str) -> int | None:
    """Return a model's maximum answer length in tokens, if the refusal of a longer one reports it.

    Args:
        text: the server's message.
    """
    found = _LONGEST.search(text)
    return None if found is None else int(next(number for number in found.groups() if number))


_PLACEHOLDER = "not-needed"


class Key:
    """An API key. Its text form names the variable, never the key.

    Args:
        variable: environment variable of the key; None for servers without keys.

    Raises:
        AuthenticationFailed: the variable is not set, or its value cannot be a key.
    """

    __slots__ = ("_value", "variable")

    def __init__(self, variable: str | None) -> None:
        self.variable = variable
        self._value: str | None = None
        if variable is not None:
            self._value = os.environ.get(variable, "").strip()
            if not self._value:
                raise AuthenticationFailed(f"no key: set the environment variable {variable}")
            if not (self._value.isascii() and self._value.isprintable()):
                raise AuthenticationFailed(f"the key in {variable} contains characters that no key has")

    def __repr__(self) -> str:
        return f"Key({self.variable})"

    def reveal(self) -> str:
        """Return the key itself, for the SDK only; a placeholder if none is needed."""
        return _PLACEHOLDER if self._value is None else self._value

    def redaction(self) -> Redaction:
        """Return a redaction that removes this key and all secrets of the environment."""
        return Redaction.of(os.environ, self._value)


LONGEST_TEXT = 500
_TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "anyio"})
_NO_SUCH_MODEL = re.compile(r"model.*(not found|does not exist|not a valid model|not exist)", re.IGNORECASE | re.DOTALL)


def readable(text: str) -> str:
    """Return untrusted text as one short line of printable characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * LONGEST_TEXT]).split())
    return line if len(line) <= LONGEST_TEXT else line[:LONGEST_TEXT] + " [...]"


def error_text(body: Any, message: str) -> tuple[str, str]:
    """Return the text and the code of an error in a response body.

    Args:
        body: the body from the SDK: decoded JSON, text or None.
        message: the SDK's message, used if the body is empty.
    """
    inner = _inner(body)
    if isinstance(inner, Mapping):
        text = _text_of(inner.get("message") or inner.get("detail") or inner.get("error")) or message
        parameter = inner.get("param")
        if parameter and str(parameter) not in text:
            text += f" (parameter {parameter})"
        metadata = inner.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("raw"):  # OpenRouter: the message of the upstream provider
            text += f" ({metadata['raw']})"
        text += "".join(f" (quota {quota})" for quota in _quotas(inner.get("details")))
        codes = (inner.get("code"), inner.get("type"), inner.get("status"), _inner_code(inner))
        return _named_page(text), " ".join(dict.fromkeys(str(code) for code in codes if code))
    return _named_page((inner or message) if isinstance(inner, str) else message), ""


_A_PAGE = "a page of HTML"
_PAGE = re.compile(r"\s*<(!doctype|html|head|body)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})</title>", re.IGNORECASE)


def _named_page(text: str) -> str:
    """Return the title of an HTML page; other text unchanged."""
    if not _PAGE.match(text):
        return text
    title = _TITLE.search(text)
    return _A_PAGE if title is None else f"{_A_PAGE}: {title[1].strip()}"


def _inner(body: Any) -> Any:
    """Return the innermost error of a body: gateways nest errors as objects, in lists or as JSON text."""
    while (found := _within(body)) is not None:
        body = found
    return body


def _within(body: Any) -> Any:
    """Return the error nested in another one; None if there is none."""
    if isinstance(body, list):  # Gemini, in OpenAI's format
        return body[0] if len(body) == 1 else None
    if not isinstance(body, Mapping):
        return _json_error(body)
    error = body.get("error")
    if isinstance(error, Mapping | list) and error:
        return error
    if isinstance(error, str) and error and not body.get("message"):
        return error
    return _json_error(body.get("message"))


def _json_error(text: Any) -> Mapping[str, Any] | None:
    """Return the object in a JSON text if it holds an error."""
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        found = orjson.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, Mapping) and ("error" in found or "message" in found) else None


def _inner_code(inner: Mapping[str, Any]) -> str:
    """Return the nested code: Azure reports `content_filter` and, inside it, `ResponsibleAIPolicyViolation`."""
    found = inner.get("innererror")
    return str(found.get("code", "")) if isinstance(found, Mapping) else ""


def _quotas(details: Any) -> list[str]:
    """Return the quota names in a Google error: some are per minute, some per day."""
    violations = [
        violation
        for detail in (details if isinstance(details, list) else ())
        if isinstance(detail, Mapping) and isinstance(detail.get("violations"), list)
        for violation in detail["violations"]
    ]
    return [str(v["quotaId"])[:100] for v in violations if isinstance(v, Mapping) and v.get("quotaId")]


def _text_of(said: Any) -> str:
    """Return an error's message as text: FastAPI sends a list of places and messages, some of them nested."""
    if isinstance(said, Mapping):
        inner = said.get("detail") or said.get("message") or said.get("msg")
        place = said.get("loc")
        where = ".".join(map(str, place)) + ": " if isinstance(place, list | tuple) else ""
        return where + (_text_of(inner) if inner else str(dict(said)))
    if isinstance(said, list | tuple):
        return "; ".join(map(_text_of, said))
    return str(said) if said else ""


_STATUSES = (
    (402, _CREDIT),
    (429, re.compile(r"rate_?limit|resource_exhausted|too_many_requests", re.IGNORECASE)),
    (401, re.compile(r"authentication|invalid_api_key|unauthori[sz]ed|unauthenticated", re.IGNORECASE)),
    (403, re.compile(r"permission|forbidden", re.IGNORECASE)),
    (404, re.compile(r"not_?found", re.IGNORECASE)),
    (529, re.compile(r"overloaded|unavailable", re.IGNORECASE)),
    (504, re.compile(r"timeout|deadline_exceeded", re.IGNORECASE)),
    (400, re.compile(r"invalid|bad_?request|failed_precondition|filter|unprocessable|not_supported", re.IGNORECASE)),
)
"""HTTP status by the error names of OpenAI, Anthropic and Google."""
_FAULT = 500
"""Status of an error with an unknown name."""


def error_status(error: Any) -> int:
    """Return the HTTP status of an error in a successful response: its own code, else the status of its name.

    Args:
        error: the error in the body: an object or a text, possibly nested.
    """
    names: list[str] = []
    while error is not None:
        if isinstance(error, Mapping):
            names[:0] = [str(error[key]) for key in ("code", "status", "status_code", "type") if error.get(key)]
        error = _within(error)
    for name in names:
        if name.isdecimal() and 400 <= int(name[:4]) < 600:
            return int(name)
    return next((status for status, words in _STATUSES for name in names if words.search(name)), _FAULT)


def status_failure(
    status: int, text: str, *, code: str, wait: float | None, model: str, variable: str | None
) -> LanguageModelError:
    """Return our error for a refusal, by its message first, then by its HTTP status.

    Args:
        status: HTTP status of 300 or more.
        text: the provider's message, redacted and readable.
        code: the provider's own error code.
        wait: seconds that the provider asks to wait.
        model: the requested model.
        variable: environment variable of the key.
    """
    said = f"HTTP {status}: {text}"
    if status < 500 and (found := _worded_failure(status, said, f"{code} {text}", wait)) is not None:
        return found
    if status == 429:
        return RateLimited(said, wait)
    if _OVERFLOW.search(code) or _OVERFLOW.search(text):
        return ContextOverflow(said, room_for_answer(text))
    if text.startswith(_A_PAGE) and status in _OF_OTHERS:
        return RequestRefused(f"a proxy or firewall on the way answers instead of the server ({said})")
    if status in {401, 403} and _NO_ACCESS.search(f"{code} {text}"):
        return UnknownModel(f"the key may not use the model '{model}' ({said})")
    if status in {401, 403}:
        key = f"the key in {variable} is" if variable else "the key is missing or"
        return AuthenticationFailed(f"{key} not accepted ({said})")
    if status == 407:
        return RequestRefused(f"the proxy requires a user name and a password ({said})")
    if status == 408:
        return TimedOut(said, wait)
    if status in {409, 425} or status >= 500:
        return ServerFailed(said, wait)
    if status == 404 and "model" not in text.lower():
        return BadRequest(f"nothing answers at this address: is base_url right? ({said})", status)
    if status == 404 or _NO_SUCH_MODEL.search(text):
        return UnknownModel(f"the provider has no model '{model}' ({said})")
    return BadRequest(said, status)


_OF_OTHERS = frozenset({401, 403, 405, 406, 407, 451, 511})
"""Statuses with which firewalls, proxies and captive portals send their own pages."""


def _worded_failure(status: int, said: str, text: str, wait: float | None) -> LanguageModelError | None:
    """Return our error for a refusal's wording, whatever its status; None if the wording is inconclusive."""
    if status == 402 or _CREDIT.search(text):
        return RequestRefused(f"the account has no credit left ({said})")
    if status in {413, 429} and _is_beyond(text, wait):
        return RequestRefused(f"waiting does not help against this limit ({said})")
    if status not in {401, 404, 429} and _FILTERED.search(text):
        return ContentFiltered(said)
    if status in {400, 403, 451} and _REGION.search(text):
        return RequestRefused(f"the service is not offered where this request comes from ({said})")
    return None


def _is_beyond(text: str, wait: float | None) -> bool:
    """Return whether a request can never fit its rate limit, or not today."""
    if _BEYOND.search(text) or (wait is None and _DAILY.search(text)):
        return True
    found = _LIMIT_AND_REQUEST.search(text)
    return found is not None and int(found[2][:15]) > int(found[1][:15])


def is_transport_failure(error: BaseException) -> bool:
    """Return whether an exception comes from the network below the SDK."""
    return isinstance(error, OSError) or _package(error) in _TRANSPORTS


def own_failure(error: BaseException) -> LanguageModelError | None:
    """Return our own failure inside an SDK's exception, if there is one."""
    return next((cause for cause in _causes(error) if isinstance(cause, LanguageModelError)), None)


def is_timeout(error: BaseException) -> bool:
    """Return whether an SDK's time-out is one: OpenAI's aiohttp transport uses the same name for lost connections."""
    return not any(_package(cause) == "aiohttp" and not isinstance(cause, TimeoutError) for cause in _causes(error))


def connection_failure(error: BaseException) -> ConnectionLost:
    """Describe what broke a connection, without the exception's own text, which may hold headers."""
    *_, origin = (cause for cause in _causes(error) if cause is error or _package(cause) in _TRANSPORTS)
    return ConnectionLost(f"no connection, or it was lost ({type(origin).__name__})")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Return an exception and its causes, the deepest last."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _package(error: BaseException) -> str:
    return type(error).__module__.partition(".")[0]
