"""Locks on a sweep folder: one command at a time, and no leftover workers of a killed command.

Both are operating system locks on open files, so they are released however the process that holds them ends.

A job that a cluster starts later must not play if another command has since taken over the sweep. So each command
writes its claim into the folder, and a job plays only while the claim is still that of the command that queued it.
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
"""Seconds that a command waits for the workers of a killed command to notice that it is gone."""


@contextmanager
def sweep_lock(folder: Path) -> Iterator[str]:
    """Lock a sweep folder for one command; yields the command's claim.

    Raises:
        UserError: another command holds it, or workers of an earlier command still write there.
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
    """Return the claim of the last command that took over the sweep; empty if it cannot be read."""
    try:
        return (RunFiles(folder).read(_CLAIM, _LONGEST_CLAIM) or b"").decode("ascii")
    except (DamagedFile, ValueError):
        return ""


def sign_in(folder: Path) -> IO[bytes]:
    """Mark a worker as writing into a sweep folder until the returned file is closed."""
    file = open_lock(folder, _WORKERS)
    while not take_lock(file, fcntl.LOCK_SH):  # a command holds the lock while it writes its claim
        time.sleep(0.05)
    return file


def wait_for_workers(folder: Path) -> None:
    """Wait until no worker writes into a sweep folder.

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
