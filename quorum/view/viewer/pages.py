"""The lanes of an episode in pages: each a run of steps, packed when it is whole, so that long runs take little memory.

A page can be shown alone: what began before it and goes on in it stands in it, too. What comes of an item after its
page was packed is kept apart from the page, and put in when it is asked for.
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
"""What the scripts of the viewer get: `static/contract.js` names every field."""

WHOLE = 32 * MIB
"""Bytes of a trace that is shown as one page."""
PAGE = 8 * MIB
"""Bytes of a longer one after which the next step begins a page: a browser reads it in a fraction of a second."""
FULL = 64 * MIB
"""Bytes of a page, though its step has not ended, after which events are left out: no real step has as many."""

Open = Literal["thoughts", "messages", "plans", "actions"]
"""The lanes whose items can change later."""

_FASTEST = 1


class Pages:
    """The packed pages."""

    def __init__(self) -> None:
        self.firsts: list[int] = []
        """The step that each page begins with, ascending; there is at least one."""
        self._packed: list[bytes] = []
        self._late: defaultdict[int, list[tuple[Open, int, Any]]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._packed)

    def add(self, page: Json) -> None:
        """Pack the next page."""
        self.firsts.append(page["first"])
        self._packed.append(packed(page))

    def amend(self, number: int, lane: Open, index: int, addition: Any) -> None:
        """Note what came of an item of a packed page.

        Args:
            number: of the page.
            lane: of the item.
            index: of the item in it.
            addition: to lists of a message or a plan, by name; the end of an action or of a thought.
        """
        self._late[number].append((lane, index, addition))

    def holding(self, t: int) -> int:
        """Return the number of the page of a step: the first or the last one where there is no such step."""
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
    """Pack data as JSON, for memory."""
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
    """Pages of an episode that take a replay to make. A page is made once, when it or a later one is asked for.

    Args:
        pages: makes them, one after the other.
    """

    def __init__(self, pages: Iterator[Json]) -> None:
        self._packed: list[bytes] = []
        self._coming = pages
        self._making = Lock()

    def data(self, number: int) -> bytes:
        """Return a page as JSON. Pages that are made do not wait for one that is being made.

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
"""Decimals that are kept: a thousandth of a cell is less than a pixel."""


def rounded(length: float) -> float:
    """Return a length, in cells, as exactly as it can be seen."""
    return length if type(length) is int else round(length, _DIGITS)


def code_of(primitive: Primitive) -> int | str:
    """Return a primitive as pages hold it: a number as it is, anything else as JSON in a text."""
    return primitive if isinstance(primitive, int) else orjson.dumps(primitive).decode()
