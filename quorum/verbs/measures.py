"""Adds the options and help of satellites to a verb: of measures to `quorum results`, of formats to `quorum export`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from quorum.configuration.registry import measures
from quorum_base.registry import Registry

if TYPE_CHECKING:
    from quorum.runs.measures import Measure

_EXAMPLES = "\n\n    \b\n    Examples:\n"


def measured(verb: Callable[..., None], added: Registry[Callable[..., Any]] = measures) -> Callable[..., None]:
    """Add the options of all measures, or of other functions, to a verb that takes them as `**options`.

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


def chosen(options: Mapping[str, Any]) -> list[Measure]:
    """Return the measures selected by the options of a verb.

    Raises:
        UserError: the options of a measure do not fit together.
    """
    functions = map(measures.get, measures.names())
    asked = (one(**{name: options[name] for name in inspect.signature(one).parameters}) for one in functions)
    return [measure for measure in asked if measure is not None]
