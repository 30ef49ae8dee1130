"""Pages that are made one after the other, each when it or a later one is asked for, and kept packed."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from threading import Lock
from typing import Generic, TypeVar

import orjson

from quorum.experiments.viewer.pages import packed

Page = TypeVar("Page")


class MadePages(ABC, Generic[Page]):
    """Pages of an episode that take a replay to make. A page is made once."""

    def __init__(self) -> None:
        self._packed: list[bytes] = []
        self._coming = self._made()
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

    def page(self, number: int) -> Page:
        """Return a page as it is read from its JSON."""
        page: Page = orjson.loads(self.data(number))
        return page

    @abstractmethod
    def _made(self) -> Iterator[Page]:
        """Make the pages, one after the other."""
