"""Files that commands write for `--out` or `--export`: every verb with such an option writes here.

A wrong argument, or a link in an untrusted folder, must not destroy a result: devices, pipes, links and folders are
rejected, files of a run are never overwritten, and other files only with `--force`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from quorum.storage.files import os_errors, require_file, write_all
from quorum_base.user_errors import UserError


def require_writable(folder: Path, name: str, hint: str = "Give another folder.") -> None:
    """Reject a folder that cannot be created or written, before its contents are computed.

    Leaves nothing behind.

    Args:
        folder: the folder.
        name: its name in messages.
        hint: what to do.

    Raises:
        UserError: nothing can be written there.
    """
    there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    with os_errors(f"{name}: nothing can be written to {there}", hint), TemporaryFile(dir=there):
        pass


RUN_FILES = frozenset(
    {
        "calls.jsonl", "config.yaml", "meta.json", "metrics.json", "results.csv", "sweep.json", "trace.jsonl",
        "trace.jsonl.gz", "traceback.txt",
    }
)  # fmt: skip
"""File names of runs and sweeps."""


@dataclass(frozen=True, slots=True)
class Output:
    """A file that a command writes.

    Attributes:
        target: its path.
        option: the option that names it, for messages.
        force: whether to replace another existing file.
        within: folder that the user named, if the target is deeper in it, in folders that we create; None: its own.
    """

    target: Path
    option: str
    force: bool = False
    within: Path | None = None

    def check(self) -> None:
        """Reject a path that cannot be written, before the contents are computed.

        Raises:
            UserError: it cannot be a file, or is a file of a run, or another existing file without `force`.
        """
        name, folder = f"{self.option} {self.target}", self.within or self.target.parent
        hint = "Give another file."
        if not os.path.isdir(folder):
            raise UserError(f"{name}: there is no folder {folder}", "Create it first, or give another folder.")
        require_writable(folder, name)
        require_file(self.target, hint, name)
        if not os.path.lexists(self.target):
            return
        if self.target.name in RUN_FILES and any((self.target.parent / other).exists() for other in RUN_FILES):
            raise UserError(f"{name}: this file belongs to a run, so Quorum does not overwrite it", hint)
        if not self.force:
            raise UserError(f"{name}: this file already exists", "Replace it with --force, or give another file.")

    def write(self, data: bytes) -> None:
        """Write the file atomically.

        Raises:
            UserError: see `check`, or it cannot be written.
        """
        write_outputs({self: data})


def write_outputs(files: Mapping[Output, bytes]) -> None:
    """Write files of one folder that belong together: all or none.

    Raises:
        UserError: see `Output.check`; or one cannot be written, or a link blocks it inside the folder.
    """
    for output in files:
        output.check()
    options = " and ".join(dict.fromkeys(output.option for output in files))
    (folder,) = {output.within or output.target.parent for output in files}
    names = {output.target.relative_to(folder).as_posix(): data for output, data in files.items()}
    write_all(folder, names, f"Give another place: {options}.")


def clock_time(seconds: float) -> str:
    """Format a duration as hours, minutes and seconds, with the unit of the first: `1:02:03 h`, `2:03 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"
