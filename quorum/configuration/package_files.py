"""Identifies third-party code by the files of its package, hashed once per process.

A process runs the code that it has imported, so later changes on disk must not count.
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
"""Replaces the digest of code without files, such as code typed into a notebook."""

_INSTALLED = {"site-packages", "dist-packages"}
_RESULTS = {"sweep.json", "meta.json"}
"""Files that exist only in results folders: they are not part of a package, wherever they were written."""


LIBRARY = "library "
"""Prefix of the name of a distribution that a plugin imports, in the inputs of a cell."""


@cache
def describe_package(package: str) -> Mapping[str, str]:
    """Identify an imported top-level package or module, as inputs of a cell.

    `package NAME` is the digest of all files of a package except hidden ones and results; if the package is not
    installed, it also covers neighbouring modules that it imports. A version, if there is one, precedes the digest.
    `library NAME` is the version of each distribution that these files import, except those of Quorum's own base
    install.
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
    """Yield the files of a package and its neighbours, each with its path relative to the package's parent folder."""
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
    """Yield the module or package of this name in a folder."""
    if (folder / f"{name}.py").is_file():
        yield folder / f"{name}.py"
    elif (folder / name / "__init__.py").is_file():
        yield folder / name
