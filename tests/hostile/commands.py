"""Runs a command of a user in a forked process, bounds it, and measures what it took."""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import os
import re
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import forkserver, util
from pathlib import Path
from typing import Any, NoReturn

CPU_SECONDS = 20
"""Of a processor, after which a command counts as hanging."""
WAIT = 60.0
"""Seconds after which one hangs that waits: more than the above, since other processes may have the processors."""
MEMORY = 1_000_000
"""KiB that a process may take."""
_ADDRESS_SPACE = 12 << 30
"""Bytes that a process may ask for."""
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S*")
_LOOK = 0.01
"""Seconds between two looks at a command."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command has ended.

    Attributes:
        code: its exit code; negative: the signal that ended it.
        shown: what it printed to standard output.
        errors: what it printed to standard error.
        seconds: that it took.
        memory: KiB that the largest of its processes took.
    """

    code: int
    shown: str
    errors: str
    seconds: float
    memory: int


def command(
    words: Sequence[str],
    folder: Path,
    variables: Mapping[str, str],
    *,
    visit: Callable[[str], object] = lambda _: None,
    kill_when: Callable[[], object] = lambda: False,
    names: Path | None = None,
) -> Ending:
    """Run a command in a folder, and wait for its end.

    A command that prints an address and goes on serves: the address is visited, and then it is interrupted.

    Args:
        words: after `quorum`.
        folder: where the user is.
        variables: of the environment.
        visit: called with the address.
        kill_when: when this is true, the command is killed.
        names: a file that gets the path of everything in the folder that the command looks for, opens, makes, renames
            or removes; of what it reaches by the descriptor of a folder, only the name.
    """
    said = [os.memfd_create(name) for name in ("shown", "errors")]
    _adopt_orphans()
    start, served = time.monotonic(), False
    number = os.fork()
    if number == 0:
        _be_quorum(words, folder, said, names, variables)
    while not (ended := os.wait4(number, os.WNOHANG))[0]:
        time.sleep(_LOOK)
        if kill_when():
            _end(number, signal.SIGKILL)
        elif time.monotonic() > start + WAIT:
            _end(number, signal.SIGXCPU)
        elif not served and (address := _ADDRESS.search(_text(said[0]))):
            served = True
            visit(address[0])
            os.kill(number, signal.SIGINT)
    seconds = time.monotonic() - start
    _end(number, signal.SIGKILL)
    memory = max(ended[2].ru_maxrss, *_peaks_of_orphans(number))
    code = os.waitstatus_to_exitcode(ended[1])
    shown, errors = map(_text, said)
    for file in said:
        os.close(file)
    return Ending(code, shown, errors, seconds, memory)


def _text(file: int) -> str:
    return os.pread(file, os.fstat(file).st_size, 0).decode("utf-8", "replace")


def _adopt_orphans() -> None:
    """Let processes that outlive their parents be children of this one, so that it can measure them."""
    if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0):  # PR_SET_CHILD_SUBREAPER
        raise OSError("this system has no subreapers")


def _peaks_of_orphans(group: int) -> Iterable[int]:
    yield 0
    try:
        while True:
            yield os.wait4(-group, 0)[2].ru_maxrss
    except ChildProcessError:
        return


def _end(group: int, how: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, how)


def _be_quorum(
    words: Sequence[str], folder: Path, said: Sequence[int], names: Path | None, variables: Mapping[str, str]
) -> NoReturn:
    """Be a command: this process has been forked for it."""
    code = 70
    try:
        os.setsid()
        for stream, file in enumerate((os.open(os.devnull, os.O_RDWR), *said)):
            os.dup2(file, stream)
        sys.stdin, sys.stdout, sys.stderr = map(_stream, range(3), "rww")
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        _bound()
        if names is not None:
            _record(names, folder)
        sys.argv = ["quorum", *words]
        from quorum.cli import main

        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    _leave(code)


def _stream(number: int, mode: str) -> Any:
    return os.fdopen(number, mode, encoding="utf-8")


def _leave(code: int) -> NoReturn:
    """End this process as Python does, but without what the process has inherited from that which has forked it."""
    try:
        threading._shutdown()  # type: ignore[attr-defined] # it waits for the threads
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def bound_memory() -> None:
    """Let this process, and each that it starts, fail before the machine does."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))


def _bound() -> None:
    """Bound this process and those that it starts. They are forked from it, and share its bounds and its output."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    bound_memory()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.register(signal.SIGXCPU, chain=True)  # where it hangs
    util.spawnv_passfds = _fork_python  # type: ignore[assignment]
    forkserver._forkserver.__init__()  # type: ignore[misc] # as if there were none yet


def _fork_python(_path: object, arguments: Any, descriptors: Sequence[int]) -> int:
    """Start Python for `multiprocessing`: forked from this process, where everything is imported already."""
    number = os.fork()
    if number:
        return number
    inherited = {0, 1, 2, *descriptors}
    for text in os.listdir("/proc/self/fd"):
        if int(text) not in inherited:
            with suppress(OSError):  # that of the list itself
                os.close(int(text))
    code = arguments[arguments.index("-c") + 1]
    sys.argv = ["-c", *arguments[arguments.index("-c") + 2 :]]
    try:
        exec(code, {"__name__": "__main__"})
    finally:
        os._exit(0)


_USES = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.scandir", "os.listdir"}


def _record(names: Path, folder: Path) -> None:
    def note(path: object) -> None:
        text = os.fsdecode(path) if isinstance(path, str | bytes | Path) else "/"
        text = text.removeprefix(f"{folder}/")
        if not text.startswith("/"):
            file = os.open(names, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(file, f"{os.path.normpath(text)}\n".encode())
            os.close(file)

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if event in _USES:
            for path in arguments[: 2 if event == "os.rename" else 1]:
                note(path)

    def noted(look: Callable[..., Any]) -> Callable[..., Any]:
        def look_and_note(path: object, *arguments: Any, **more: Any) -> Any:
            note(path)
            return look(path, *arguments, **more)

        return look_and_note

    sys.addaudithook(hear)
    os.stat, os.lstat = noted(os.stat), noted(os.lstat)  # which Python does not audit
