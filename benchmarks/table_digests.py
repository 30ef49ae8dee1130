"""What the figures of a table depend on, as digests, and the record of when each table was measured.

A digest covers only what can move a figure: Python code without comments, docstrings and layout; the values of YAML,
TOML and JSON files without their comments; templates without their comments; the bytes of other files. It uses the
files of the checkout, whether or not they are committed.

`guide_tables.yaml` names groups of files and folders, and the groups of each table. Further dependencies follow from
its commands: the scripts, experiments and published figures that they name, and the files that its page shows.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

ROOT = Path(__file__).resolve().parents[1]
LOCK = Path(__file__).with_name("guide_tables.lock")
SKIPPED = {".pyi", ".md", ".typed", ".pyc"}
"""Suffixes of files that move no figure."""
_SCRIPT = re.compile(r"python (?:-m (benchmarks[\w.]*)|(\S+\.py))")
_NAMED = re.compile(r"\b(experiment=|experiment: |reproduce )([\w-]+)")
_LOCK_HEADER = (
    "# When each table of the guide was measured, and digests of what it depends on. Only `python -m\n"
    "# benchmarks.guide_tables --write` and `--confirm` change this file: see guide_tables.py.\n"
)


class Measured(BaseModel):
    """The last measurement of a table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    measured: date
    """Its day."""
    version: str
    """The version of Quorum."""
    seconds: int
    """How long it took, including commands that other tables share and have not run before."""
    figures: str
    """Digest of the figures of the table on its page."""
    digests: Mapping[str, str]
    """Digests of what the table depended on, by group."""


def read_lock(path: Path = LOCK) -> dict[str, Measured]:
    """Read the last measurements by table; empty if there is no file."""
    if not path.exists():
        return {}
    entries = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    return {name: Measured.model_validate(entry) for name, entry in entries.items()}


def write_lock(entries: Mapping[str, Measured], path: Path = LOCK) -> None:
    """Write the last measurements."""
    plain = {name: entry.model_dump() for name, entry in sorted(entries.items())}
    text = yaml.safe_dump(plain, default_flow_style=None, sort_keys=False, width=1000, allow_unicode=True)
    path.write_text(_LOCK_HEADER + text, encoding="utf-8")


def digest(parts: Iterable[str]) -> str:
    """Return a short digest of some texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def group_digest(entries: Sequence[str], root: Path = ROOT) -> str:
    """Return the digest of a group of files.

    Args:
        entries: files, folders and globs from the top of the repository. One that starts with `!` removes files that
            earlier ones have added.
        root: the top of the repository.

    Raises:
        ValueError: an entry matches no file.
    """
    found: dict[Path, None] = {}
    for entry in entries:
        files = list(_files(entry.removeprefix("!"), root))
        if not files:
            raise ValueError(f"{entry}: no file matches")
        if entry.startswith("!"):
            found = {path: None for path in found if path not in files}
        else:
            found |= dict.fromkeys(files)
    return digest(f"{path.relative_to(root).as_posix()} {file_content(path)}" for path in sorted(found))


def _files(entry: str, root: Path) -> Iterator[Path]:
    for path in root.glob(entry):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix not in SKIPPED and "__pycache__" not in file.parts:
                yield file


@cache
def file_content(path: Path) -> str:
    """Return what counts of a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return content(text, path.suffix)


def content(text: str, suffix: str) -> str:
    """Return what counts of the text of a file with this suffix."""
    match suffix:
        case ".py":
            return repr(_shape(ast.parse(text)))
        case ".yaml":
            return repr(list(yaml.safe_load_all(text)))
        case ".toml":
            return repr(tomllib.loads(text))
        case ".json":
            return repr(json.loads(text))
        case ".jinja":
            return re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL)
    return text


def _shape(node: Any) -> Any:
    """Return a syntax tree as nested lists, without positions, docstrings and empty fields.

    All constants that stand alone go, so also docstrings of fields. Without empty fields, it is the same in every
    version of Python that has the syntax.
    """
    if isinstance(node, ast.AST):
        fields = ((name, _shape(value)) for name, value in ast.iter_fields(node) if name not in ("ctx", "kind"))
        return [type(node).__name__, *((name, value) for name, value in fields if value not in (None, []))]
    if isinstance(node, list):
        kept = (one for one in node if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)))
        return [_shape(one) for one in kept]
    return node


def commands_digest(commands: Sequence[str], shown: Mapping[str, str], root: Path = ROOT) -> str:
    """Return the digest of what the commands of a table name: scripts, experiments and published figures.

    Args:
        commands: the commands.
        shown: the files that their page shows, by path.
        root: the top of the repository.
    """
    scripts = [
        path or module.replace(".", "/") + ("" if (root / module.replace(".", "/")).is_dir() else ".py")
        for command in commands
        for module, path in _SCRIPT.findall(command)
    ]
    named = dict.fromkeys(file for command in commands for file in _named(command, root))
    paths = [*scripts, *(path.relative_to(root).as_posix() for path in named)]
    files = [f"{name} {content(text, Path(name).suffix)}" for name, text in sorted(shown.items())]
    return digest([*([group_digest(paths, root)] if paths else []), *files])


def _named(text: str, root: Path) -> Iterator[Path]:
    """Yield the files of the experiments and published figures in a command, and those that a figure names."""
    for kind, name in _NAMED.findall(text):
        folder = "reproduce/figures" if kind.startswith("reproduce") else "configs/experiment"
        for path in sorted(root.glob(f"quorum/**/{folder}/{name}.yaml")) or sorted(
            root.glob(f"examples/**/{folder}/{name}.yaml")
        ):
            yield path
            yield from _named(path.read_text(encoding="utf-8"), root) if kind.startswith("reproduce") else ()
