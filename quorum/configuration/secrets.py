"""Keeps API keys out of configurations, which are copied to `config.yaml`, `meta.json`, tables and folder names.

A key comes from the environment, and a configuration holds the name of its variable (`llm.api_key_env`). So no value of
a configuration is read from the environment, and a value that is a key is rejected, wherever it came from. No message
shows one.
"""

from __future__ import annotations

import os
import re
from typing import Any

from quorum.agents.llm.redaction import named_secrets
from quorum.configuration.leaves import texts
from quorum_base.user_errors import UserError

_READS_ENVIRONMENT = re.compile(r"\$\{\s*oc\s*\.\s*env\b|\$\{[^:{}]*\$\{[^{}]*\}[^:{}]*:")
"""`${oc.env:...}` anywhere in a value, or a resolver whose name is computed."""
_NAMES_A_KEY = "_key_env"
"""Suffix of the keys whose values are names of variables."""
_LOOKS_LIKE_A_KEY = re.compile(r"(^|/)((sk|pk|rk|gsk|xai|hf|r8|pplx|nvapi)[-_][\w-]{8,}|AIza[\w-]{30,})")
_HINT = "A configuration names the variable that holds a key: llm.api_key_env=NAME."


def looks_like_a_key(text: str) -> bool:
    """Whether a text has the format of API keys of well-known providers."""
    return _LOOKS_LIKE_A_KEY.search(text) is not None


def refuse_environment(unresolved: Any) -> None:
    """Check that no value is read from the environment, except the name of a key's variable.

    Args:
        unresolved: a composed configuration with unresolved interpolations.

    Raises:
        UserError: a value is read from the environment.
    """
    for key, value in texts(unresolved):
        if _READS_ENVIRONMENT.search(value) and not key.endswith(_NAMES_A_KEY):
            raise UserError(
                f"{key}: it is read from the environment, and configurations are written to disk",
                f"Write the value itself. {_HINT}",
            )


def refuse_secrets(configuration: Any) -> None:
    """Check that no value is an API key.

    Raises:
        UserError: a value equals that of an environment variable that holds a key, or is given as a model's name and
            looks like a key.
    """
    variables = named_secrets(os.environ)
    for key, value in texts(configuration):
        if key.endswith(_NAMES_A_KEY):
            continue  # another check distinguishes names from keys
        for name, secret in variables.items():
            if secret in value:
                raise _contains(key, name)
        if _is_model(key) and looks_like_a_key(value):
            raise _looks_like_a_key(key)


def refuse_secret_argument(argument: str) -> None:
    """Check that a command line argument is not an API key, before any message shows it.

    Raises:
        UserError: it contains the value of an environment variable that holds a key, or names a model and looks like a
            key.
    """
    key, _, value = argument.partition("=")
    variables = named_secrets(os.environ)
    for name, secret in variables.items():
        if secret in argument:
            key_is_safe = value and not any(other in key for other in variables.values())
            raise _contains(key if key_is_safe else "an argument", name)
    if _is_model(key) and looks_like_a_key(value.strip("'\"")):
        raise _looks_like_a_key(key.lstrip("+~"))


def _is_model(key: str) -> bool:
    return key.rpartition(".")[2] == "model"


def _contains(key: str, variable: str) -> UserError:
    return UserError(f"{key}: the value (not shown here) contains that of the environment variable {variable}", _HINT)


def _looks_like_a_key(key: str) -> UserError:
    return UserError(f"{key}: the value (not shown here) looks like a key, not like the name of a model", _HINT)
