"""Third-party modules that the user names with `--plugin`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from maeil.metrics import METRICS
from quorum.agents.skills import skills
from quorum.configuration.registry import ALL_REGISTRIES
from quorum.installation.extension_errors import belongs_to_extensions, extension_errors
from quorum_base.exits import without_exit
from quorum_base.registry import NAMED_MODULES
from quorum_base.user_errors import UserError, shown_path

_log = logging.getLogger(__name__)
_of_unknown_effect: list[str] = []


def load_plugins(modules: Iterable[str]) -> None:
    """Import the modules, each of which registers its components. The current folder is searched last.

    Args:
        modules: module names, or paths of modules or package folders.

    Raises:
        UserError: there is no such module.
        ExtensionError: it cannot be imported; the cause is its exception.
    """
    for said in modules:
        module = _module_at(said) if os.sep in said or said.endswith(".py") else said
        if not all(part.isidentifier() for part in module.split(".")):
            raise UserError(
                f"--plugin {said!r}: give the name of a Python module, such as my_worlds.maze, or its path, such as "
                "folder/maze.py"
            )
        _search_in(os.getcwd())
        belongs_to_extensions(module)
        NAMED_MODULES.add(module)
        try:
            with extension_errors(UserError), without_exit():
                before = _registered()
                is_new = module not in sys.modules
                found = import_module(module)
        except ModuleNotFoundError as error:
            if error.name and f"{module}.".startswith(f"{error.name}."):
                raise UserError(
                    f"--plugin {said}: no module of this name in the current folder or among the installed packages",
                    "Give its path: --plugin folder/module.py, or the folder of a package.",
                ) from error
            raise
        if getattr(found, "__file__", None) is None and (folder := next(iter(getattr(found, "__path__", ())), None)):
            raise _no_package(said, Path(folder))
        _log.info("imported the plug-in %s from %s", module, found.__file__)
        if is_new and _registered() == before:
            _of_unknown_effect.append(module.partition(".")[0])


def _module_at(said: str) -> str:
    """Return the import name of the module or package at a path; its folder is added to the module search path.

    Raises:
        UserError: there is none, or Python finds another module of this name.
    """
    path = Path(os.path.abspath(said))
    if path.is_dir() and not (path / "__init__.py").is_file():
        raise _no_package(said, path)
    if not path.is_dir() and (path.suffix != ".py" or not path.is_file()):
        raise UserError(f"--plugin {said}: there is no module here", "Give a file that ends in .py, or a package.")
    name, file = path.stem, path / "__init__.py" if path.is_dir() else path
    _search_in(str(path.parent))
    spec = find_spec(name) if name.isidentifier() else None
    if spec is not None and not (
        spec.origin is not None and os.path.exists(spec.origin) and file.samefile(spec.origin)
    ):
        raise UserError(f"--plugin {said}: Python finds another module of this name", "Rename the file.")
    return name


def _no_package(said: str, folder: Path) -> UserError:
    inside = sorted(file.parent.name for file in folder.glob("*/__init__.py"))
    hint = f"Give the package in it: --plugin {shown_path(folder / inside[0])}." if inside else ""
    return UserError(f"--plugin {said}: {shown_path(folder)} is a folder without an __init__.py", hint)


def _search_in(folder: str) -> None:
    if folder not in sys.path:
        sys.path.append(folder)


def of_unknown_effect() -> Sequence[str]:
    """Return the top-level packages of modules that registered neither a component nor a metric.

    Their effects, such as changed rewards of a world, do not show in a configuration.
    """
    return tuple(_of_unknown_effect)


def _registered() -> int:
    """Count registrations; load metrics of installed packages first, as a plugin's own lookup would load them."""
    registries = (*ALL_REGISTRIES, skills)
    return sum(len(registry.names()) for registry in registries) + len(METRICS)
