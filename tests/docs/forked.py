"""A stand-in for the command `quorum` in shell scripts, which starts no new Python that imports the project.

The scripts call a small client. It hands its arguments, folder, variables and streams to this process, which has the
command forked from the server of `tests.conftest`, and answers with the exit code.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection, reduction
from pathlib import Path
from typing import Any

from tests.conftest import FORKS, be_quorum

_CLIENT = """#!{python} -IS
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode() + b"\\n"
    socket.send_fds(server, [asked], [0, 1, 2])
    answer = server.recv(1)
sys.exit(answer[0] if answer else "the command was lost")
"""


class _Stream:
    """A file descriptor that is passed to a forked process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __reduce__(self) -> tuple[Any, ...]:
        return _detach, (reduction.DupFd(self._descriptor),)


def _detach(duplicate: Any) -> int:
    return duplicate.detach()


@contextmanager
def forked_quorum(folder: Path) -> Iterator[None]:
    """Offer `quorum` as a program in a folder, as long as the context lasts."""
    address, program = str(folder / "socket"), folder / "quorum"
    program.write_text(_CLIENT.format(python=sys.executable, address=address))
    program.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        threading.Thread(target=_serve, args=(server,), daemon=True).start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)  # ends the thread, which waits for clients


def _serve(server: socket.socket) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(client,), daemon=True).start()


def _answer(client: socket.socket) -> None:
    with client:
        asked, streams, _, _ = socket.recv_fds(client, 1 << 16, 3)
        while not asked.endswith(b"\n"):
            asked += client.recv(1 << 16)
        process = FORKS.Process(target=_run, args=(*json.loads(asked), *map(_Stream, streams)))
        process.start()
        for stream in streams:
            os.close(stream)
        if client in connection.wait([process.sentinel, client]):
            process.terminate()  # the client was killed
            process.join()
        else:
            process.join()
            client.sendall(bytes([(process.exitcode or 0) % 256]))


def _run(arguments: list[str], folder: str, variables: dict[str, str], *streams: int) -> None:
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
    be_quorum(tuple(arguments), Path(folder), variables)
