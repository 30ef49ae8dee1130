"""Runs a coroutine from synchronous code, even if an event loop is already running, as in a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def run_coroutine(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result.

    If the calling thread runs an event loop, the coroutine gets its own thread and loop, because loops cannot be
    nested.

    Raises:
        KeyboardInterrupt: the user pressed Ctrl-C; the coroutine was cancelled and has ended.
    """
    return _run_in_thread(coroutine) if _loop_is_running() else asyncio.run(coroutine)


async def to_its_end(function: Callable[[], T]) -> T:
    """Call a function in a thread without blocking the loop, and return its result.

    The call completes even if the caller is cancelled meanwhile, so a write is never left half done. The cancellation
    is not raised here.
    """
    task = asyncio.ensure_future(asyncio.to_thread(function))
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    return task.result()


def _loop_is_running() -> bool:
    with suppress(RuntimeError):
        return asyncio.get_running_loop().is_running()
    return False


def _run_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.new_event_loop()
    task = loop.create_task(coroutine)

    def run() -> T:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(_ended(task))

    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(run)
        try:
            return ended.result()
        except KeyboardInterrupt:
            with suppress(RuntimeError):  # it has just ended, and its loop is closed
                loop.call_soon_threadsafe(task.cancel)
            raise


async def _ended(task: asyncio.Task[T]) -> T:
    return await task
