"""The lanes of an episode in pages: ranges of steps, packed when complete, so that long runs need little memory.

A page can be shown alone: it includes items that started earlier and continue in it. Later changes of an item on a
packed page are stored separately, and merged when the page is requested.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from threading import Lock
from typing import Any, Literal

import msgspec
import orjson

from maeil.acting import Primitive
from quorum.storage.run_files import MIB

Json = dict[str, Any]
"""Data for the scripts of the viewer: `static/contract.js` names every field."""

WHOLE = 32 * MIB
"""Maximum bytes of a trace that is shown as one page."""
PAGE = 8 * MIB
"""For a longer trace, bytes after which the next step starts a page: a browser reads it in a fraction of a second."""
FULL = 64 * MIB
"""Bytes of a page after which events are left out even within a step: no real step has that many."""

Open = Literal["thoughts", "messages", "plans", "actions"]
"""The lanes whose items can change later."""

_FASTEST = 1


class Pages:
    """The packed pages."""

    def __init__(self) -> None:
        self.firsts: list[int] = []
        """The first step of each page, ascending; there is at least one."""
        self._packed: list[bytes] = []
        self._late: defaultdict[int, list[tuple[Open, int, Any]]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._packed)

    def add(self, page: Json) -> None:
        """Pack the next page."""
        self.firsts.append(page["first"])
        self._packed.append(packed(page))

    def amend(self, number: int, lane: Open, index: int, addition: Any) -> None:
        """Record a later change of an item of a packed page.

        Args:
            number: number of the page.
            lane: lane of the item.
            index: index of the item in the lane.
            addition: additions to lists of a message or a plan, by name; or the end of an action or of a thought.
        """
        self._late[number].append((lane, index, addition))

    def holding(self, t: int) -> int:
        """Return the number of the page of a step; the first or the last page if there is no such step."""
        return max(0, bisect_right(self.firsts, t) - 1)

    def data(self, number: int) -> bytes:
        """Return a page as JSON.

        Raises:
            IndexError: there is no such page.
        """
        data = zlib.decompress(self._packed[number])
        if number not in self._late:
            return data
        page = msgspec.json.decode(data)
        for lane, index, addition in self._late[number]:
            _put(page[lane], lane, index, addition)
        return msgspec.json.encode(page)


def packed(data: Any) -> bytes:
    """Compress data as JSON, to save memory."""
    return zlib.compress(msgspec.json.encode(data), _FASTEST)


def _put(items: list[Any], lane: Open, index: int, addition: Any) -> None:
    match lane:
        case "thoughts":
            items[index].update(addition)
        case "messages" | "plans":
            for key, further in addition.items():
                items[index][key] += further
        case "actions":
            items[index][-len(addition) :] = addition


class MadePages:
    """Pages of an episode that need a replay. A page is made once, when it or a later one is requested.

    Args:
        pages: makes them, one after the other.
    """

    def __init__(self, pages: Iterator[Json]) -> None:
        self._packed: list[bytes] = []
        self._coming = pages
        self._making = Lock()

    def data(self, number: int) -> bytes:
        """Return a page as JSON. Requests for finished pages do not wait for one in progress.

        Raises:
            IndexError: there is no such page.
        """
        if number >= len(self._packed):
            with self._making:
                while number >= len(self._packed):
                    made = next(self._coming, None)
                    if made is None:
                        raise IndexError(number)
                    self._packed.append(packed(made))
        return zlib.decompress(self._packed[number])


_DIGITS = 3
"""Number of decimals: a thousandth of a cell is less than a pixel."""


def rounded(length: float) -> float:
    """Round a length, in cells, to visible precision."""
    return length if type(length) is int else round(length, _DIGITS)


def code_of(primitive: Primitive) -> int | str:
    """Return a primitive in the format of pages: numbers as they are, anything else as a JSON string."""
    return primitive if isinstance(primitive, int) else orjson.dumps(primitive).decode()
