"""Engines of packages that only some need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from experiments.errors import UserError
from experiments.packages import DISTRIBUTION


def needed(module: str, extra: str) -> Any:
    """Import the package of an extra.

    Raises:
        UserError: it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(
            f"engine={extra}: the package {module} is missing", f"pip install '{DISTRIBUTION}[{extra}]'"
        ) from error
