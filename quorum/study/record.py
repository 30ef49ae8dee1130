"""`study.json`: the definition of a study, why it stopped, each look at its results, and its findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from quorum.storage.files import write_all
from quorum.storage.run_files import RunFiles
from quorum_base.user_errors import UserError

STUDY = "study.json"
SCHEMA = 1
_LARGEST = 2**24


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Look(_Part):
    """A look at the results. Boards can be added after each look, so every look is recorded."""

    boards: int
    """Number of boards of the treatment at that time."""
    draws: int
    """Draws of each board."""
    stop: str
    """Why the command added no more boards: by design, by hand, a budget, a condition."""
    time: str
    """Time of the look, ISO 8601 in UTC."""
    effect: float | None = None
    """The effect that answers the question."""
    p: float | None = None
    """Its p-value over these boards, as if they were the design."""


class Record(_Part):
    """The state that outlasts the commands of a study; everything else follows from its runs."""

    looks: Sequence[Look] = ()
    """All looks, in order."""

    def with_look(self, look: Look) -> Record:
        """Return the record with another look, unless the same command already recorded the same one."""
        if any(look == earlier.model_copy(update={"time": look.time}) for earlier in self.looks):
            return self
        return self.model_copy(update={"looks": (*self.looks, look)})


def read_record(folder: Path) -> Record:
    """Read the record of a study; empty if there is none.

    Raises:
        UserError: the file is damaged.
    """
    text = RunFiles(folder).read(STUDY, _LARGEST) if folder.is_dir() else None
    if text is None:
        return Record()
    try:
        return Record.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UserError(
            f"{folder / STUDY}: {where}: {first['msg']}",
            "Give the study another name, --name NAME, or remove the file.",
        ) from error


def write_record(folder: Path, facts: Mapping[str, Any], record: Record) -> None:
    """Write the file, completely or not at all.

    Raises:
        UserError: it cannot be written.
    """
    data = {"schema": SCHEMA, **facts, **record.model_dump(mode="json")}
    text = orjson.dumps(data, option=orjson.OPT_INDENT_2) + b"\n"
    write_all(folder, {STUDY: text}, "Give another folder: --out DIR.")
