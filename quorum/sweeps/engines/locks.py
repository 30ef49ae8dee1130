"""Who may work in the folder of a sweep: one command at a time, and no worker that a killed command left behind.

Both are locks of the operating system on open files: they are gone with the process that holds them, however it ends.

A job that a cluster starts later must not play while another command than the one that queued it runs. So each command
leaves its claim in the folder, and a job plays while the claim is that of the command that queued it.
"""

from __future__ import annotations

import fcntl
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from quorum.storage.locks import one_at_work, open_lock, take_lock
from quorum.storage.run_files import DamagedFile, RunFiles
from quorum_base.inside import remove_inside, write_inside
from quorum_base.user_errors import UserError

_WORKERS = ".workers"
_CLAIM = ".claim"
_LONGEST_CLAIM = 64
PATIENCE = 10.0
"""Seconds that a command waits for the workers of a killed one to see that they are alone."""


@contextmanager
def sweep_lock(folder: Path) -> Iterator[str]:
    """Hold the folder of a sweep for one command; gives the command's claim.

    Raises:
        UserError: another command holds it, or workers of an earlier one still write there.
    """
    with one_at_work(folder, "sweep", "Wait for it or stop it; or start a separate sweep: --name NAME."):
        claim = uuid.uuid4().hex
        with _no_worker(folder), suppress(OSError):
            write_inside(folder, {_CLAIM: claim.encode()})
        try:
            yield claim
        finally:
            remove_inside(folder, _CLAIM)


def claim_of(folder: Path) -> str:
    """Return the claim of the last command that took the sweep over; empty where it cannot be read."""
    try:
        return (RunFiles(folder).read(_CLAIM, _LONGEST_CLAIM) or b"").decode("ascii")
    except (DamagedFile, ValueError):
        return ""


def sign_in(folder: Path) -> IO[bytes]:
    """Show that a worker writes into the folder of a sweep, until the file that this returns is closed."""
    file = open_lock(folder, _WORKERS)
    while not take_lock(file, fcntl.LOCK_SH):  # a command holds it for as long as it writes its claim
        time.sleep(0.05)
    return file


def wait_for_workers(folder: Path) -> None:
    """Wait until no worker writes into the folder of a sweep.

    Raises:
        UserError: some still do after `PATIENCE`.
    """
    with _no_worker(folder):
        pass


@contextmanager
def _no_worker(folder: Path) -> Iterator[None]:
    end = time.monotonic() + PATIENCE
    with open_lock(folder, _WORKERS) as file:
        while not take_lock(file, fcntl.LOCK_EX):
            if time.monotonic() > end:
                raise UserError(
                    f"{folder}: workers of an earlier command still run cells of this sweep",
                    "Wait until they are done, or end them (jobs of Slurm: scancel).",
                )
            time.sleep(0.05)
        yield
