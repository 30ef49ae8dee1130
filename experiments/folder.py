"""The folder of an episode: written under a passing name, and renamed when it is whole."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from itertools import count
from pathlib import Path

from experiments.errors import UserError

_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}


class EpisodeFolder:
    """A folder of results that is on its way.

    Args:
        out: the folder that holds the results of many episodes; it is made if need be.
        name: final name. When it is taken, `name.2`, `name.3` ... are tried: nothing is ever overwritten.

    Raises:
        UserError: nothing can be written there.
    """

    def __init__(self, out: Path, name: str) -> None:
        self._name = name
        self._made = [folder for folder in (out, *out.parents) if not folder.exists()]
        self.path = out / f"{name}.partial-{secrets.token_hex(4)}"
        """Where the folder is now."""
        try:
            out.mkdir(parents=True, exist_ok=True)
            self.path.mkdir()
        except OSError as error:
            self.discard()
            raise UserError(
                f"--out {out}: results cannot be written there: {error.strerror or error}",
                "Give another folder: --out DIR.",
            ) from error

    def finish(self) -> Path:
        """Give the folder its final name, safely beside other processes that finish the same cell."""
        for number in count(1):
            target = self.path.with_name(self._name if number == 1 else f"{self._name}.{number}")
            try:
                os.rename(self.path, target)
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
            else:
                self.path = target
                break
        return self.path

    def discard(self) -> None:
        """Remove the folder, and those above it that were made for it and are still empty."""
        shutil.rmtree(self.path, ignore_errors=True)
        for folder in self._made:
            try:
                folder.rmdir()
            except OSError:
                break
