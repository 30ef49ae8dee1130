"""Runs coroutines concurrently and waits for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from quorum_base.exits import Stop, without_exit

T = TypeVar("T")


async def together(functions: Iterable[Callable[[], Awaitable[T]]]) -> list[T]:
    """Run async functions concurrently, and return their results in order when all of them have ended.

    If a function raises an error, the others are cancelled, and this function waits for them. If it raises a `Stop`
    that is not urgent, the others run to their end. Cancelling this function cancels all of them.

    Raises:
        BaseException: the first error that ended the others, in the order of the functions; without any, the first
            `Stop`.
        asyncio.CancelledError: this function was cancelled, or one of the functions raised it.
    """
    results: dict[int, T] = {}
    failures: dict[int, Exception] = {}
    stops: dict[int, Stop] = {}

    async def run(place: int, function: Callable[[], Awaitable[T]]) -> None:
        try:
            with without_exit():  # sys.exit would end the event loop
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
        pass  # its members are in `failures`, in an order that does not depend on timing
    for found in (failures, stops):
        if found:
            raise found[min(found)]
    if len(results) < len(running):
        raise asyncio.CancelledError("a function was cancelled from within")
    return [results[place] for place, _ in running]
