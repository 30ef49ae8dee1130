"""The file of messages of another board: a list as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from maeil.messages import MessageKind

_LARGEST = 1 << 26
"""Maximum size of the file, in bytes."""


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class Donor:
    """A message that was sent on another board.

    Attributes:
        t: environment step in which it was sent.
        sender: index of its sender.
        content: its text.
        kind: its kind; None if unknown.
        seed: seed of its board, whose own runs do not read it; None: all runs read it.
    """

    t: Annotated[int, Field(ge=0)]
    sender: Annotated[int, Field(ge=0)]
    content: str
    kind: MessageKind | None = None
    seed: int | None = None


_DONORS = TypeAdapter(Annotated[list[Donor], Field(min_length=1)])


def donors_file(donors: Sequence[Donor]) -> bytes:
    """Return the content of a file of donors."""
    return _DONORS.dump_json([*donors])


def read_donors(file: Path) -> Sequence[Donor]:
    """Read a file of donors.

    Raises:
        ValueError: there is no such file, or it is not a list of messages.
    """
    if not file.is_file():
        raise ValueError(f"donors: {file}: there is no such file")
    try:
        if file.stat().st_size > _LARGEST:
            raise ValueError(f"donors: {file}: it is longer than {_LARGEST:,} bytes")
        return _DONORS.validate_json(file.read_bytes())
    except OSError as error:
        raise ValueError(f"donors: {file}: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        needed = "not a list of messages with t, sender and content"
        raise ValueError(f"donors: {file}: {needed}: {place}: {first['msg']}") from error
