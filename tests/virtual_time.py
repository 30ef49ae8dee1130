"""An event loop whose clock jumps to the next appointment: minutes of waiting take no time, and always go alike."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class _Jumping(selectors.SelectSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.now += timeout or 0.0
        return super().select(0)


def in_virtual_time(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that waits for time alone; its loop's clock begins at 0."""
    selector = _Jumping()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(coroutine)
