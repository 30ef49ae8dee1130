"""Runs coroutines concurrently and waits for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from quorum_base.exits import Stop, without_exit

T = TypeVar("T")


async def together(functions: Iterable[Callable[[], Awaitable[T]]]) -> list[T]:
    """Run functions at the same time, and return their results in order when every one of them has ended.

    When one raises, the others are cancelled and waited for. A `Stop` that is not urgent lets them come to their end
    instead. To cancel this cancels all of them.

    Raises:
        BaseException: the first, in the order of the functions, of what made the others end; else the first stop.
        asyncio.CancelledError: this was cancelled, or a function raised it by itself.
    """
    results: dict[int, T] = {}
    failures: dict[int, Exception] = {}
    stops: dict[int, Stop] = {}

    async def run(place: int, function: Callable[[], Awaitable[T]]) -> None:
        try:
            with without_exit():  # which would end the event loop
                results[place] = await function()
        except Exception as error:
            if isinstance(error, Stop) and not error.urgent:
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
