"""Checks arguments of Python functions against their annotations before the call."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar, get_type_hints

from pydantic import ConfigDict, ValidationError, create_model

from quorum.configuration.checked_values import describe_validation_errors
from quorum_base.user_errors import UserError

P = ParamSpec("P")
T = TypeVar("T")


def checked_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function reject arguments that violate its annotations, with a single `UserError` for all of them."""
    signature = inspect.signature(function)
    wanted = SimpleNamespace(__annotations__={**function.__annotations__, "return": None})  # it may be defined later
    hints = get_type_hints(wanted, vars(sys.modules[function.__module__]), include_extras=True)
    several: Any = list
    fields: dict[str, Any] = {
        name: (several[hints[name]] if parameter.kind is parameter.VAR_POSITIONAL else hints[name], ...)
        for name, parameter in signature.parameters.items()
        if name in hints  # skips the `self` of a method
    }
    allowed = create_model(
        function.__name__, __config__=ConfigDict(strict=True, arbitrary_types_allowed=True), **fields
    )

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            hint = "Keys of the configuration are words: 'n=4'." if (list[str], ...) in fields.values() else ""
            raise UserError(f"{function.__name__}(): {error}", hint) from error
        bound.apply_defaults()
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in bound.arguments.items()}
        try:
            allowed.model_validate(values)
        except ValidationError as error:
            reasons = describe_validation_errors(error, values, f"{function.__name__}(): ", ())
            raise UserError(reasons) from error
        return function(*args, **kwargs)

    return checked
