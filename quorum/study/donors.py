"""The file of messages of other boards, which the arm `shuffled` reads: a list as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from maeil.messages import MessageKind
from maeil.trace.events import MessageSent
from quorum.runs.run_folder import RunFolder
from quorum.storage.files import write_all
from quorum_base.user_errors import UserError

DONORS = "donors.json"
"""Name of the file in the folder of a study."""
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


def write_donors(runs: Sequence[Path], file: Path) -> None:
    """Write the messages of some runs, each with its board.

    Args:
        runs: their folders.
        file: the file to write, in an existing folder: a list as JSON, in the order of sending.

    Raises:
        UserError: a trace is damaged or has no messages, or the file cannot be written.
    """
    write_all(file.parent, {file.name: _DONORS.dump_json([donor for run in runs for donor in _said(run)])})


def _said(run: Path) -> list[Donor]:
    trace = RunFolder(run).trace()
    sent = [(stamped.t, stamped.event) for stamped in trace.events if isinstance(stamped.event, MessageSent)]
    if not sent:
        raise UserError(f"{run}: nobody says anything in this run", "Give a run whose team talks.")
    return [Donor(t, one.sender, one.content, MessageKind(one.what), trace.start.seed) for t, one in sent]


def write_no_donors(file: Path) -> Path:
    """Write a file with one empty message, to check an arm before there are runs."""
    file.write_bytes(_DONORS.dump_json([Donor(0, 0, "")]))
    return file
