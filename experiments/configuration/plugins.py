"""Modules of third parties that the user names with `--plugin`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable
from importlib import import_module

from maeil.user_errors import UserError

_log = logging.getLogger(__name__)


def load_plugins(modules: Iterable[str]) -> None:
    """Import the modules, each of which registers its components. The current folder is searched last.

    Raises:
        UserError: there is no such module. An error inside a module is the module's own and keeps its traceback.
    """
    for module in modules:
        if not all(part.isidentifier() for part in module.split(".")):
            raise UserError(f"--plugin {module!r}: give the name of a Python module, such as my_worlds.maze")
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
        try:
            found = import_module(module)
        except ModuleNotFoundError as error:
            if error.name and f"{module}.".startswith(f"{error.name}."):
                raise UserError(
                    f"--plugin {module}: no module of this name in the current folder or among the installed packages"
                ) from error
            raise
        _log.info("imported the plug-in %s from %s", module, found.__file__)
