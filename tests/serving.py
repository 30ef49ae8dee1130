"""The loopback server in a separate thread, for tests whose episodes run their own event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from quorum.agents.llm.protocol import Model
from tests.conftest import PATIENCE
from tests.loopback import Addresses, serve


@contextmanager
def served(brain: Model, **arguments: Any) -> Iterator[Addresses]:
    """Serve a brain for as long as the context lasts; arguments are those of `serve`."""
    ready, found = threading.Event(), []
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def run() -> None:
        async with serve(brain, **arguments) as addresses:
            found.append(addresses)
            ready.set()
            await stop.wait()

    def work() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(run())

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert ready.wait(30)
        yield found[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
