"""The catalogue of groups, options and keys, read from the configuration files without Hydra.

A file's first comment line describes the file, and the comment after a value describes the value.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from quorum.configuration.option_folders import CONFIGS, SHIPPED, ConfigDir, option_folders

BUILTIN_GROUPS: tuple[str, ...] = ("env", "agents", "topology", "llm", "prompts", "clock", "extension")
"""The groups of every experiment, in the order of the defaults list."""
EXTENSION = "extension"
"""The group that allows several options: `extension=[repair,NAME]`."""
EXPERIMENT = "experiment"
"""The group of named experiments."""
SWEEP_GROUPS: tuple[str, ...] = ("engine", "track", EXPERIMENT)
"""Sweep-level groups: the engine, the tracker and the experiment. They are not part of a cell."""

_MOST_ENTRIES = 5_000
"""Maximum number of files and folders to search for options."""
_GLOBAL = "# @package _global_"
_LINE = re.compile(
    r"""(?P<indent>\ *) (?P<key>[A-Za-z_]\w*):
        (?:\ + (?P<value>'[^']*' | "[^"]*" | [^#\ ].*?))?
        (?:\ +\#\ * (?P<comment>.*))? $""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Knob:
    """A configuration key.

    Attributes:
        key: dotted key, relative to the top of its file.
        value: value as written in the file.
        description: the comment after the value.
    """

    key: str
    value: str
    description: str


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a group: one file.

    Attributes:
        group: the group.
        name: name of the option, as in `GROUP=NAME`.
        description: the file's first comment line.
        knobs: its keys.
        source: the folder that it comes from; empty for the project's own.
        top: whether its keys are top-level keys instead of keys of its group (`@package _global_`).
    """

    group: str
    name: str
    description: str
    knobs: tuple[Knob, ...]
    source: str = ""
    top: bool = False

    @property
    def component(self) -> str:
        """The name of the component that it chooses; empty if it names none."""
        prefix = f"{self.group}." if self.top else ""
        return next((knob.value for knob in self.knobs if knob.key == f"{prefix}name"), "")

    @property
    def typed(self) -> tuple[Knob, ...]:
        """The keys that can be set in addition to `GROUP=NAME`, as they are typed.

        Excludes the name, which the option itself sets, and values that flow from another key, which is set instead.
        """
        keys = (knob if self.top else replace(knob, key=f"{self.group}.{knob.key}") for knob in self.knobs)
        return tuple(knob for knob in keys if knob.key != f"{self.group}.name" and "${" not in knob.value)


def knobs() -> tuple[Knob, ...]:
    """Return the top-level keys, which all groups share."""
    return tuple(knob for knob in _own_knobs(CONFIGS / "config.yaml") if not knob.key.startswith("defaults"))


def options(config_dir: ConfigDir = ()) -> tuple[Option, ...]:
    """Return the options of all groups.

    Args:
        config_dir: folders with more group options.

    Raises:
        UserError: there is no such folder.
    """
    others = (folder for folder in option_folders(config_dir) if folder not in SHIPPED)
    found = [*_shipped(contents(SHIPPED)), *(option for folder in others for option in _options(folder, str(folder)))]
    order: Sequence[str] = (*BUILTIN_GROUPS, *SWEEP_GROUPS)
    return tuple(sorted(found, key=lambda o: (order.index(o.group) if o.group in order else len(order), o.group)))


def option_names(group: str, config_dir: ConfigDir = ()) -> list[str]:
    """Return the names of the options of a group.

    Raises:
        UserError: see `options`.
    """
    return sorted({option.name for option in options(config_dir) if option.group == group})


def contents(folders: Sequence[Path]) -> str | None:
    """Return a digest of the option files of folders; None if there is too much to read."""
    digest = hashlib.sha256()
    left = _MOST_ENTRIES
    for folder in folders:
        for path, below, names in os.walk(folder):
            left -= len(names) + len(below)
            if left < 0:
                return None
            below.sort()
            for name in sorted(names):
                if name.endswith((".yaml", ".yml")):
                    file = os.path.join(path, name)
                    with open(file, "rb") as stream:
                        digest.update(f"{file}\0".encode(errors="surrogateescape") + stream.read() + b"\0")
    return digest.hexdigest()


def group_names(folders: Sequence[Path]) -> frozenset[str]:
    """Return the groups that have a folder: Quorum's and the user's own."""
    return frozenset(
        entry.name for folder in folders for entry in folder.iterdir() if entry.is_dir() and entry.name != "__pycache__"
    )


@lru_cache(maxsize=8)
def _shipped(_contents: str | None) -> tuple[Option, ...]:
    """Return the options of this project, read once for each state of its files."""
    return tuple(option for folder in SHIPPED for option in _options(folder, ""))


def _options(folder: Path, source: str) -> Iterator[Option]:
    for file in sorted(folder.glob("*/*.yaml")):
        lines = file.read_text(encoding="utf-8").splitlines()
        comments = (line[1:].strip() for line in lines if line.startswith("#"))
        description = next((text for text in comments if not text.startswith("@package")), "")
        yield Option(file.parent.name, file.stem, description, _knobs(file), source, _GLOBAL in lines)


def _knobs(file: Path) -> tuple[Knob, ...]:
    """Return the keys of a file, followed by those of the files in its folder that it includes (`- NAME@_here_`)."""
    included = re.findall(r"^  - (\S+)@_here_$", file.read_text(encoding="utf-8"), re.MULTILINE)
    found = {knob.key: knob for knob in _own_knobs(file)}
    for knob in (knob for name in included for knob in _knobs(_included(file, name))):
        found.setdefault(knob.key, knob)
    return tuple(found.values())


def _included(file: Path, name: str) -> Path:
    neighbour = file.parent / f"{name}.yaml"
    return neighbour if neighbour.exists() else CONFIGS / file.parent.name / f"{name}.yaml"


def _own_knobs(file: Path) -> Iterator[Knob]:
    parents: list[tuple[int, str]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        indent, key, value = len(match["indent"]), match["key"], match["value"]
        while parents and parents[-1][0] >= indent:
            parents.pop()
        if value:
            yield Knob(".".join([*(name for _, name in parents), key]), value, match["comment"] or "")
        else:
            parents.append((indent, key))
