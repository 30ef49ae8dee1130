"""Keys are taken out of everything that comes from a server, and out of every message, before anything keeps it.

What is secret: the key of the model, and what the environment names like one: variables with KEY, TOKEN, SECRET,
PASSWORD or CREDENTIAL in their names, the passwords of addresses (`HTTP_PROXY`), and the secret headers of variables
that end in `HEADERS`. A value is a secret if it has 16 characters or more, or 8 with letters and digits among them. A
shorter or plainer one (`EMPTY`, `ollama`, `not-needed`) is an ordinary word and stays; so does the name of a file.

A secret is found as it is, escaped as in JSON (however deep) or in addresses, in base64 (also within a longer text),
and broken over lines.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from quorum_base.user_errors import mask_passwords

REDACTED = "[key]"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SECRET_HEADER = re.compile(r"auth|key|token|secret|passw|cookie|credential|signature|session", re.IGNORECASE)
_HEADER = re.compile(r"([\w-]+)\s*[:=]\s*([^\n,]+)")
_LONG, _SHORT = 16, 8
# Both alternatives begin with a literal, so that the search skips to it.
_ESCAPE = re.compile(r"\\\\*u00([2-7][0-9a-fA-F])|%(?:25)*([2-7][0-9a-fA-F])")
_LINE_END = r"[ \t]*(?:\\+[rn]|[\r\n])+[ \t]*"
_LEFT_OUT = ("\\n", "\\r", "\\", "\n", "\r", " ", "\t")


def holds_key(header: str) -> bool:
    """Return whether a header may hold a key, by its name."""
    return _SECRET_HEADER.search(header) is not None


def is_secret(value: str) -> bool:
    """Return whether a value can be a key, and no ordinary word, address or file."""
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
    """Return the secrets that an environment names as such, by the names of their variables."""
    named = ((name, value.strip()) for name, value in environment.items() if _SECRET_NAME.search(name))
    return {name: value for name, value in named if is_secret(value)}


def _hidden_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the secrets within values: passwords of addresses, and headers."""
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
    """Takes secrets out of texts.

    Args:
        secrets: printable ASCII, without blanks.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        needles = {needle for secret in secrets for needle in _forms(secret)}
        self._needles = sorted(needles, key=len, reverse=True)
        self._plain = list(filter(None, map(_plain, self._needles)))
        self._pattern: re.Pattern[str] | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str], key: str | None = None) -> Redaction:
        """Return the redaction of what an environment holds.

        Args:
            environment: variables and their values.
            key: of the model, whatever its variable is called.
        """
        own = [key] if key is not None and is_secret(key) else []
        return cls([*own, *named_secrets(environment).values(), *_hidden_secrets(environment)])

    def __call__(self, text: str) -> str:
        """Return the text with `[key]` in place of every secret."""
        if not self._plain or not self._suspects(text):
            return text
        if self._pattern is None:
            self._pattern = re.compile("|".join(map(_pattern, self._needles)))
        return self._pattern.sub(REDACTED, text)

    def _suspects(self, text: str) -> bool:
        """Return whether a text may hold a secret, with the speed of plain searches: almost none does."""
        plain = _plain(text)
        return any(needle in plain for needle in self._plain)

    def in_bytes(self, data: bytes) -> bytes:
        """Return bytes of any encoding that has ASCII within it with `[key]` in place of every secret."""
        text = data.decode("latin-1")
        clean = self(text)
        return data if clean is text else clean.encode("latin-1")

    def everywhere(self, value: Any) -> Any:
        """Return data with `[key]` in place of every secret in its texts, keys of maps included."""
        if type(value) is str:  # a member of an enumeration is none of a server's texts
            return self(value)
        if isinstance(value, Mapping):
            return {self.everywhere(name): self.everywhere(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self.everywhere, value))
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{one.name: self.everywhere(getattr(value, one.name)) for one in fields(value)})
        return value


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret, and what of its base64 is the same wherever it stands in a longer text."""
    yield secret
    for before in range(3):
        encoded = b64encode(b"\0" * before + secret.encode()).decode()
        whole = (before + len(secret)) * 4 // 3  # characters that no byte after the secret changes
        core = encoded[-(-before * 4 // 3) : whole]
        yield core
        yield core.translate(_OF_ADDRESSES)


_OF_ADDRESSES = str.maketrans("+/", "-_")


def _plain(text: str) -> str:
    """Return a text without escapes, line ends, blanks and backslashes."""
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
    """Take secrets of the environment and passwords of addresses out of a message or a traceback."""
    return mask_passwords(Redaction.of(os.environ)(text))
