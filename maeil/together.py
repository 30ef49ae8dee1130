"""Functions at the same time, none of which is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from maeil.errors import EpisodeStop
from maeil.exits import without_exit

T = TypeVar("T")


async def together(functions: Iterable[Callable[[], Awaitable[T]]]) -> list[T]:
    """Run functions at the same time, and return their results in order when every one of them has ended.

    When one raises, the others are cancelled and waited for. An `EpisodeStop` that is not urgent lets them come to
    their end instead: the answers that they wait for are paid. To cancel this cancels all of them.

    Raises:
        BaseException: the first, in the order of the functions, of what made the others end; else the first stop.
        asyncio.CancelledError: this was cancelled, or a function raised it by itself.
    """
    results: dict[int, T] = {}
    failures: dict[int, Exception] = {}
    stops: dict[int, EpisodeStop] = {}

    async def run(place: int, function: Callable[[], Awaitable[T]]) -> None:
        try:
            with without_exit():  # which would end the event loop
                results[place] = await function()
        except Exception as error:
            if isinstance(error, EpisodeStop) and not error.urgent:
                stops[place] = error
                return
            failures[place] = error
            raise

    running = list(enumerate(functions))
    try:
        async with asyncio.TaskGroup() as group:
            for place, function in running:
                group.create_task(run(place, function))
    except ExceptionGroup:
        pass  # its members are in `failures`, where their order does not depend on time
    for found in (failures, stops):
        if found:
            raise found[min(found)]
    if len(results) < len(running):
        raise asyncio.CancelledError("a function was cancelled from within")
    return [results[place] for place, _ in running]
