"""What the folder of an episode says of it: what was to be run, how it ended and why, and digests of its files."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from maeil.trace import Trace
from maeil.trace.events import PlanChange, ThoughtEnd
from maeil.user_errors import mask_passwords
from quorum.experiments.common.event_loop import to_its_end
from quorum.experiments.common.extension_errors import extension_place
from quorum.experiments.common.files import digest
from quorum.experiments.common.memory_file import MEMORY, MEMORY_BEFORE, Memory
from quorum.experiments.common.provenance import provenance
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.answering_models import AnsweringModels
from quorum.experiments.episode.episode_folder import EpisodeFolder


class EpisodeRecord:
    """`config.yaml`, `meta.json` and memory: written at the start, and the latter two again at the end.

    Args:
        cell: what is run.
        folder: of the episode.
        several: the name of the mind of each participant, in a team that has several; else empty.
        memory: that the team brings to it; None for none.
        parent: the run that it branches off; None: nothing says where it is.
    """

    def __init__(
        self,
        cell: Cell,
        folder: Path,
        several: Mapping[str, str] | None = None,
        memory: Memory | None = None,
        parent: Path | None = None,
    ) -> None:
        self._file = folder / "meta.json"
        (folder / "config.yaml").write_text(cell.as_yaml(), encoding="utf-8")
        self._meta: dict[str, Any] = {
            "name": cell.name,
            "hash": cell.hash,
            "seed": cell.seed,
            "start": _now(),
            "end": None,
            "outcome": None,
            "reason": "",
            "error": None,
            "configuration": cell.plain,
            "inputs": cell.inputs,
            "unused": cell.configuration.unused,
            **({"minds": dict(several)} if several else {}),
            **({"branch": cell.branch.plain()} if cell.branch is not None else {}),
            **({"parent": os.path.relpath(parent.resolve(), folder.resolve().parent)} if parent is not None else {}),
            **provenance(),
        }
        if cell.configuration.remembers:
            self._meta["memory"] = {"before": memory.digest if memory is not None else None, "after": None}
        if memory is not None:
            (folder / MEMORY_BEFORE).write_bytes(memory.data())
        write_json(self._file, self._meta)

    def remember(self, memory: Memory) -> None:
        """Keep what the team takes along to the next episode."""
        (self._file.parent / MEMORY).write_bytes(memory.data())
        self._meta["memory"]["after"] = memory.digest

    def stop(self, error: BaseException, answering_models: AnsweringModels | None) -> None:
        """Say that the user stopped the episode."""
        self._end("error", error, answering_models=answering_models)

    async def finish(
        self,
        folder: EpisodeFolder,
        outcome: str,
        error: BaseException | None = None,
        reason: str = "",
        answering_models: AnsweringModels | None = None,
    ) -> Path:
        """Say how the episode ended, bring its folder to disk and give it its final name; return that.

        Waiting for the disk does not block the event loop, and goes on to its end when the user stops everything.
        """

        def keep() -> Path:
            self.seal(outcome, error, reason, answering_models)
            return folder.finish()

        return await to_its_end(keep)

    def seal(
        self,
        outcome: str,
        error: BaseException | None = None,
        reason: str = "",
        answering_models: AnsweringModels | None = None,
    ) -> None:
        """Say how the episode ended and who answered in it, and leave a digest of every file: none changes any more."""
        folder = self._file.parent
        files = sorted(file for file in folder.rglob("*") if file != self._file and not file.is_dir())
        self._meta["files"] = {file.relative_to(folder).as_posix(): digest(file) for file in files}
        self._end(outcome, error, reason, answering_models)

    def _end(
        self,
        outcome: str,
        error: BaseException | None = None,
        reason: str = "",
        answering_models: AnsweringModels | None = None,
    ) -> None:
        self._meta.update(end=_now(), outcome=outcome, reason=reason)
        if answering_models is not None:
            self._meta.update(answering_models.plain())
        if error is not None:
            interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
            self._meta["error"] = {
                "class": "Interrupted" if interrupted else type(error).__qualname__,
                "message": "stopped by the user" if interrupted else mask_passwords(str(error)),
            }
            if (place := extension_place(error)) is not None:
                self._meta["error"]["place"] = str(place)
        write_json(self._file, self._meta)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def write_json(file: Path, data: Mapping[str, Any]) -> None:
    """Write a file of JSON for people to read."""
    file.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def never_valid(trace: Trace) -> str:
    """Say in a sentence why no plan of an episode took effect; empty where one did, or where nothing was refused."""
    if any(plan.status == "committed" and not plan.flag for plan in trace.of(PlanChange)):
        return ""
    thoughts = list(trace.of(ThoughtEnd))
    reasons = Counter(reason for thought in thoughts for reason in thought.refused)
    if not reasons:
        return ""
    refused = sum(bool(thought.refused) for thought in thoughts)
    (most, times), *others = reasons.most_common()
    rest = (
        f"; {len(others)} other reason{'s' if len(others) > 1 else ''}, {sum(n for _, n in others)} times"
        if others
        else ""
    )
    return (
        f"no plan was ever valid: {refused} of {len(thoughts)} thoughts were refused. "
        f"The most frequent reason, {times} times: {most}{rest}"
    )
