"""`quorum.rollouts`: episodes for a trainer."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Container, Generator, Iterable, Iterator
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Annotated, Any, TypeVar

from pydantic import Field

from quorum.configuration.arguments import checked_arguments
from quorum.conversions import Folder, names, paths
from quorum.episode.model_pool import ModelPool
from quorum.train.episodes import Episode
from quorum.train.play import Players, Setting
from quorum.train.policy import Completion
from quorum.train.workers import Workers, check_importable
from quorum_base.user_errors import UserError

__all__ = ["Completion", "Rollouts", "rollouts"]

T = TypeVar("T")
_AHEAD = 2
"""Episodes that have ended or started but were not yet taken, as a multiple of those in progress at once."""


@checked_arguments
def rollouts(
    *overrides: str,
    policy: Callable[..., Any] | str,
    boards: Iterable[int],
    seats: str | list[str] | tuple[str, ...] = (),
    model: str | None = None,
    group: Annotated[int, Field(ge=1)] = 1,
    held_out: Container[int] = (),
    difference: bool = False,
    at_once: Annotated[int, Field(ge=1)] = 8,
    workers: Annotated[int, Field(ge=0)] = 0,
    plugins: list[str] | tuple[str, ...] = (),
    config_dir: Folder | list[Folder] | tuple[Folder, ...] = (),
) -> Rollouts:
    """Play episodes in which a policy that you train plays some seats of a team.

    ```python
    for episode in quorum.rollouts("env=cube", "n=2", "topology=debate", "agents=naive", "prompts=terse",
                                   policy=policy, seats=["agent_0"], boards=range(1000, 1100), group=4):
        episode.seats["agent_0"].calls, episode.seats["agent_0"].reward.team
    ```

    Nothing is written to disk. With equal answers, an episode has the trace of `quorum run seed=BOARD draw=DRAW`.

    Args:
        overrides: the configuration, `KEY=VALUE` each, without `seed` and `draw`.
        policy: a function, plain or asynchronous, that takes a `PolicyRequest` and returns the text of the answer or a
            `quorum.Completion`; or the address of an OpenAI-compatible server, such as `http://localhost:8000/v1`.
        boards: seeds of the boards, in order; may be endless.
        seats: participants that ask the policy; empty: all that ask a model. The others are as configured.
        model: name of the model at the server.
        group: episodes of each board, which differ in their draw.
        held_out: boards of the evaluation, which `boards` must not contain.
        difference: whether to compute `Reward.difference`, which takes another episode for each seat.
        at_once: episodes in progress at once.
        workers: processes that play the episodes; 0: the calling process does. A function must be importable there.
        plugins: modules that register components.
        config_dir: one folder or several with more group options.

    Returns:
        An iterable of episodes, by board and draw, for `for` and for `async for`. Each loop plays them again.

    Raises:
        UserError: the configuration is not valid, a seat asks no model, or a board is held out.
    """
    given = [word.partition("=")[0] for word in overrides]
    for key, instead in (("seed", "boards"), ("draw", "group")):
        if key in given:
            raise UserError(f"rollouts(): {key} is not part of the configuration here", f"Give {instead}=.")
    played, words = names(seats), tuple(overrides)
    if isinstance(policy, str):
        words += _endpoint(policy, model, played, given)
    elif model is not None:
        raise UserError("rollouts(): model names a model at a server, but policy is a function", "Leave it out.")
    elif workers:
        check_importable(policy)
    function = None if isinstance(policy, str) else policy
    setting = Setting(words, function, played, difference, tuple(plugins), paths(config_dir))
    for board in (
        () if isinstance(boards, Iterator) else boards
    ):  # those of an iterator are checked when it is their turn
        _check_board(board, held_out)
    return Rollouts(setting, Players(setting), boards, group, held_out, at_once, workers)


def _endpoint(address: str, model: str | None, seats: tuple[str, ...], given: list[str]) -> tuple[str, ...]:
    """Return the words that give the seats a model at a server, except those that the caller has given."""
    if model is None:
        raise UserError(f"rollouts(): policy={address} needs the name of a model", "Give model=NAME.")
    values = {"base_url": address, "model": model, "api_key_env": "null", "temperature": "1.0"}
    words = {"llm": "openai", **{f"llm.{key}": value for key, value in values.items()}}
    if seats:
        each = {"name": "openai", **values}
        words = {f"llm.agents.{seat}.{key}": value for seat in seats for key, value in each.items()}
    return tuple(f"{key}={value}" for key, value in words.items() if key not in given)


def _check_board(board: Any, held_out: Container[int]) -> None:
    if isinstance(board, bool) or not isinstance(board, int):
        raise UserError(f"rollouts(): boards: {board!r} is not a seed", "Seeds are whole numbers from 0.")
    if board in held_out:
        raise UserError(f"rollouts(): board {board} is held out for the evaluation", "Leave it out of boards.")


@dataclass(frozen=True)
class Rollouts:
    """Episodes to play; see `rollouts`.

    `for` plays them in a thread with an event loop, also inside a running loop; `async for` plays them in the running
    loop. Leaving the loop, closing its iterator, or Ctrl-C cancels all episodes in progress. Leave `async for` through
    `contextlib.aclosing` to wait until they have ended.
    """

    _setting: Setting
    _players: Players
    _boards: Iterable[int]
    _group: int
    _held_out: Container[int]
    _at_once: int
    _workers: int

    def __iter__(self) -> Generator[Episode, None, None]:
        """Play the episodes in a thread."""
        return in_thread(self.__aiter__)

    async def __aiter__(self) -> AsyncGenerator[Episode, None]:
        """Play the episodes in the running event loop."""
        places = asyncio.Semaphore(self._at_once)
        waiting: deque[asyncio.Task[Episode]] = deque()
        jobs = self._jobs()
        async with Workers(self._setting, self._workers) if self._workers else ModelPool() as players:
            play = players.play if isinstance(players, Workers) else partial(self._players.play, players)

            async def one(board: int, draw: int) -> Episode:
                async with places:
                    return await play(board, draw)

            try:
                while True:
                    for job in islice(jobs, _AHEAD * self._at_once - len(waiting)):
                        waiting.append(asyncio.create_task(one(*job)))
                    if not waiting:
                        return
                    await waiting[0]
                    yield waiting.popleft().result()
            finally:
                for task in waiting:
                    task.cancel()
                await asyncio.gather(*waiting, return_exceptions=True)

    def _jobs(self) -> Iterator[tuple[int, int]]:
        for board in self._boards:
            _check_board(board, self._held_out)
            yield from ((board, draw) for draw in range(self._group))


def in_thread(make: Callable[[], AsyncGenerator[T, None]]) -> Generator[T, None, None]:
    """Iterate over an asynchronous generator from synchronous code, with an event loop in a thread.

    The thread ends with the iteration: the loop then cancels its tasks, and closes the generator.

    Args:
        make: makes the asynchronous generator, which yields anything but None.
    """
    loop, ended = asyncio.new_event_loop(), asyncio.Event()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(ended.wait())

    def end() -> None:
        with suppress(RuntimeError):  # it has ended before
            loop.call_soon_threadsafe(ended.set)
        thread.join()

    async def following() -> T | None:
        return await anext(source, None)

    thread = threading.Thread(target=copy_context().run, args=(run,), name="quorum-rollouts", daemon=True)
    thread.start()
    atexit.register(end)  # a program may end without closing its iterator
    source = make()
    try:
        while (found := asyncio.run_coroutine_threadsafe(following(), loop).result()) is not None:
            yield found
    finally:
        atexit.unregister(end)
        end()
