"""Observe a replayed episode, instant by instant, from the packed lines of its trace."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Generic, TypeVar

from maeil.errors import ReplayMismatch
from maeil.trace import Stamped, read_event, replay_events
from maeil.trace.events import ActionChange, EpisodeStart, PlanChange, StepOutcome, StepTaken
from maeil.world import World
from quorum.installation.extension_errors import as_extension_error

_FASTEST = 1
_PLAYED = (EpisodeStart, StepTaken, StepOutcome, ActionChange, PlanChange)


class Script:
    """The lines of a trace that a replay needs, up to the first missing step."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(_FASTEST)
        self._packed: list[bytes] = []
        self._last: bytes | None = None
        """The last line, if a replay does not need it: it shows whether the trace breaks off at a step."""

    def take(self, stamped: Stamped, line: bytes) -> None:
        """Add the next event and its line."""
        played = stamped.event.changes_world or isinstance(stamped.event, _PLAYED)
        self._last = None if played else line
        if played and (part := self._packer.compress(line)):
            self._packed.append(part)

    def finish(self) -> None:
        """Finish the script at the end of the trace."""
        self._packed.append(self._packer.compress(self._last or b""))
        self._packed.append(self._packer.flush())

    def events(self) -> Iterator[Stamped]:
        """Return the events, in order."""
        unpacker, rest = zlib.decompressobj(), b""
        for part in self._packed:
            *lines, rest = (rest + unpacker.decompress(part)).split(b"\n")
            yield from map(read_event, lines)


Seen = TypeVar("Seen")


class Replayed(Generic[Seen]):
    """Observations of a replay, as far as it goes.

    Args:
        events: events of the trace.
        world: the world to replay, freshly built.
        see: observes the current state of the world; called once at each instant.
        said: the subject of the sentence about how far the replay went: `the world is shown`.
    """

    def __init__(self, events: Iterable[Stamped], world: World, see: Callable[[], Seen], said: str) -> None:
        self.problems: list[str] = []
        """Why the replay stopped."""
        self._see = see
        self._said = said
        self._states = replay_events(events, world)
        self._instants = 0

    def __iter__(self) -> Replayed[Seen]:
        """Continue the replay."""
        return self

    def pages(self, firsts: Sequence[int]) -> Iterator[tuple[int, Iterator[Seen]]]:
        """Yield the first step of each page with its observations, which must be consumed before the next page."""
        for first, following in zip_longest(firsts, firsts[1:]):
            yield first, islice(self, None if following is None else following - first)

    def __next__(self) -> Seen:
        """Return the next observation, until the episode ends or cannot be replayed further."""
        try:
            next(self._states)
            seen = self._see()
        except StopIteration:
            raise
        except ReplayMismatch as mismatch:
            self.problems.append(
                "In this version, the seed and the actions do not give the recorded episode, "
                f"so {self._said} only up to there: {str(mismatch)[:500]}"
            )
        except Exception as error:  # a damaged trace may make impossible requests to a world
            mistake = as_extension_error(error)
            why = mistake.message if mistake is not None else f"{type(error).__name__}: {error}"
            said = f"{self._said[0].upper()}{self._said[1:]}"
            self.problems.append(f"{said} only up to step {self._instants}: {why}")
        else:
            self._instants += 1
            return seen
        self._states = iter(())
        raise StopIteration
