"""Adds options and help of satellites to a verb: of formats to `quorum export`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from quorum_base.registry import Registry

_EXAMPLES = "\n\n    \b\n    Examples:\n"


def with_options_of(verb: Callable[..., None], added: Registry[Callable[..., Any]]) -> Callable[..., None]:
    """Add the options of registered functions to a verb that takes them as `**options`.

    Their text is added to its help. Functions can share an option: the first one declares it.
    """
    own = inspect.signature(verb, eval_str=True)
    parameters = {name: one for name, one in own.parameters.items() if one.kind is not one.VAR_KEYWORD}
    text, _, examples = (verb.__doc__ or "").partition(_EXAMPLES)
    for name in added.names():
        function = added.get(name)
        parameters = {**parameters, **inspect.signature(function, eval_str=True).parameters, **parameters}
        more, _, others = (function.__doc__ or "").partition(_EXAMPLES)
        text, examples = f"{text}\n\n    {more}", f"{examples.rstrip()}\n{others}"
    verb.__signature__ = own.replace(parameters=list(parameters.values()))  # type: ignore[attr-defined] # Typer reads it
    verb.__doc__ = f"{text}{_EXAMPLES}{examples}"
    return verb
