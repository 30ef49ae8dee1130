"""What the code of a third party is: the files of its package, digested once a process.

A process runs the code that it has imported, so later changes on disk are not seen, and must not be.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import orjson
from packaging.utils import canonicalize_name

from quorum.installation.packages import base_names, owners
from quorum_base.components import PACKAGES
from quorum_base.digests import digest, digest_file

NO_FILES = "no files"
"""Stands for the digest of code that has none: it was typed into a notebook."""

_INSTALLED = {"site-packages", "dist-packages"}
_RESULTS = {"sweep.json", "meta.json"}
"""Files that only folders of results hold: they are no part of a package, wherever they were written."""


LIBRARY = "library "
"""What stands before the name of a distribution that a plug-in imports, in the inputs of a cell."""


@cache
def describe_package(package: str) -> Mapping[str, str]:
    """Return what a top-level package or module that is imported is, as inputs of a cell.

    `package NAME` is the digest of all files of a package but hidden ones and results; where the package is not
    installed, also of the modules next to it that it imports. Its version is before it if it has one. `library NAME` is
    the version of each distribution that these files import, but for those of Quorum's own base install.
    """
    files = dict(_files(package))
    if not files:
        return {f"package {package}": NO_FILES}
    content = digest(orjson.dumps(sorted((name, digest_file(file)) for name, file in files.items())))
    own = {name.partition("/")[0].removesuffix(".py") for name in files}
    imported = set[str]().union(*(_imported(file) for file in files.values() if file.suffix == ".py"))
    base = base_names()
    held = owners(package, *(imported - own - sys.stdlib_module_names - base))
    version = "".join(f"{owner.version} " for owner in held.pop(package)[:1])
    libraries = {owner.name: owner.version for holders in held.values() for owner in holders}
    return {
        f"package {package}": f"{version}{content}",
        **{f"{LIBRARY}{name}": libraries[name] for name in libraries if canonicalize_name(name) not in base},
    }


def _files(package: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of a package and of its neighbours, each with its name from the folder that holds the package."""
    module = sys.modules[package]
    paths = [Path(path) for path in getattr(module, "__path__", [])]
    if not paths and getattr(module, "__file__", None) is None:
        return
    waiting = paths or [Path(str(module.__file__))]
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        for file in _inside(path) if path.is_dir() else [path]:
            yield file.relative_to(path.parent).as_posix(), file
            if file.suffix == ".py" and not _INSTALLED & set(path.parts):
                neighbours = {found for name in _imported(file) for found in _beside(path.parent, name)}
                waiting += sorted(neighbours - seen)
                seen |= neighbours


def _inside(folder: Path) -> Iterator[Path]:
    for path, folders, names in os.walk(folder):
        if _RESULTS & set(names):
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))]
        yield from (Path(path, name) for name in names if not name.startswith(".") and not name.endswith(".pyc"))


@cache
def _imported(file: Path) -> frozenset[str]:
    """Return the top-level names that a module imports."""
    try:
        parsed = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    found = set()
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module).partition(".")[0])
    return frozenset(found) - PACKAGES


def _beside(folder: Path, name: str) -> Iterator[Path]:
    """Yield the module or the package of a name in a folder."""
    if (folder / f"{name}.py").is_file():
        yield folder / f"{name}.py"
    elif (folder / name / "__init__.py").is_file():
        yield folder / name
