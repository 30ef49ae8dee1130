"""Where option files are: in the folders of `--config-dir`, in those that Quorum ships, and next to components.

A package carries the options of its components in a folder `configs` next to the module that registers them. Of an
installed package the entry points name that module, of a plug-in `--plugin` does: no flag names the folder. Nothing is
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
"""The folder of the core's configurations, in the checkout and in an installed package alike."""
SHIPPED = (CONFIGS, *sorted(CONFIGS.parent.glob("*/configs")))
"""The folders of the configurations that ship with Quorum: the core's, then those of satellites."""

ConfigDir: TypeAlias = Path | Sequence[Path]
"""Folders of the user with more options, as `--config-dir` names them; one may stand alone."""

_CARRIED = "configs"
_INSTALLED = {"site-packages", "dist-packages"}


def option_folders(config_dir: ConfigDir = ()) -> tuple[Path, ...]:
    """Return all folders with option files; the first that has an option counts.

    Args:
        config_dir: folders with more options of the groups.

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
    """Return the folders of the user one by one."""
    return (config_dir,) if isinstance(config_dir, Path) else tuple(config_dir)


def carried_folders() -> tuple[Path, ...]:
    """Return the folders of options that installed components and plug-ins carry."""
    offered = {module for registry in ALL_REGISTRIES for module in registry.offering}
    found = (_carried_by(module, tuple(sys.path)) for module in sorted(offered | NAMED_MODULES))
    return tuple(dict.fromkeys(folder for folder in found if folder is not None))


@cache
def _carried_by(module: str, _path: tuple[str, ...]) -> Path | None:
    """Return the folder of options that is nearest to a module, in its package or next to a module that has none."""
    top, *below = module.split(".")
    spec = None
    with suppress(ImportError, ValueError):  # the latter of a module without a specification
        spec = find_spec(top)  # which imports nothing, as it is no part of a package
    for root in spec.submodule_search_locations or () if spec is not None else ():
        for depth in range(len(below), -1, -1):
            folder = Path(root, *below[:depth], _CARRIED)
            if folder.is_dir():
                return folder
    if spec is None or spec.submodule_search_locations is not None or not spec.has_location:
        return None
    place = Path(str(spec.origin)).parent
    return place / _CARRIED if place.name not in _INSTALLED and (place / _CARRIED).is_dir() else None
