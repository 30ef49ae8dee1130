"""Rules of doing things at the same time: nothing is left behind, and the order of time never shows."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from maeil import together
from maeil.errors import EpisodeStop


class Spent(EpisodeStop):
    outcome = "budget"


class Gone(EpisodeStop):
    outcome = "error"


class Watched:
    """Coroutines whose ends are noted."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    async def wait(self, name: str, seconds: float, error: Exception | None = None) -> str:
        try:
            await asyncio.sleep(seconds)
            if error is not None:
                raise error
            return name
        except asyncio.CancelledError:
            name = f"{name} cancelled"
            raise
        finally:
            self.ended.append(name)


async def test_results_come_in_the_order_of_the_functions() -> None:
    watched = Watched()
    found = await together(partial(watched.wait, name, s) for name, s in (("a", 0.02), ("b", 0.0), ("c", 0.01)))
    assert found == ["a", "b", "c"]
    assert await together([]) == []


@pytest.mark.parametrize("error", [ValueError("bad"), Gone("gone")])
async def test_a_failure_cancels_the_others_and_waits_for_their_end(error: Exception) -> None:
    watched = Watched()
    with pytest.raises(type(error)):
        await together([partial(watched.wait, "a", 60), partial(watched.wait, "b", 0, error)])
    assert sorted(watched.ended) == ["a cancelled", "b"]
    assert len(asyncio.all_tasks()) == 1


async def test_a_stop_that_is_not_urgent_lets_the_others_come_to_their_end() -> None:
    watched = Watched()
    with pytest.raises(Spent, match="first"):
        await together(
            [
                partial(watched.wait, "a", 0.02, Spent("first")),
                partial(watched.wait, "b", 0.0, Spent("second")),
                partial(watched.wait, "c", 0.03),
            ]
        )
    assert watched.ended == ["b", "a", "c"]


async def test_of_several_failures_the_first_in_order_is_raised_and_a_failure_before_a_stop() -> None:
    watched = Watched()
    functions = [
        partial(watched.wait, "a", 0, Spent("spent")),
        partial(watched.wait, "b", 0, ValueError("b")),
        partial(watched.wait, "c", 0, ValueError("c")),
    ]
    with pytest.raises(ValueError, match="b"):
        await together(functions)


async def test_functions_that_never_began_leave_nothing_unawaited() -> None:
    async def fail() -> None:
        raise ValueError("at once")

    watched = Watched()
    with pytest.raises(ValueError, match="at once"):
        await together([fail, partial(watched.wait, "b", 60), partial(watched.wait, "c", 60)])
    assert len(asyncio.all_tasks()) == 1


async def test_who_cancels_it_cancels_all_and_they_have_ended() -> None:
    watched = Watched()
    task = asyncio.create_task(together([partial(watched.wait, "a", 60), partial(watched.wait, "b", 60)]))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(watched.ended) == ["a cancelled", "b cancelled"]


async def test_a_function_that_cancels_itself_is_no_result() -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await together([give_up])
