"""Replay recorded runs from their recorded replies: the traces must be equal except for the wall clock."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maeil.clock import ClockUnit
from maeil.outcomes import Outcome
from maeil.trace import Repetition
from quorum.agents.llm.replay import Replay
from quorum.configuration.cell import Cell
from quorum.configuration.inputs import MEMORY_INPUT, inputs_of
from quorum.configuration.providers.replay import recorded_calls
from quorum.configuration.schema import validate
from quorum.episode.call_ledger import CALLS
from quorum.episode.in_memory import play_in_memory
from quorum.episode.start import Start
from quorum.installation.provenance import CodeVersion, provenance
from quorum.runs.run_folder import RunFolder
from quorum.runs.run_meta import RunMeta
from quorum.storage.memory_file import MEMORY_BEFORE, read_memory
from quorum_base.user_errors import UserError

_FROM_THE_RUN = {MEMORY_INPUT, f"llm.run/{CALLS}"}
"""Inputs that the folder of a run contains itself."""


@dataclass(frozen=True, slots=True)
class Rerun:
    """The result of replaying a run.

    Attributes:
        name: name of its folder.
        difference: the first event that differs; empty if none does.
        reason: why the run cannot be replayed, or not in the same way, so that nothing follows; empty if it was
            replayed.
    """

    name: str
    difference: str = ""
    reason: str = ""


def rerun(folder: Path, files: Mapping[str, Path] | None = None) -> Rerun:
    """Replay a run from its recorded replies, without model calls and without writing anything.

    Args:
        folder: folder of the run, whose files have been verified.
        files: files that its configuration may name, by SHA-256.

    Raises:
        DamagedFile: one of its files cannot be read.
    """
    run = RunFolder(folder)
    meta = run.meta()
    if reason := _why_not(meta):
        return Rerun(folder.name, reason=reason)
    try:
        cell = _cell(meta, run.configuration(), files or {})
    except UserError as error:
        return Rerun(folder.name, reason=_line(error))
    if changed := {name for name, _ in meta.inputs.items() ^ cell.inputs.items()} - _FROM_THE_RUN:
        return Rerun(folder.name, reason=f"its inputs are different here: {', '.join(sorted(changed))}")
    repetition = Repetition(run.whole_trace())
    try:
        calls = recorded_calls(folder, folder.name) if run.files.exists(CALLS) else Replay(())
        play_in_memory(cell, [repetition], start=Start(read_memory(folder, MEMORY_BEFORE)), recorded=calls)
        difference = "" if repetition.complete else f"event {repetition.events}: the replay ends earlier"
    except Exception as error:  # a world or a mind may raise anything on altered replies
        place = f"event {repetition.events}: "
        difference = _line(error) if _line(error).startswith(place[:-2]) else place + _line(error)
    here = CodeVersion.of(provenance())
    if difference and meta.code != here:
        return Rerun(folder.name, reason=f"it was run with {meta.code}, and this is {here}; {difference}")
    return Rerun(folder.name, difference)


def _why_not(meta: RunMeta) -> str:
    if meta.outcome == Outcome.ERROR:
        return f"it ended with an error{f': {meta.error.class_}' if meta.error is not None else ''}"
    if meta.origin is not None:
        return "it is a branch, which starts from the record of another run"
    return ""


def _cell(meta: RunMeta, configuration: Mapping[str, Any], files: Mapping[str, Path]) -> Cell:
    """Return the cell of a run, without limits in real time, which the run did not reach.

    Raises:
        UserError: its configuration is invalid in this version with its plug-ins, or a file that it names is missing.
    """
    plain = copy.deepcopy(dict(configuration))
    if isinstance(limits := plain.get("limits"), dict):
        limits |= dict.fromkeys(limits)
    if isinstance(memory := plain.get("memory"), dict):
        memory["store"] = None
    for name, sha256 in meta.inputs.items():
        *groups, last = name.split(".")
        part: Any = plain
        for group in groups:
            part = part.get(group) if isinstance(part, dict) else None
        if isinstance(part, dict) and last in part and sha256 in files:
            part[last] = str(files[sha256])
    whole = validate(plain, recorded=True)
    if whole.clock.unit is ClockUnit.SECONDS:
        raise UserError("clock=seconds: its thoughts took real time")
    return Cell(whole, inputs_of(whole))


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
