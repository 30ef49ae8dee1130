"""What files share: they are there whole or not at all, and what is wrong with one is said in a line."""

from __future__ import annotations

import logging
import os
import secrets
from pathlib import Path

import yaml

from maeil.user_errors import UserError

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


def yaml_problem(error: Exception) -> str:
    """Say in a line what is wrong with a text of YAML."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark
        return f"{error.problem}" + (f" (line {mark.line + 1})" if mark is not None else "")
    return str(error)
