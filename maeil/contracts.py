"""Checks of the values that worlds, minds and topologies return to the loop.

The loop checks each value on return, so that an error names the function at fault instead of surfacing later, deep in
the loop or in an unreadable trace.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from maeil.errors import ContractError

T = TypeVar("T")

MAPPING: type[Mapping[str, Any]] = Mapping  # type: ignore[type-abstract] # `isinstance` takes it

_SHOWN = 60
"""Maximum length of a value in a message, in characters."""


def wrong_answer(function: Callable[..., Any], found: str, what: str) -> ContractError:
    """Return the error for a component's function that returned a value of the wrong type.

    Args:
        function: the function.
        found: description of the value that it returned.
        what: description of the value that it must return.
    """
    return ContractError(f"{name_of(function)}() returned {found}; it must return {what}", function)


def check_type(value: object, wanted: type[T], function: Callable[..., Any], what: str) -> T:
    """Check the type of a value that a component's function returned; return the value.

    Args:
        value: the value.
        wanted: the required type.
        function: the function that returned it.
        what: description of the required type, for the message.

    Raises:
        ContractError: the value has another type.
    """
    if isinstance(value, wanted):
        return value
    raise wrong_answer(function, described(value), what)


def check_items(values: object, wanted: type[T], function: Callable[..., Any], what: str) -> Sequence[T]:
    """Check that a component's function returned a list or tuple of items of one type; return it.

    Args:
        values: the list or tuple.
        wanted: the required type of each item.
        function: the function that returned it.
        what: description of the required value, for the message.

    Raises:
        ContractError: the value is not a list or tuple, or an item has another type.
    """
    if not isinstance(values, list | tuple):
        raise wrong_answer(function, described(values), what)
    for value in values:
        if not isinstance(value, wanted):
            raise wrong_answer(function, f"{described(value)} in a {type(values).__name__}", what)
    return values


def check_awaitable(answer: Awaitable[T], function: Callable[..., Any]) -> Awaitable[T]:
    """Check that calling a component's function returned an awaitable; return it.

    Raises:
        ContractError: the function is not async.
    """
    if inspect.isawaitable(answer):
        return answer
    raise ContractError(
        f"{name_of(function)}() is not async: it returned {described(answer)} at once; write `async def`", function
    )


@contextmanager
def check_json(function: Callable[..., Any]) -> Iterator[None]:
    """Report errors of writing a returned value to the trace as errors of the function that returned it.

    Raises:
        ContractError: the value cannot be written as JSON.
    """
    try:
        yield
    except TypeError as error:
        if not any(words in str(error) for words in ("JSON", "Dict key")):  # of the encoder
            raise
        raise ContractError(
            f"{name_of(function)}() returned a value that cannot be written as JSON: {error}; "
            "it must return plain numbers, strings, lists and dicts",
            function,
        ) from error


def require_members(thing: object, contract: type, names: Sequence[str]) -> None:
    """Check that an object has the members that a contract requires.

    Args:
        thing: the object.
        contract: the contract, for the message.
        names: names of the required methods and attributes.

    Raises:
        ContractError: a member is missing.
    """
    missing = [name for name in names if not hasattr(thing, name)]
    if missing:
        raise lacking(type(thing), contract, missing)


def lacking(kind: Any, contract: type, missing: Sequence[str]) -> ContractError:
    """Return the error for a class without members of its contract, with the first of them to write."""
    member = getattr(contract, missing[0], None)
    written = "async def" if inspect.iscoroutinefunction(member) else "def"
    sign = f": {written} {missing[0]}{inspect.signature(member)}".replace("'", "") if inspect.isfunction(member) else ""
    whole = f"{contract.__module__}.{contract.__qualname__}"
    return ContractError(f"{kind.__qualname__} lacks {', '.join(missing)}, which {whole} requires{sign}", kind)


def require_arguments(function: Callable[..., Any], *names: str) -> None:
    """Check that a function accepts a number of positional arguments.

    Args:
        function: the function.
        names: names of the arguments, for the message.

    Raises:
        ContractError: it accepts fewer arguments, or requires more.
    """
    try:
        inspect.signature(function).bind(*names)
    except TypeError as error:
        raise ContractError(
            f"{name_of(function)}() cannot be called with ({', '.join(names)}): {error}", function
        ) from error
    except ValueError:  # a function written in C may have no signature
        return


def described(value: object) -> str:
    """Describe a value with its type: `a tuple, (1, 2)`."""
    if value is None:
        return "None"
    kind = type(value).__name__
    text = repr(value)
    article = "an" if kind[0] in "aeiouAEIOU" else "a"
    return f"{article} {kind}, {text if len(text) <= _SHOWN else text[:_SHOWN] + '...'}"


def name_of(function: Callable[..., Any]) -> str:
    """Return the qualified name of a function or a class: `Maze.step`."""
    found = definition_of(function)
    return getattr(found, "__qualname__", type(found).__qualname__)


def definition_of(function: Callable[..., Any]) -> Any:
    """Return the definition behind a callable: the function of a method, or the class of a callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(getattr(function, "__func__", function))
    return function if inspect.isroutine(function) or inspect.isclass(function) else type(function)
