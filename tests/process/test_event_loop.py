"""A coroutine runs to its end from ordinary code, whether or not an event loop runs around it."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import closing

import pytest

from quorum.process.event_loop import run_coroutine, to_its_end


async def _doubled(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def test_a_coroutine_runs_where_no_loop_runs() -> None:
    assert run_coroutine(_doubled(4)) == 8


async def test_a_coroutine_runs_inside_a_running_loop_as_in_a_notebook() -> None:
    assert run_coroutine(_doubled(4)) == 8


async def test_an_error_of_the_coroutine_reaches_the_caller() -> None:
    async def fails() -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        run_coroutine(fails())


def test_an_interrupt_cancels_the_coroutine_before_it_reaches_the_caller() -> None:
    ends: list[str] = []

    async def endless() -> None:
        main = threading.main_thread().ident
        threading.Timer(0.05, signal.pthread_kill, [main, signal.SIGINT]).start()
        try:
            await asyncio.sleep(60)
        finally:
            ends.append("cleaned up")

    async def notebook() -> None:
        with pytest.raises(KeyboardInterrupt):
            run_coroutine(endless())
        assert ends == ["cleaned up"]

    with closing(asyncio.new_event_loop()) as loop:  # asyncio.run would take the signal for itself
        loop.run_until_complete(notebook())


async def test_what_is_written_beside_the_loop_is_written_to_its_end_also_by_who_is_cancelled() -> None:
    started, go_on = threading.Event(), threading.Event()

    def write() -> threading.Thread:
        started.set()
        go_on.wait(60)
        return threading.current_thread()

    task = asyncio.create_task(to_its_end(write))
    while not started.is_set():
        await asyncio.sleep(0.001)  # the loop goes on
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.001)
    assert not task.done()
    go_on.set()
    assert await task is not threading.current_thread()


async def test_what_fails_beside_the_loop_fails_here() -> None:
    def fail() -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        await to_its_end(fail)
