"""Worker processes that play episodes, each with its own Python.

A worker gets requests through its standard input and ends as soon as that closes, also because its parent was killed.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from traceback import format_exception
from typing import Any, BinaryIO, Self

from quorum.episode.model_pool import ModelPool
from quorum.train.episodes import Episode
from quorum.train.play import Players, Setting
from quorum_base.user_errors import UserError

_LENGTH = 8
"""Bytes that hold the length of an answer."""
_PROGRAM = "import sys; sys.path[:] = {path!r}; from quorum.train.workers import main; main()"


def check_importable(policy: Callable[..., Any]) -> None:
    """Check that worker processes can have a policy.

    Raises:
        UserError: it cannot be pickled, or is defined in the main program.
    """
    try:
        pickled = pickle.dumps(policy)
    except Exception as error:
        raise UserError(f"rollouts(): workers cannot have this policy: {error}", _OTHER) from error
    if b"__main__" in pickled:
        raise UserError("rollouts(): workers cannot import a policy of the main program", _OTHER)


_OTHER = "Define it at the top of a module, serve the model and give its address, or leave out workers."


def _frame(message: Any) -> bytes:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(_LENGTH, "big") + data


class Workers:
    """Worker processes, as an asynchronous context manager.

    Args:
        setting: what they play.
        number: how many there are.
    """

    def __init__(self, setting: Setting, number: int) -> None:
        self._setting = setting
        self._number = number
        self._workers: list[_Worker] = []

    async def play(self, board: int, draw: int) -> Episode:
        """Play an episode in the worker that has the fewest.

        Raises:
            UserError: the worker has ended.
            Exception: any error of the episode; a note has its traceback.
        """
        return await min(self._workers, key=lambda worker: len(worker.asked)).play(board, draw)

    async def __aenter__(self) -> Self:
        command = [sys.executable, "-P", "-c", _PROGRAM.format(path=sys.path)]
        try:
            for _ in range(self._number):
                process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
                self._workers.append(_Worker(process, self._setting))
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(worker.close() for worker in self._workers))


class _Worker:
    """A worker process as its parent sees it."""

    def __init__(self, process: Process, setting: Setting) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._input, self._output = process, process.stdin, process.stdout
        self.asked: dict[int, asyncio.Future[Episode]] = {}
        """The episodes that it plays, by number."""
        self._numbers = count()
        self._input.write(pickle.dumps(setting))
        self._reading = asyncio.create_task(self._read())

    async def play(self, board: int, draw: int) -> Episode:
        if self._reading.done():
            raise await self._gone()
        number = next(self._numbers)
        self.asked[number] = future = asyncio.get_running_loop().create_future()
        self._input.write(pickle.dumps((number, board, draw)))
        try:
            found: Episode = await future
        finally:
            del self.asked[number]
        return found

    async def _read(self) -> None:
        with suppress(asyncio.IncompleteReadError):
            while True:
                size = int.from_bytes(await self._output.readexactly(_LENGTH), "big")
                number, found = pickle.loads(await self._output.readexactly(size))
                if isinstance(found, Exception):
                    self.asked[number].set_exception(found)
                else:
                    self.asked[number].set_result(found)
        gone = await self._gone()
        for future in self.asked.values():
            if not future.done():
                future.set_exception(gone)

    async def _gone(self) -> UserError:
        return UserError(f"rollouts(): a worker process has ended: exit code {await self._process.wait()}")

    async def close(self) -> None:
        self._reading.cancel()
        with suppress(ProcessLookupError):
            self._process.kill()
        await asyncio.gather(self._reading, return_exceptions=True)
        await self._output.read()  # a full buffer would hide the end of the pipe, for which `wait` waits too
        await self._process.wait()


def main() -> None:
    """Play the episodes that the parent requests, until it closes the pipe or is gone."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints of the policy must not mix with the answers
    asyncio.run(_serve(requests, answers))


async def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    loop = asyncio.get_running_loop()
    jobs: asyncio.Queue[tuple[int, int, int]] = asyncio.Queue()
    players = Players(pickle.load(requests))

    def receive() -> None:
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                loop.call_soon_threadsafe(jobs.put_nowait, pickle.load(requests))
        os._exit(0)

    def answer(number: int, found: Episode | Exception) -> None:
        answers.write(_frame((number, found)))
        answers.flush()

    async def one(number: int, board: int, draw: int) -> None:
        try:
            answer(number, await players.play(pool, board, draw))
        except Exception as error:
            answer(number, _portable(error))

    threading.Thread(target=receive, daemon=True).start()
    async with ModelPool() as pool, asyncio.TaskGroup() as tasks:
        while True:
            tasks.create_task(one(*await jobs.get()))


def _portable(error: Exception) -> Exception:
    """Return an error that can be pickled, with its traceback as a note."""
    note = "In a worker process:\n" + "".join(format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error
