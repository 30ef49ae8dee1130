"""The folder of Quorum's caches: compiled kernels and answers of language models."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def user_cache() -> Path:
    """Return `quorum` in `$XDG_CACHE_HOME` if that path is absolute, otherwise in `~/.cache`. It need not exist.

    Raises:
        OSError: the user has no home folder.
    """
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(caches):
        return Path(caches, "quorum")
    try:
        return Path.home() / ".cache" / "quorum"
    except RuntimeError as error:  # HOME is not set, and the system does not know the user
        raise OSError(errno.ENOENT, "this user has no home folder: set HOME or XDG_CACHE_HOME") from error
