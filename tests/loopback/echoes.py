"""A hostile server: it repeats the key that it was sent in every field and header of what it answers."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_KEY_HEADERS = (b"authorization", b"x-api-key", b"x-goog-api-key", b"api-key")
_PLAIN = {
    "model", "modelVersion", "system_fingerprint", "message", "detail", "refusal", "reasoning", "reasoning_content",
    "thinking", "responseId", "request_id", "param", "code", "display_name", "title", "summary",
}  # fmt: skip
"""Fields of all formats that hold any text."""
_ANSWERS = ("content", "text", "arguments")
"""Fields that hold the answer, which stays one of its form."""
STATUSES = {3: 429, 5: 500, 7: 0, 9: 529}
"""By the number of the request, what goes wrong; 0: a success with half of its JSON."""


def escaped(text: str) -> str:
    """Write a text of ASCII with every character as JSON escapes it."""
    return "".join(f"\\u{ord(sign):04X}" for sign in text)


def percent(text: str) -> str:
    """Write a text of ASCII with every character as addresses escape it."""
    return "".join(f"%{ord(sign):02x}" for sign in text)


FORMS: tuple[Callable[[str], str], ...] = (
    lambda key: key,
    lambda key: quote(f"{key}/", safe=""),
    lambda key: b64encode(f"Bearer {key}".encode()).decode(),
    lambda key: b64encode(f"user:{key}".encode()).decode(),
    lambda key: f"{key[:9]}\n{key[9:]}",
    escaped,
    percent,
)
"""How a key is repeated."""


def found_in(data: bytes, key: str) -> list[str]:
    """Return the forms of a key that bytes hold."""
    text = data.decode("latin-1")
    cores = {f"base64 {before}": _core(key, before) for before in range(3)}
    forms = {"plain": key, "quoted": quote(key, safe=""), "escaped": escaped(key), "percent": percent(key), **cores}
    joined = text.replace("\\n", "").replace("\n", "").replace("\\", "")
    return [name for name, form in forms.items() if form.lower() in text.lower() or form in joined]


def _core(key: str, before: int) -> str:
    encoded = b64encode(b"\0" * before + key.encode()).decode()
    return encoded[4 if before else 0 :][: len(key) * 4 // 3 - 6]


@dataclass
class Echo:
    """Middleware that spoils the answers of a server.

    Attributes:
        inner: the server.
        statuses: by the number of a request, the status with which it is refused; 0 for broken JSON.
        seen: the headers of all requests.
        repeated: how many answers held a key.
    """

    inner: ASGIApp
    statuses: Callable[[int], int | None] = STATUSES.get
    seen: list[dict[str, str]] = field(default_factory=list)
    repeated: int = 0
    _number: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        number, self._number = self._number, self._number + 1
        self.seen.append({name.decode(): value.decode("latin-1") for name, value in scope["headers"]})
        key = _sent(scope)
        arrived: list[Message] = []
        body = b""

        async def keep(message: Message) -> None:
            nonlocal body
            arrived.append(message)
            body += message.get("body", b"")
            if key is not None and not message.get("more_body", False) and message["type"].endswith("body"):
                await self._answer(arrived[0], body, key, number, send)
            elif key is None:
                await send(message)

        await self.inner(scope, receive, keep)

    async def _answer(self, start: Message, body: bytes, key: str, number: int, send: Send) -> None:
        self.repeated += 1
        form = FORMS[number % len(FORMS)](key)
        planned = self.statuses(number)
        status = start["status"] if planned is None else planned
        if status >= 400 and start["status"] < 400:
            said = f"Rate limit reached for {form} in organization {key}: try again in 10ms."
            error = {"message": said, "type": f"error {form}", "code": form, "param": form, "status": form}
            body = orjson.dumps({"type": "error", "error": error, "detail": form})
        lines = [_spoiled(line, form, key) for line in body.split(b"\n")]
        body = b"\n".join(lines)
        if status == 0:
            status, body = 200, body[: len(body) // 2] + key.encode()
        kept = [(name, value) for name, value in start["headers"] if name == b"content-type"]
        named = [b"x-request-id", b"request-id", b"x-ratelimit-reset", b"openai-organization", b"x-gemini-service-tier"]
        extra = [(name, quote(form, safe="%+/=").encode()) for name in named] + [(b"retry-after-ms", b"1")]
        headers = [*kept, *extra, (b"content-length", str(len(body)).encode())]
        await send({**start, "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _sent(scope: Scope) -> str | None:
    values = [value.decode().removeprefix("Bearer ") for name, value in scope["headers"] if name in _KEY_HEADERS]
    return next(iter([*values, *parse_qs(scope["query_string"].decode()).get("key", [])]), None)


def _spoiled(line: bytes, form: str, key: str) -> bytes:
    try:
        value = orjson.loads(line)
    except ValueError:
        return line
    if not isinstance(value, dict):
        return line
    spoiled = {**_repeating(value, form), "echo": {form: [form, key]}}
    return orjson.dumps(spoiled).replace(key.encode(), escaped(key).encode() if "\\u" in form else key.encode())


def _repeating(value: Any, form: str, name: str = "") -> Any:
    """Return a response with a form of the key in its texts."""
    if isinstance(value, Mapping):
        return {inner: _repeating(one, form, inner) for inner, one in value.items()}
    if isinstance(value, list):
        return [_repeating(one, form, name) for one in value]
    if isinstance(value, str) and name in _PLAIN:
        return f"{value} {form}"
    if isinstance(value, str) and name in _ANSWERS:
        try:
            answer = orjson.loads(value)
        except ValueError:
            return value
        return orjson.dumps(_in_answer(answer, form)).decode() if isinstance(answer, dict) else value
    return value


def _in_answer(answer: Any, form: str, name: str = "") -> Any:
    if isinstance(answer, dict):
        return {inner: _in_answer(one, form, inner) for inner, one in answer.items()}
    if isinstance(answer, list):
        return [_in_answer(one, form, name) for one in answer]
    free = isinstance(answer, str) and name in ("thoughts", "text", "mood", "reason", "message")
    return f"{answer} {form}" if free else answer
