"""A command in its own terminal: what a user would see, as it comes."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

from tests.conftest import command, environment


def in_a_terminal(folder: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    """Run `quorum` in a terminal of 160 columns; return its exit code, and all that the terminal got."""
    ours, terminal = pty.openpty()
    try:
        process = subprocess.Popen(
            command(*arguments),
            cwd=folder,
            env=environment(TERM="xterm", COLUMNS="160", **variables),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
    finally:
        os.close(terminal)
    got = bytearray()
    try:
        while chunk := _read(ours):
            got += chunk
        return process.wait(30), got.decode()
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read(terminal: int) -> bytes:
    """Return what came; nothing at the end, which Linux reports as an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
