"""Calls what builds a component, and reports its refusals as mistakes in the values."""

from __future__ import annotations

from collections.abc import Callable
from json import JSONDecodeError
from typing import Any

from pydantic import ValidationError

from maeil.registry import Registry
from maeil.user_errors import UserError
from quorum.experiments.common.extension_errors import as_extension_error, place_of

_OF_LIBRARIES = (ValidationError, UnicodeError, JSONDecodeError)


def no_models(participant: str) -> None:
    """Stand in for the language models of a team that asks none.

    Raises:
        TypeError: whenever it is asked.
    """
    raise TypeError(f"the mind of {participant} asks for a model: its Component must say uses_models=True")


def built(registry: Registry[Any], name: str, config: Any, context: Any) -> tuple[Any, Callable[..., Any]]:
    """Return what a component builds, and the function that has built it.

    Raises:
        UserError: the values do not go together.
    """
    function = registry.get(name).build
    return call_component(registry.group, function, config, context), function


def call_component(place: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call, and raise a `ValueError` as the mistake in the values that it is.

    Those that a library raises are no judgement of values: in the code of a plug-in they are a mistake in the code.

    Args:
        place: the key of the values.
        function: what is called.
        arguments: that it gets.

    Raises:
        UserError: it refuses the values, or there is no memory for what they ask for.
    """
    try:
        return function(*arguments)
    except ValueError as error:
        if isinstance(error, _OF_LIBRARIES) and (mistake := as_extension_error(error)) is not None:
            raise mistake from error
        key, colon, _ = str(error).partition(":")
        separator = "." if colon and key.isidentifier() else ": "
        where = place_of(error)
        raise UserError(f"{place}{separator}{error}", f"Refused in {where}." if where else "") from error
    except MemoryError as error:
        raise UserError(f"{place}: too large for this machine's memory: {error}") from error
