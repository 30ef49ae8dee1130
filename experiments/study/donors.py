"""The messages that participants of the arm `shuffled` read: what was said on two boards, each for all others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from maeil.trace.events import MessageSent
from quorum.experiments.common.files import write_all
from quorum.experiments.results import Row
from quorum.experiments.results.run_folder import RunFolder

DONORS = "donors.json"
_BOARDS = 2


def write_donors(rows: Sequence[Row], file: Path) -> bool:
    """Write what was said in the first runs of two boards; more boards of a study change nothing of it.

    Args:
        rows: runs of the treatment.
        file: in a folder that is there.

    Returns:
        Whether there are two boards on which something was said; else nothing is written.

    Raises:
        UserError: a trace cannot be read, or the file cannot be written.
    """
    found: dict[int, list[dict[str, object]]] = {}
    for row in sorted(rows, key=lambda row: (row.seed, row.name)):
        if row.seed not in found and (said := _said(row)):
            found[row.seed] = said
        if len(found) == _BOARDS:
            write_all(file.parent, {file.name: orjson.dumps([one for said in found.values() for one in said])})
            return True
    return False


def _said(row: Row) -> list[dict[str, object]]:
    trace = RunFolder(row.folder).whole_trace()
    sent = [(stamped.t, stamped.event) for stamped in trace.stamped(MessageSent)]
    return [
        {"seed": row.seed, "t": t, "sender": event.sender, "content": event.content, "kind": event.what}
        for t, event in sent
        if isinstance(event, MessageSent)
    ]


def write_no_donors(file: Path) -> Path:
    """Write a file that says nothing, for a look at an arm before there are runs."""
    file.write_bytes(orjson.dumps([{"t": 0, "sender": 0, "content": ""}]))
    return file
