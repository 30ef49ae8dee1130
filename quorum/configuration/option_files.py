"""Option files: their values, and errors in reading them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from quorum_base.user_errors import UserError, shown_path

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def broken_yaml(error: BaseException) -> UserError | None:
    """Return the user error for invalid YAML in an error or its causes; None if there is none."""
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, yaml.MarkedYAMLError) and link.problem_mark is not None:
            mark = link.problem_mark
            hint = (
                "Indent with spaces: YAML does not allow tabs." if re.search(r"\\t|\btab\b", link.problem or "") else ""
            )
            inside = f" ({link.context})" if link.context else ""
            return UserError(
                f"{shown_path(mark.name)}:{mark.line + 1}: it is not valid YAML: {link.problem}{inside}", hint
            )
        if isinstance(link, yaml.reader.ReaderError) and Path(link.name).is_file():
            line = Path(link.name).read_bytes()[: link.position].count(b"\n") + 1
            return UserError(f"{shown_path(link.name)}:{line}: it is not UTF-8 text: {link.reason}")
        link = link.__cause__ or link.__context__
    return None


def check_option(file: Path) -> None:
    """Check that an option file can be read.

    Raises:
        UserError: it is not YAML, or has no keys.
    """
    try:
        with file.open("rb") as stream:
            found = yaml.load(stream, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise broken_yaml(error) or UserError(f"{shown_path(file)}: it is not valid YAML: {error}") from error
    if not isinstance(found, dict):
        kind = "nothing" if found is None else f"a {type(found).__name__}"
        raise UserError(f"{shown_path(file)}:1: it contains {kind}; an option file must contain keys with values")


def check_folder(folder: Path) -> None:
    """Check that all option files of a folder can be read.

    Raises:
        UserError: one cannot.
    """
    for file in sorted(folder.glob("*/*.yaml")):
        check_option(file)


def option_values(group: str, name: str, folders: tuple[Path, ...], without: str | None = None) -> Mapping[str, Any]:
    """Return the values of an option and the options that it includes, with unresolved interpolations.

    Args:
        group: its group.
        name: name of an existing option.
        folders: folders with option files; the first with a name takes precedence.
        without: exclude included options whose name starts with this.
    """
    files = (folder / group / f"{name}.yaml" for folder in folders)
    file = next(file for file in files if file.is_file())
    plain = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER) or {}
    included = [str(entry).removesuffix("@_here_") for entry in plain.pop("defaults", ()) if entry != "_self_"]
    values: dict[str, Any] = {}
    for other in included:
        if without is None or not other.startswith(without):
            values |= option_values(group, other, folders, without)
    return values | plain
