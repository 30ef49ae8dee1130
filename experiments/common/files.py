"""What files share: they are there whole or not at all, and what is wrong with one is said in a line."""

from __future__ import annotations

import logging
import os
import secrets
import stat
from pathlib import Path

import yaml

from maeil.user_errors import UserError

_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""What is no file, as messages call it."""
_log = logging.getLogger(__name__)


def write_whole(target: Path, data: bytes, hint: str = "") -> None:
    """Write a file, or replace it, in one step: a reader meets the old one or the new one.

    Args:
        target: the file.
        data: all of it.
        hint: what to do when it cannot be written.

    Raises:
        UserError: it cannot be written there, or what stands there is no file; nothing is left on disk.
    """
    require_file(target, hint)
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


def require_file(target: Path, hint: str = "", name: str = "") -> None:
    """Require that what stands at a place, if anything, is a file: to replace a device, a pipe or a link is no writing.

    Args:
        target: the place.
        hint: what to do otherwise.
        name: what messages call it; empty: its path.

    Raises:
        UserError: it is none.
    """
    try:
        mode = target.lstat().st_mode
    except OSError:
        return  # there is nothing; or it cannot be seen, and then writing says why
    if not stat.S_ISREG(mode):
        kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "no file")
        raise UserError(f"{name or target}: it is {kind}, and is not replaced", hint)


def yaml_problem(error: Exception) -> str:
    """Say in a line what is wrong with a text of YAML."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark
        return f"{error.problem}" + (f" (line {mark.line + 1})" if mark is not None else "")
    return str(error)
