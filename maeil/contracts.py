"""What the loop makes sure of when it calls a world, a mind or a topology: that they give what their contracts say.

These checks stand where an answer comes in, so that a mistake is reported with the function that made it, and not found
later in a frame of the loop or in a trace that nobody can read.
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
"""Characters of a value that a message shows, at most."""


def wrong_answer(function: Callable[..., Any], found: str, what: str) -> ContractError:
    """Return the error that a function of a component gave something else than its contract says.

    Args:
        function: it.
        found: what it gave, in words.
        what: what it must give, in words.
    """
    return ContractError(f"{name_of(function)}() returned {found}; it must return {what}", function)


def check_type(value: object, wanted: type[T], function: Callable[..., Any], what: str) -> T:
    """Return what a function of a component gave, which has the type that its contract says.

    Args:
        value: what it gave.
        wanted: the type.
        function: what gave it.
        what: the type in words, for the message.

    Raises:
        ContractError: it has another type.
    """
    if isinstance(value, wanted):
        return value
    raise wrong_answer(function, described(value), what)


def check_items(values: object, wanted: type[T], function: Callable[..., Any], what: str) -> Sequence[T]:
    """Return the list or tuple that a function of a component gave, all of one type.

    Args:
        values: what it gave.
        wanted: the type of each.
        function: what gave it.
        what: the whole in words, for the message.

    Raises:
        ContractError: it is no list or tuple, or one in it has another type.
    """
    if not isinstance(values, list | tuple):
        raise wrong_answer(function, described(values), what)
    for value in values:
        if not isinstance(value, wanted):
            raise wrong_answer(function, f"{described(value)} in a {type(values).__name__}", what)
    return values


def check_awaitable(answer: Awaitable[T], function: Callable[..., Any]) -> Awaitable[T]:
    """Return what an async function of a component gave when it was called, which can be awaited.

    Raises:
        ContractError: it has answered at once.
    """
    if inspect.isawaitable(answer):
        return answer
    raise ContractError(
        f"{name_of(function)}() is not async: it returned {described(answer)} at once; write `async def`", function
    )


@contextmanager
def check_json(function: Callable[..., Any]) -> Iterator[None]:
    """Write to the trace what a function of a component gave.

    Raises:
        ContractError: it holds what JSON does not have.
    """
    try:
        yield
    except TypeError as error:
        if not any(words in str(error) for words in ("JSON", "Dict key")):  # of the encoder
            raise
        raise ContractError(
            f"{name_of(function)}() returned what cannot be written as JSON: {error}; "
            "it must return plain numbers, texts, lists and dicts",
            function,
        ) from error


def require_members(thing: object, contract: type, names: Sequence[str]) -> None:
    """Make sure that an object has what a contract asks for.

    Args:
        thing: the object.
        contract: the contract, for the message.
        names: of its methods and attributes.

    Raises:
        ContractError: it lacks some.
    """
    missing = [name for name in names if not hasattr(thing, name)]
    if missing:
        kind = type(thing)
        whole = f"{contract.__module__}.{contract.__qualname__}"
        raise ContractError(f"{kind.__qualname__} lacks {', '.join(missing)}; {whole} asks for it", kind)


def require_arguments(function: Callable[..., Any], *names: str) -> None:
    """Make sure that a function can be called with so many arguments.

    Args:
        function: it.
        names: of the arguments, for the message.

    Raises:
        ContractError: it takes fewer, or needs more.
    """
    try:
        inspect.signature(function).bind(*names)
    except TypeError as error:
        raise ContractError(
            f"{name_of(function)}() cannot be called with ({', '.join(names)}): {error}", function
        ) from error
    except ValueError:  # one without a signature, written in C
        return


def described(value: object) -> str:
    """Return a value in words, with its type: `a tuple, (1, 2)`."""
    if value is None:
        return "None"
    kind = type(value).__name__
    text = repr(value)
    article = "an" if kind[0] in "aeiouAEIOU" else "a"
    return f"{article} {kind}, {text if len(text) <= _SHOWN else text[:_SHOWN] + '...'}"


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function or a class as its module has it: `Maze.step`."""
    found = definition_of(function)
    return getattr(found, "__qualname__", type(found).__qualname__)


def definition_of(function: Callable[..., Any]) -> Any:
    """Return what was defined where a callable comes from: the function of a method, the class of an object."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(getattr(function, "__func__", function))
    return function if inspect.isroutine(function) or inspect.isclass(function) else type(function)
