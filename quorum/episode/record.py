"""The records in an episode's folder: its configuration, how and why it ended, who answered, and digests."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from maeil.outcomes import Outcome
from maeil.trace import Trace
from maeil.trace.events import ThoughtEnd
from quorum.agents.llm.redaction import redact_message
from quorum.configuration.cell import Cell
from quorum.configuration.inputs import libraries_in
from quorum.configuration.origin import ORIGIN
from quorum.episode.episode_folder import EpisodeFolder
from quorum.installation.extension_errors import extension_place
from quorum.installation.provenance import provenance
from quorum.process.event_loop import to_its_end
from quorum.storage.memory_file import MEMORY, MEMORY_BEFORE, Memory
from quorum.storage.run_files import META
from quorum_base.digests import digest_now
from quorum_base.inside import write_inside


@dataclass(frozen=True, slots=True)
class AnsweringModels:
    """The language models of an episode, from its trace.

    Attributes:
        models: names as given by their providers, in order of first answer; substitutes are left out if others
            answered.
        simulated: whether any was simulated, so that results do not apply to a real model.
        fallbacks: models, with providers, that answered for unreachable ones.
        fingerprints: fingerprints of the builds that answered, if their services send them.
    """

    models: Sequence[str]
    simulated: bool
    fallbacks: Sequence[str] = ()
    fingerprints: Sequence[str] = ()

    @property
    def text(self) -> str:
        """Return them as text; empty if none answered."""
        names = ", ".join(self.models)
        if self.fallbacks:
            names += f"; {', '.join(self.fallbacks)} in place of one that could not be reached"
        if self.fingerprints:
            names += f"; fingerprints of the service: {', '.join(self.fingerprints)}"
        if not self.simulated:
            return names
        return f"{names} (no real model)" if "simulated" in names else f"{names} (simulated)"

    def to_json(self) -> dict[str, object]:
        """Return them as JSON-ready data; empty if none answered."""
        more = {name: list(found) for name in ("fallbacks", "fingerprints") if (found := getattr(self, name))}
        return {"models": list(self.models), "simulated": self.simulated, **more} if self.models else {}


def answering_models(trace: Trace) -> AnsweringModels:
    """Find the language models of an episode."""
    calls = [call for thought in trace.of(ThoughtEnd) for call in thought.calls]
    answered = [call for call in calls if "model" in call]
    chosen = [call for call in answered if not call.get("fallback")] or answered
    return AnsweringModels(
        tuple(dict.fromkeys(str(call["model"]) for call in chosen)),
        any(call.get("simulated") is True for call in calls),
        tuple(dict.fromkeys(str(call["fallback"]) for call in answered if call.get("fallback"))),
        tuple(dict.fromkeys(one for call in answered for one in str(call.get("fingerprint", "")).split(", ") if one)),
    )


class EpisodeRecord:
    """`config.yaml`, `meta.json` and memory: written at the start; the latter two are updated at the end.

    Args:
        cell: the cell that runs.
        folder: folder of the episode.
        several: the mind's name for each participant if the team is mixed; else empty.
        memory: memory that the team starts with; None for none.
        parent: the run that it continues; None: none.
    """

    def __init__(
        self,
        cell: Cell,
        folder: Path,
        several: Mapping[str, str] | None = None,
        memory: Memory | None = None,
        parent: Path | None = None,
    ) -> None:
        self._folder = folder
        put(folder, "config.yaml", cell.as_yaml().encode())
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
            **({ORIGIN: cell.origin.to_json()} if cell.origin is not None else {}),
            **({"parent": os.path.relpath(parent.resolve(), folder.resolve().parent)} if parent is not None else {}),
            **provenance(),
            "versions": {**libraries_in(cell.inputs), **provenance()["versions"]},
        }
        if cell.configuration.remembers:
            self._meta["memory"] = {"before": memory.digest if memory is not None else None, "after": None}
        if memory is not None:
            put(folder, MEMORY_BEFORE, memory.data())
        put_json(folder, META, self._meta)

    def remember(self, memory: Memory) -> None:
        """Save the team's memory for the next episode."""
        put(self._folder, MEMORY, memory.data())
        self._meta["memory"]["after"] = memory.digest

    async def finish(
        self,
        folder: EpisodeFolder,
        outcome: Outcome,
        error: BaseException | None = None,
        reason: str = "",
        answering_models: AnsweringModels | None = None,
    ) -> Path:
        """Record how the episode ended, flush its folder to disk and give it its final name; return that path.

        Waiting for the disk does not block the event loop, and completes even if the user stops everything.
        """

        def keep() -> Path:
            self.end(outcome, error, reason, answering_models)
            return folder.finish()

        return await to_its_end(keep)

    def end(
        self,
        outcome: Outcome,
        error: BaseException | None = None,
        reason: str = "",
        answering_models: AnsweringModels | None = None,
        *,
        whole: bool = True,
    ) -> None:
        """Record how the episode ended and which models answered.

        Args:
            outcome: how it ended.
            error: the error that ended it, if any.
            reason: why, as text.
            answering_models: the language models that answered, as far as they are known.
            whole: whether the files are final, so that their digests are recorded; false for an episode that the user
                stopped.
        """
        if whole:
            files = sorted(path for path in self._folder.rglob("*") if path.name != META and not path.is_dir())
            self._meta["files"] = {path.relative_to(self._folder).as_posix(): digest_now(path) for path in files}
        self._meta.update(end=_now(), outcome=outcome, reason=reason)
        if answering_models is not None:
            self._meta.update(answering_models.to_json())
        if error is not None:
            interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
            self._meta["error"] = {
                "class": "Interrupted" if interrupted else type(error).__qualname__,
                "message": "stopped by the user" if interrupted else redact_message(str(error)),
            }
            if (place := extension_place(error)) is not None:
                self._meta["error"]["place"] = str(place)
        put_json(self._folder, META, self._meta)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def put(folder: Path, name: str, data: bytes) -> None:
    """Write a file of a running episode atomically; all files are flushed to disk together at the end."""
    write_inside(folder, {name: data}, synced=False)


def put_json(folder: Path, name: str, data: Mapping[str, Any]) -> None:
    """Write a readable JSON file; see `put`."""
    put(folder, name, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())
