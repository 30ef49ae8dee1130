"""API keys: read from the environment, shown nowhere."""

from __future__ import annotations

import os
import re

from maeil.user_errors import mask_passwords
from quorum.agents.llm.errors import AuthenticationFailed

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
