"""The values of an option's file, for what stands in the place of a group's own values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def option_values(group: str, name: str, folders: tuple[Path, ...], without: str | None = None) -> Mapping[str, Any]:
    """Return the values of an option and of those that it includes; interpolations in them are still open.

    Args:
        group: that it is an option of.
        name: its name; there is such an option.
        folders: with the files of the options, the first of a name counting.
        without: what the names of those begin with that are left out.
    """
    files = (folder / group / f"{name}.yaml" for folder in folders)
    file = next(file for file in files if file.is_file())
    plain = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    included = [str(entry).removesuffix("@_here_") for entry in plain.pop("defaults", ()) if entry != "_self_"]
    values: dict[str, Any] = {}
    for other in included:
        if without is None or not other.startswith(without):
            values |= option_values(group, other, folders, without)
    return values | plain
