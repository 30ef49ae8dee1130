"""`study.json`: what a study is, how it was stopped, each look at its results, and what it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from quorum.storage.files import write_all
from quorum.storage.run_files import RunFiles
from quorum_base.user_errors import UserError

STUDY = "study.json"
SCHEMA = 1
_LARGEST = 2**24


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Look(_Part):
    """A look at the results: after each, more boards can be added, which is why each is recorded."""

    boards: int
    """Boards that the treatment had then."""
    draws: int
    """Draws of each."""
    stop: str
    """Why no more boards were added by the command: by design, by hand, a budget, a condition."""
    time: str
    """When, ISO 8601 in UTC."""
    effect: float | None = None
    """The effect that answers the question."""
    p: float | None = None
    """Its p-value over these boards, as if they had been the design."""


class Record(_Part):
    """What outlasts the commands of a study: all else follows from its runs."""

    looks: Sequence[Look] = ()
    """In order."""
    no_room: Mapping[str, float] = Field(default_factory=dict)
    """Boards that were left out beforehand for want of room, each with the room that it has."""
    screened: Sequence[int] = ()
    """Boards that were looked at beforehand."""

    def with_look(self, look: Look) -> Record:
        """Return the record with a look more, unless the same was seen before, by the same command typed again."""
        if any(look == earlier.model_copy(update={"time": look.time}) for earlier in self.looks):
            return self
        return self.model_copy(update={"looks": (*self.looks, look)})


def read_record(folder: Path) -> Record:
    """Read what is known of a study; an empty record where there is none.

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
    """Write the file, whole or not at all.

    Raises:
        UserError: it cannot be written.
    """
    data = {"schema": SCHEMA, **facts, **record.model_dump(mode="json")}
    text = orjson.dumps(data, option=orjson.OPT_INDENT_2) + b"\n"
    write_all(folder, {STUDY: text}, "Give another folder: --out DIR.")
