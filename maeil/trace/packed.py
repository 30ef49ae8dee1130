"""Memory-efficient storage for the events of a long trace: lines compressed by kind, and decoded on access."""

from __future__ import annotations

import heapq
import zlib
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from maeil.trace.events import Event, Stamped

_BLOCK = 1 << 18
"""Size of a block of lines that are compressed together, in bytes."""
_LEVEL = 1
"""Compression level: the fastest. It still compresses the lines of a trace to a tenth."""

Read = Callable[[bytes], "Stamped"]


class _Packed(Sequence["Stamped"]):
    """A sequence of events with access by position."""

    @abstractmethod
    def _at(self, place: int) -> Stamped:
        """Return the event at a position, from 0."""

    @overload
    def __getitem__(self, index: int) -> Stamped: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Stamped]: ...
    def __getitem__(self, index: int | slice) -> Stamped | Sequence[Stamped]:
        places = range(len(self))[index]
        return self._at(places) if isinstance(places, int) else tuple(map(self._at, places))


class PackedKind(_Packed):
    """The events of one kind, in order. Each iteration decodes them again.

    Args:
        read: parses a line.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._blocks: list[bytes] = []
        self._ends: list[int] = []
        self._open: list[bytes] = []
        self._size = 0
        self._length = 0

    def add(self, line: bytes) -> None:
        """Add the line of the next event of this kind."""
        self._open.append(line)
        self._size += len(line)
        self._length += 1
        if self._size >= _BLOCK:
            self._blocks.append(zlib.compress(b"".join(self._open), _LEVEL))
            self._ends.append(self._length)
            self._open, self._size = [], 0

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Stamped]:
        for number in range(len(self._blocks) + 1):
            yield from map(self._read, self._lines(number))

    def _lines(self, block: int) -> list[bytes]:
        return zlib.decompress(self._blocks[block]).split(b"\n")[:-1] if block < len(self._blocks) else self._open

    def _at(self, place: int) -> Stamped:
        block = bisect_right(self._ends, place)
        return self._read(self._lines(block)[place - (self._ends[block - 1] if block else 0)])


class PackedEvents(_Packed):
    """All events of a trace; the number of an event is its position.

    Args:
        read: parses a line.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._kinds: dict[type[Event], PackedKind] = {}
        self._length = 0
        self._ends: tuple[Stamped, ...] = ()

    def add(self, stamped: Stamped, line: bytes) -> None:
        """Add the next event, and its line."""
        self._kinds.setdefault(type(stamped.event), PackedKind(self._read)).add(line)
        self._ends = (self._ends[0] if self._ends else stamped, stamped)
        self._length += 1

    def of(self, kind: type[Event]) -> Sequence[Stamped]:
        """Return the events of one kind, in order."""
        return self._kinds.get(kind, ())

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Stamped]:
        return heapq.merge(*self._kinds.values(), key=attrgetter("seq"))

    def _at(self, place: int) -> Stamped:
        if place in (0, self._length - 1):
            return self._ends[place > 0]
        return next(stamped for stamped in self if stamped.seq == place)
