"""What a replay needs of a trace: its start, its steps and their outcomes, and what agents carried out; packed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from maeil.extensions.change import WorldChange
from maeil.trace import Stamped, read_event
from maeil.trace.events import ActionChange, EpisodeStart, PlanChange, StepOutcome, StepTaken

_FASTEST = 1
_PLAYED = (EpisodeStart, StepTaken, StepOutcome, WorldChange, ActionChange, PlanChange)


class Script:
    """The lines of a trace that are played, up to the first step that is missing."""

    def __init__(self) -> None:
        self.world: str | None = None
        """Name of the world; None without a start."""
        self._packer = zlib.compressobj(_FASTEST)
        self._packed: list[bytes] = []
        self._steps = 0
        self._broken = False
        self._last: bytes | None = None
        """The last line, where it is none that is played: a replay asks whether the trace breaks off at a step."""

    def take(self, stamped: Stamped, line: bytes) -> None:
        """Take the next event and its line."""
        event = stamped.event
        if isinstance(event, EpisodeStart):
            self.world = event.world
        elif isinstance(event, StepTaken):
            self._broken = self._broken or stamped.t != self._steps
            self._steps += 1
        if self._broken:
            return
        played = isinstance(event, _PLAYED)
        self._last = None if played else line
        if played and (part := self._packer.compress(line)):
            self._packed.append(part)

    def finish(self) -> None:
        """Take the end of the trace."""
        self._packed.append(self._packer.compress(self._last or b""))
        self._packed.append(self._packer.flush())

    def events(self) -> Iterator[Stamped]:
        """Return the events, in order."""
        unpacker, rest = zlib.decompressobj(), b""
        for part in self._packed:
            *lines, rest = (rest + unpacker.decompress(part)).split(b"\n")
            yield from map(read_event, lines)
