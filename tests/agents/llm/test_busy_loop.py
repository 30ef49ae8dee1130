"""A busy client is no failure of the server: timers leave out the lag of our own loop, connections open gradually."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

import pytest

from quorum.agents.llm.errors import TimedOut
from quorum.agents.llm.protocol import Reply
from quorum.agents.llm.providers.bounded import Bounds
from quorum.agents.llm.providers.loop_time import loop_timeout
from quorum.more_providers.serving.app import Addresses
from tests.agents.llm.wire import Brain, client, request
from tests.conftest import FORKS
from tests.loopback.serving import serve

CONNECT = 0.5


@contextmanager
def served_elsewhere() -> Iterator[Addresses]:
    """Serve in another process, which a blocked client does not block: not even by Python's lock."""
    here, there = FORKS.Pipe()
    process = FORKS.Process(target=_serve, args=(there,))
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def _serve(reports: Connection) -> None:
    async def run() -> None:
        async with serve(Brain()) as addresses:
            reports.send(addresses)
            await asyncio.Event().wait()

    asyncio.run(run())


async def blocking(pieces: int, seconds: float) -> None:
    """Block the loop in pieces, as a client does that writes prompts."""
    for _ in range(pieces):
        await asyncio.sleep(0)
        time.sleep(seconds)


@pytest.mark.parametrize("calls", [200, pytest.param(1000, marks=pytest.mark.conformance)])
async def test_calls_at_once_of_a_busy_client_are_no_failure_of_the_server(calls: int) -> None:
    bounds = Bounds(connect=CONNECT)
    with served_elsewhere() as addresses:
        async with client("openai", addresses, bounds=bounds, deadline=600.0) as model:
            busy = asyncio.create_task(blocking(8, 2 * CONNECT / 3))
            replies = await asyncio.gather(*(model.complete(request()) for _ in range(calls)), return_exceptions=True)
            await busy
    assert [reply for reply in replies if not isinstance(reply, Reply)] == []


async def test_a_server_that_takes_no_connection_is_found_by_a_busy_client_too() -> None:
    with socket.socket() as full, socket.socket() as waits:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waits.connect(full.getsockname())  # the only place of the queue
        root = f"http://127.0.0.1:{full.getsockname()[1]}"
        async with client("openai", Addresses(f"{root}/v1", root), bounds=Bounds(connect=0.2), deadline=600.0) as model:
            busy = asyncio.create_task(blocking(20, 0.02))
            with pytest.raises(TimedOut, match=r"no connection within 0.2 s \(llm.connect_timeout\)"):
                await model.complete(request())
            await busy


async def test_time_for_which_the_loop_was_blocked_does_not_count() -> None:
    async with loop_timeout(0.2) as scope:
        await blocking(5, 0.1)
        await asyncio.sleep(0.05)
    assert not scope.expired()


async def test_time_of_the_loop_counts() -> None:
    with pytest.raises(TimeoutError):
        async with loop_timeout(0.1):
            await asyncio.sleep(60)
