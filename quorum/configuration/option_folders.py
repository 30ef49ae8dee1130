"""Locations of option files: the folders of `--config-dir`, those shipped with Quorum, and those next to components.

A package may have its components' options in a folder `configs` next to the module that registers them. Entry points
name that module for an installed package, and `--plugin` for a plugin, so no flag is needed for the folder. Nothing is
imported to find it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from quorum.configuration.registry import ALL_REGISTRIES
from quorum_base.registry import NAMED_MODULES
from quorum_base.user_errors import UserError

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
"""The folder of the core's configurations, both in a checkout and in an installed package."""
SHIPPED = (CONFIGS, *sorted(CONFIGS.parent.glob("*/configs")))
"""The folders of configurations that ship with Quorum: the core's, then those of satellites."""

ConfigDir: TypeAlias = Path | Sequence[Path]
"""One or several folders of the user with more options, as given by `--config-dir`."""

_CARRIED = "configs"
_INSTALLED = {"site-packages", "dist-packages"}


def option_folders(config_dir: ConfigDir = ()) -> tuple[Path, ...]:
    """Return all folders with option files; the first that has an option takes precedence.

    Args:
        config_dir: folders with more group options.

    Raises:
        UserError: there is no such folder.
    """
    named = named_folders(config_dir)
    for folder in named:
        if not folder.is_dir():
            raise UserError(f"--config-dir {folder}: no such folder")
    found: dict[Path, Path] = {}
    for folder in (*named, *SHIPPED, *carried_folders()):
        found.setdefault(folder.resolve(), folder)
    return tuple(found.values())


def named_folders(config_dir: ConfigDir) -> tuple[Path, ...]:
    """Return the user's folders as a tuple."""
    return (config_dir,) if isinstance(config_dir, Path) else tuple(config_dir)


def carried_folders() -> tuple[Path, ...]:
    """Return the option folders of installed components and plugins."""
    offered = {module for registry in ALL_REGISTRIES for module in registry.offering}
    found = (_carried_by(module, tuple(sys.path)) for module in sorted(offered | NAMED_MODULES))
    return tuple(dict.fromkeys(folder for folder in found if folder is not None))


@cache
def _carried_by(module: str, _path: tuple[str, ...]) -> Path | None:
    """Return the option folder nearest to a module, in its package or next to a top-level module."""
    top, *below = module.split(".")
    spec = None
    with suppress(ImportError, ValueError):  # ValueError: a module without a specification
        spec = find_spec(top)  # imports nothing, as it has no parent package
    for root in spec.submodule_search_locations or () if spec is not None else ():
        for depth in range(len(below), -1, -1):
            folder = Path(root, *below[:depth], _CARRIED)
            if folder.is_dir():
                return folder
    if spec is None or spec.submodule_search_locations is not None or not spec.has_location:
        return None
    place = Path(str(spec.origin)).parent
    return place / _CARRIED if place.name not in _INSTALLED and (place / _CARRIED).is_dir() else None
