"""Removes keys from all server responses and messages before anything stores them.

Secrets are: the model's key; environment variables with KEY, TOKEN, SECRET, PASSWORD or CREDENTIAL in their names; the
passwords of addresses (`HTTP_PROXY`); and the secret headers in variables that end in `HEADERS`. A value counts as
secret if it has at least 16 characters, or at least 8 with both letters and digits. Shorter or plainer values (`EMPTY`,
`ollama`, `not-needed`) are ordinary words and stay, and so do file names.

A secret is found verbatim, escaped as in JSON (at any depth) or in addresses, in base64 (also within a longer text),
and broken across lines.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

from quorum_base.user_errors import mask_passwords

T = TypeVar("T")

REDACTED = "[key]"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SECRET_HEADER = re.compile(r"auth|key|token|secret|passw|cookie|credential|signature|session", re.IGNORECASE)
_HEADER = re.compile(r"([\w-]+)\s*[:=]\s*([^\n,]+)")
_LONG, _SHORT = 16, 8
# Both alternatives start with a literal, so that the search can skip to it.
_ESCAPE = re.compile(r"\\\\*u00([2-7][0-9a-fA-F])|%(?:25)*([2-7][0-9a-fA-F])")
_LINE_END = r"[ \t]*(?:\\+[rn]|[\r\n])+[ \t]*"
_LEFT_OUT = ("\\n", "\\r", "\\", "\n", "\r", " ", "\t")


def holds_key(header: str) -> bool:
    """Return whether a header may hold a key, judging by its name."""
    return _SECRET_HEADER.search(header) is not None


def is_secret(value: str) -> bool:
    """Return whether a value can be a key rather than an ordinary word, address or file."""
    if len(value) < _SHORT or not value.isascii() or not value.isprintable() or " " in value or "://" in value:
        return False
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return (mixed or len(value) >= _LONG) and not _is_file(value)


def _is_file(value: str) -> bool:
    try:
        return value[0] in "/~.\\" and Path(value).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return False


def named_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment's secrets, as identified by variable name, by variable."""
    named = ((name, value.strip()) for name, value in environment.items() if _SECRET_NAME.search(name))
    return {name: value for name, value in named if is_secret(value)}


def _hidden_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the secrets inside values: passwords in addresses, and headers."""
    for name, value in environment.items():
        if "://" in value and "@" in value:
            login = urlsplit(value.strip()).netloc.rpartition("@")[0]
            password = login.partition(":")[2]
            yield from filter(is_secret, {password, unquote(password)})
            if len(login) >= _SHORT:
                yield b64encode(unquote(login).encode()).decode().rstrip("=")  # of `Proxy-Authorization`
        elif name.upper().endswith("HEADERS"):
            found = (header[2].split()[-1] for header in _HEADER.finditer(value) if holds_key(header[1]))
            yield from filter(is_secret, found)


class Redaction:
    """Removes secrets from texts, alone or within data.

    Args:
        secrets: printable ASCII without whitespace.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        needles = {needle for secret in secrets for needle in _forms(secret)}
        self._needles = sorted(needles, key=len, reverse=True)
        self._plain = list(filter(None, map(_plain, self._needles)))
        self._pattern: re.Pattern[str] | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str], key: str | None = None) -> Redaction:
        """Return the redaction for an environment.

        Args:
            environment: variables and their values.
            key: the model's key, whatever its variable.
        """
        own = [key] if key is not None and is_secret(key) else []
        return cls([*own, *named_secrets(environment).values(), *_hidden_secrets(environment)])

    def __call__(self, value: T) -> T:
        """Return data with `[key]` in place of every secret in its texts, including map keys."""
        found: Any = value
        if type(found) is str:  # members of enumerations are not server text
            plain = _plain(found) if self._plain else ""
            if any(needle in plain for needle in self._plain):  # a fast check first: almost no text holds a secret
                if self._pattern is None:
                    self._pattern = re.compile("|".join(map(_pattern, self._needles)))
                found = self._pattern.sub(REDACTED, found)
        elif isinstance(found, Mapping):
            found = {self(name): self(inner) for name, inner in found.items()}
        elif isinstance(found, list | tuple):
            found = type(found)(map(self, found))
        elif is_dataclass(found) and not isinstance(found, type):
            found = replace(found, **{one.name: self(getattr(found, one.name)) for one in fields(found)})
        return cast("T", found)

    def in_bytes(self, data: bytes) -> bytes:
        """Replace every secret in bytes of any ASCII-compatible encoding with `[key]`."""
        text = data.decode("latin-1")
        clean = self(text)
        return data if clean is text else clean.encode("latin-1")


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret, and the parts of its base64 form that are the same at any position in a longer text."""
    yield secret
    for before in range(3):
        encoded = b64encode(b"\0" * before + secret.encode()).decode()
        whole = (before + len(secret)) * 4 // 3  # characters that do not depend on bytes after the secret
        core = encoded[-(-before * 4 // 3) : whole]
        yield core
        yield core.translate(_OF_ADDRESSES)


_OF_ADDRESSES = str.maketrans("+/", "-_")


def _plain(text: str) -> str:
    """Return a text without escapes, line ends, spaces and backslashes."""
    plain = _ESCAPE.sub(_unescaped, text) if _ESCAPE.search(text) else text
    for sign in _LEFT_OUT:
        plain = plain.replace(sign, "")
    return plain


def _pattern(needle: str) -> str:
    return f"(?:{_LINE_END})?".join(map(_sign, re.sub(r"\\+", r"\\", needle)))


def _sign(sign: str) -> str:
    code = f"{ord(sign):02x}"
    either = "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in code)
    escaped = "" if sign.isalnum() else r"\\*"
    itself = r"\\++" if sign == "\\" else f"{escaped}{re.escape(sign)}"  # any number: JSON doubles them
    return rf"(?:\\+u00{either}|%(?:25)*{either}|{itself})"


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1] or found[2], 16))


def redact_message(text: str) -> str:
    """Remove secrets of the environment and passwords of addresses from a message or a traceback."""
    return mask_passwords(Redaction.of(os.environ)(text))
