"""The folder in which compiled kernels are kept: the user's own."""

from __future__ import annotations

import os
import stat
from pathlib import Path

WAY_OUT = "Set NUMBA_CACHE_DIR to a folder of yours that can be written to."


class NoFolder(Exception):
    """Compiled kernels cannot be kept, or not where only the user can write; the text says why, and what to set."""


def cache_folder() -> Path:
    """Return the folder of compiled kernels, and make it if need be.

    It is `kernels` in `$XDG_CACHE_HOME/quorum` or `~/.cache/quorum`, with access for its owner alone, or the folder
    that the variable `NUMBA_CACHE_DIR` names, which is taken as it is. What lies there is loaded as code.

    Raises:
        NoFolder: there is none and it cannot be made, or others can write to it.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Path(named).absolute()
    caches = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(caches) if os.path.isabs(caches) else Path.home() / ".cache"
    folder = home / "quorum" / "kernels"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        for part in (folder.parent, folder):
            _require_own(part)
    except OSError as error:
        raise NoFolder(f"{folder}: {error.strerror}. {WAY_OUT}") from error
    return folder


def _require_own(folder: Path) -> None:
    """Require that nobody but its owner, who is the user or root, can write to a folder.

    Raises:
        NoFolder: somebody can.
    """
    if os.name == "nt":
        return  # the home of a user is closed to others there, and says nothing in these bits
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (0, os.geteuid()) or found.st_mode & 0o022:
        raise NoFolder(f"{folder}: others can write to it, and what lies there is run as code. {WAY_OUT}")
