"""What registers itself by a decorator where it is defined: metrics, figures.

A decorator runs when its module is imported. This project imports its own modules, `--plugin` imports a user's, and an
installed package declares its modules as entry points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import TypeVar

T = TypeVar("T")


class Registered(Mapping[str, T]):
    """All things of one kind by name, in the order in which they were registered.

    The modules that installed packages declare are imported by the first look-up, or by `load`.

    Args:
        kind: what messages call one of them.
        entry_points: the entry-point group in which packages declare their modules.
        names: regular expression that each name matches; names become names of files.
    """

    def __init__(self, kind: str, entry_points: str, names: str) -> None:
        self._kind = kind
        self._entry_points = entry_points
        self._names = re.compile(names)
        self._things: dict[str, T] = {}
        self._loading = False

    def register(self, name: str, thing: T) -> None:
        """Add a thing.

        Raises:
            ValueError: the name is taken, or it is no name of this kind.
        """
        if not self._names.fullmatch(name):
            raise ValueError(f"{self._kind} {name!r}: a name matches {self._names.pattern}")
        if name in self._things:
            raise ValueError(f"there is a {self._kind} {name!r} already: take another name")
        self._things[name] = thing

    @property
    def present(self) -> frozenset[str]:
        """The names that are registered so far; nothing is imported."""
        return frozenset(self._things)

    def load(self) -> Mapping[str, T]:
        """Import the modules that installed packages declare, once, and return all things.

        Raises:
            Exception: whatever a module raises, at every call.
        """
        if not self._loading:
            self._loading = True  # a module may look something up while it is imported
            try:
                for point in sorted(entry_points(group=self._entry_points), key=lambda point: point.value):
                    point.load()
            except BaseException:
                self._loading = False
                raise
        return self._things

    def __getitem__(self, name: str) -> T:
        return self.load()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.load())

    def __len__(self) -> int:
        return len(self.load())
