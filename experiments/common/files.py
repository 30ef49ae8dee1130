"""Files that are there whole or not at all."""

from __future__ import annotations

import logging
import os
import secrets
from pathlib import Path

from quorum.experiments.common.errors import UserError

_log = logging.getLogger(__name__)


def write_whole(target: Path, data: bytes, hint: str = "") -> None:
    """Write a file, or replace it, in one step: a reader meets the old one or the new one.

    Args:
        target: the file.
        data: all of it.
        hint: what to do when it cannot be written.

    Raises:
        UserError: it cannot be written there; nothing is left on disk.
    """
    passing = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with passing.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        passing.replace(target)
    except OSError as error:
        passing.unlink(missing_ok=True)
        raise UserError(f"{target}: cannot be written: {error.strerror or error}", hint) from error
    _log.info("wrote %s", target)
