"""Adds `--model`, `--base-url`, `--n` and `--seeds` to verbs that take `KEY=VALUE` arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

from quorum.verbs.options import value


def _shorthand(
    *,
    model: Annotated[
        str | None, value("--model", "PROVIDER/NAME", "Set llm=PROVIDER and llm.model=NAME.", unset="llm=simulated")
    ] = None,
    base_url: Annotated[
        str | None,
        value("--base-url", "URL", "Set llm.base_url=URL, the server's address.", unset="the provider's"),
    ] = None,
    n: Annotated[
        str | None, value("--n", "SIZES", "Set n, the team size; a sweep takes several: 2,4,8.", unset="4")
    ] = None,
    seeds: Annotated[
        str | None, value("--seeds", "SEEDS", "Set seed, the board; a sweep takes several: 0-9,12.", unset="0")
    ] = None,
) -> None:
    """Declare the options."""


def shorthand(verb: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a verb, which gets them among its `words`, in the form `KEY=VALUE`."""
    own = inspect.signature(verb, eval_str=True).parameters
    added = inspect.signature(_shorthand, eval_str=True).parameters

    @wraps(verb)
    def translating(*given: Any, **arguments: Any) -> None:
        arguments.update(zip(own, given, strict=False))
        said = {name: arguments.pop(name, None) for name in added}
        if any(text is not None for text in said.values()):
            from quorum.configuration.shorthand import translated

            words, folders = (arguments.get(name) or () for name in ("words", "config_dir"))
            arguments["words"] = translated(words, folders, **said)
        verb(**arguments)

    positional = {name: part for name, part in own.items() if part.kind is not part.KEYWORD_ONLY}
    merged = {**positional, **added, **own}
    signature = inspect.Signature(list(merged.values()), return_annotation=None)
    translating.__signature__ = signature  # type: ignore[attr-defined] # Typer reads it
    return translating
