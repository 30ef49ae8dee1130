"""The folder of a sweep: the cells' own folders, and `sweep.json`, which says what was planned.

<out>/<sweep>/
    sweep.json
    results.csv
    <cell>/...
    .lock, .workers     see `experiments.sweep.locks`
    .retried/           failed attempts that were repeated
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from experiments.errors import UserError
from experiments.files import write_whole
from experiments.folder import PARTIAL, Unwritable
from experiments.sweep.done import Done, Spent, read_done
from experiments.sweep.plan import Plan
from experiments.sweep.planned import PlannedCell

SCHEMA = 1
"""Version of the form of `sweep.json`."""
MANIFEST = "sweep.json"
RETRIED = ".retried"


@dataclass(frozen=True, slots=True)
class Command:
    """How a sweep was asked for.

    Attributes:
        words: `KEY=VALUE` words: of the cells, the experiment and the engine.
        options: the options that shape the sweep, such as `--name NAME`; none that shapes only this call.
    """

    words: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def text(self) -> str:
        """Give the command as one would type it."""
        return shlex.join(("quorum", "sweep", *self.words, *self.options))


class SweepFolder:
    """The folder of a sweep.

    Args:
        out: the folder that holds many results.
        name: of the sweep.
    """

    def __init__(self, out: Path, name: str) -> None:
        self.path = out.absolute() / name
        self.name = name

    def create(self) -> None:
        """Make the folder, if need be.

        Raises:
            Unwritable: it cannot be made, or nothing can be written there.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            probe = self.path / f"{PARTIAL}probe"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise Unwritable(
                f"{self.path}: results cannot be written there: {error.strerror or error}",
                "Give another folder: --out DIR.",
            ) from error

    def done(self, cells: Iterable[PlannedCell]) -> dict[str, Done]:
        """Read the cells that are done, by name."""
        try:
            present = {entry.name for entry in os.scandir(self.path)}
        except FileNotFoundError:
            return {}
        found = {}
        for cell in cells:
            if cell.name in present and (done := read_done(self.path / cell.name)) is not None:
                found[cell.name] = done
        return found

    def clear(self) -> None:
        """Remove what killed workers left. Only while no worker is at work."""
        for entry in list(os.scandir(self.path)):
            if PARTIAL in entry.name:
                shutil.rmtree(entry.path, ignore_errors=True)
                if entry.is_file():
                    os.unlink(entry.path)

    def retire(self, cell: PlannedCell) -> None:
        """Put the folder of a failed attempt aside, so that the cell is run again."""
        (self.path / RETRIED / cell.name).mkdir(parents=True, exist_ok=True)
        number = sum(1 for _ in (self.path / RETRIED / cell.name).iterdir()) + 1
        os.rename(self.path / cell.name, self.path / RETRIED / cell.name / str(number))

    def retired(self) -> Iterator[Spent]:
        """Give what the failed attempts spent."""
        for folder in sorted((self.path / RETRIED).glob("*/*")):
            if (done := read_done(folder)) is not None:
                yield done.spent

    def manifest(self) -> Mapping[str, Any] | None:
        """Read `sweep.json`; None where there is none.

        Raises:
            UserError: it cannot be read, or a newer Quorum wrote it.
        """
        file = self.path / MANIFEST
        try:
            data = orjson.loads(file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, orjson.JSONDecodeError) as error:
            raise UserError(f"{file}: it cannot be read: {error}") from error
        if not isinstance(data, Mapping) or not isinstance(data.get("schema"), int):
            raise UserError(f"{file}: this is not the file of a sweep", "Choose another --name.")
        if data["schema"] > SCHEMA:
            raise UserError(f"{file}: a newer Quorum wrote it (form {data['schema']}, and this one knows {SCHEMA})")
        return data

    def write_manifest(self, plan: Plan, command: Command) -> None:
        """Write `sweep.json`: this plan, and behind it what earlier commands planned here and is done.

        Raises:
            UserError: an arm of this plan meant something else before.
        """
        before = self.manifest() or {"arms": {}, "cells": []}
        arms = {name: list(words) for name, words in plan.arms.items()}
        for name in arms.keys() & before["arms"].keys():
            if arms[name] != before["arms"][name]:
                raise UserError(
                    f"{self.path / MANIFEST}: the arm {name!r} was {shlex.join(before['arms'][name])} in this sweep",
                    "Give the sweep a name of its own: --name NAME.",
                )
        now = [{"name": cell.name, "hash": cell.hash, "arm": cell.arm} for cell in plan.cells]
        names = {cell.name for cell in plan.cells}
        earlier = [c for c in before["cells"] if c["name"] not in names and read_done(self.path / c["name"])]
        used = {cell["arm"] for cell in earlier}
        data = {
            "schema": SCHEMA,
            "name": self.name,
            "experiment": plan.experiment,
            "arguments": list(command.words),
            "command": command.text,
            "arms": {**{name: words for name, words in before["arms"].items() if name in used}, **arms},
            "cells": now + earlier,
        }
        write_whole(self.path / MANIFEST, orjson.dumps(data, option=orjson.OPT_INDENT_2) + b"\n")


def remove_partial(folder: Path, name: str) -> None:
    """Remove what a dead worker left of a cell."""
    for entry in list(os.scandir(folder)):
        if entry.name.startswith(f"{name}{PARTIAL}"):
            shutil.rmtree(entry.path, ignore_errors=True)
