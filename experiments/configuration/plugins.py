"""Modules of third parties that the user names with `--plugin`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

from maeil.component import NAMED_MODULES
from maeil.exits import without_exit
from maeil.metrics import METRICS
from maeil.user_errors import UserError, shown_path
from quorum.agents.skills import skills
from quorum.experiments.common.extension_errors import belongs_to_extensions, extension_errors
from quorum.experiments.configuration.registry import REGISTRIES, engines, extensions, trackers

_log = logging.getLogger(__name__)
_of_unknown_effect: list[str] = []


def load_plugins(modules: Iterable[str]) -> None:
    """Import the modules, each of which registers its components. The current folder is searched last.

    Raises:
        UserError: there is no such module.
        ExtensionError: it cannot be imported; its cause is what it raised.
    """
    for module in modules:
        if not all(part.isidentifier() for part in module.split(".")):
            raise UserError(f"--plugin {module!r}: give the name of a Python module, such as my_worlds.maze")
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
        is_new, before = module not in sys.modules, _registered()
        belongs_to_extensions(module)
        NAMED_MODULES.add(module)
        try:
            with extension_errors(UserError), without_exit():
                found = import_module(module)
        except ModuleNotFoundError as error:
            if error.name and f"{module}.".startswith(f"{error.name}."):
                raise UserError(
                    f"--plugin {module}: no module of this name in the current folder or among the installed packages"
                ) from error
            raise
        if getattr(found, "__file__", None) is None and (folder := next(iter(getattr(found, "__path__", ())), None)):
            raise UserError(
                f"--plugin {module}: {shown_path(folder)} is a folder without an __init__.py",
                f"Type the command in the folder that holds the package: cd {shown_path(folder)}",
            )
        _log.info("imported the plug-in %s from %s", module, found.__file__)
        if is_new and _registered() == before:
            _of_unknown_effect.append(module.partition(".")[0])


def of_unknown_effect() -> Sequence[str]:
    """Return the top-level packages of the modules that registered neither a component nor a metric.

    What they change, such as the rewards of a world, does not show in a configuration.
    """
    return tuple(_of_unknown_effect)


def _registered() -> int:
    registries = (*REGISTRIES, engines, trackers, extensions, skills)
    return sum(len(registry.names()) for registry in registries) + len(METRICS.present)
