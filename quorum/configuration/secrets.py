"""Keys have no place in a configuration: it stands in `config.yaml`, `meta.json`, tables and the names of folders.

A key comes from the environment, and a configuration holds the name of its variable (`llm.api_key_env`). So nothing
that a configuration holds is read from the environment, and no value that is a key is taken, however it came there. No
message shows one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from quorum.agents.llm.redaction import named_secrets
from quorum.configuration.leaves import texts
from quorum_base.user_errors import UserError

_READS_ENVIRONMENT = re.compile(r"\$\{\s*oc\s*\.\s*env\b|\$\{[^:{}]*\$\{[^{}]*\}[^:{}]*:")
"""`${oc.env:...}`, wherever it stands in a value; or a resolver whose name is not written out."""
_NAMES_A_KEY = "_key_env"
"""The end of the keys whose values are names of variables."""
_LOOKS_LIKE_A_KEY = re.compile(r"(^|/)((sk|pk|rk|gsk|xai|hf|r8|pplx|nvapi)[-_][\w-]{8,}|AIza[\w-]{30,})")
_HINT = "A configuration names the variable that holds a key: llm.api_key_env=NAME."


def looks_like_a_key(text: str) -> bool:
    """Return whether a text has the form of the keys of well-known providers."""
    return _LOOKS_LIKE_A_KEY.search(text) is not None


def refuse_environment(unresolved: Any) -> None:
    """Make sure that no value is read from the environment, but for the name of the variable of a key.

    Args:
        unresolved: a composed configuration whose interpolations are still open.

    Raises:
        UserError: one is.
    """
    for key, value in texts(unresolved):
        if _READS_ENVIRONMENT.search(value) and not key.endswith(_NAMES_A_KEY):
            raise UserError(
                f"{key}: it is read from the environment, and what a configuration holds is written to disk",
                f"Write the value itself. {_HINT}",
            )


def refuse_secrets(configuration: Any) -> None:
    """Make sure that no value is a key.

    Raises:
        UserError: one holds the value of a variable that holds a key, or is given as the name of a model and looks like
            a key.
    """
    variables = named_secrets(os.environ)
    for key, value in texts(configuration):
        if key.endswith(_NAMES_A_KEY):
            continue  # another check distinguishes names from keys
        if (name := _held(value, variables)) is not None:
            raise UserError(f"{key}: the value (not shown here) holds that of the environment variable {name}", _HINT)
        if key.rpartition(".")[2] == "model" and _LOOKS_LIKE_A_KEY.search(value):
            raise UserError(f"{key}: the value (not shown here) looks like a key, not like the name of a model", _HINT)


def refuse_secret_argument(argument: str) -> None:
    """Make sure that an argument of a command is no key, before any message shows it.

    Raises:
        UserError: it holds the value of a variable that holds a key, or names a model and looks like a key.
    """
    key, _, value = argument.partition("=")
    variables = named_secrets(os.environ)
    if (name := _held(argument, variables)) is not None:
        where = "an argument" if _held(key, variables) is not None or not value else key
        raise UserError(f"{where}: the value (not shown here) holds that of the environment variable {name}", _HINT)
    if value:
        refuse_secrets({key.lstrip("+~"): value.strip("'\"")})


def _held(text: str, variables: Mapping[str, str]) -> str | None:
    return next((name for name, value in variables.items() if value in text), None)
