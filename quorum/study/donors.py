"""Messages of runs as donors, which other boards read in the arm `shuffled`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maeil.messages import MessageKind
from maeil.trace.events import MessageSent
from quorum.runs.run_folder import RunFolder
from quorum.storage.files import write_all
from quorum.study.control.donors import Donor, donors_file
from quorum_base.user_errors import UserError

DONORS = "donors.json"


def write_donors(runs: Sequence[Path], file: Path) -> None:
    """Write the messages of some runs, each with its board.

    Args:
        runs: their folders.
        file: the file to write, in an existing folder: a list as JSON, in the order of sending.

    Raises:
        UserError: a trace is damaged or has no messages, or the file cannot be written.
    """
    write_all(file.parent, {file.name: donors_file([donor for run in runs for donor in _said(run)])})


def _said(run: Path) -> list[Donor]:
    trace = RunFolder(run).trace()
    sent = [(stamped.t, stamped.event) for stamped in trace.events if isinstance(stamped.event, MessageSent)]
    if not sent:
        raise UserError(f"{run}: nobody says anything in this run", "Give a run whose team talks.")
    return [Donor(t, one.sender, one.content, MessageKind(one.what), trace.start.seed) for t, one in sent]


def write_no_donors(file: Path) -> Path:
    """Write a file with one empty message, to check an arm before there are runs."""
    file.write_bytes(donors_file([Donor(0, 0, "")]))
    return file
