"""Registries: what a configuration chooses by name, and what registers itself where it is defined.

What is chosen (`Registry`) comes from this project (the folders' `components.json`, imported when asked for), from an
installed package that declares an entry point, or from a module named by `--plugin`, which is imported and calls
`register` itself. Nothing that a configuration file names is imported.

Metrics, figures and kinds of events register themselves (`Registered`) when their module is imported. Satellites list
these modules in their `components.json`, installed packages declare them as entry points, `--plugin` imports a user's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from itertools import groupby
from typing import Any, Generic, TypeVar

from quorum_base.components import shipped
from quorum_base.exits import without_exit
from quorum_base.user_errors import UserError, choices_hint

T = TypeVar("T")

_NAME = re.compile(r"[a-z][a-z0-9_]*")

NAMED_MODULES: set[str] = set()
"""The modules that the user has named with `--plugin`: of those that a recorded run names, these alone are imported."""


@cache
def _declared(_path: tuple[str, ...]) -> Any:
    """Return the entry points of the packages on `sys.path`, which are read once: it takes 10 ms.

    They are `EntryPoints` from Python 3.12 on and `SelectableGroups` before, both with `select`.
    """
    return entry_points()


@cache
def _offers(path: tuple[str, ...], group: str) -> Mapping[str, Sequence[EntryPoint]]:
    """Return what packages offer in a group, by name; kept, since a simulated model asks for its world at each call."""
    points = sorted(_declared(path).select(group=group), key=lambda point: (point.name, point.value))
    return {name: tuple(same) for name, same in groupby(points, key=lambda point: point.name)}


def offers(group: str) -> Mapping[str, Sequence[EntryPoint]]:
    """Return the entry points of installed packages in a group by name, in alphabetical order; nothing is imported."""
    return _offers(tuple(sys.path), group)


def own(group: str) -> Mapping[str, EntryPoint]:
    """Return what the folders of this project list for a group, as entry points; nothing is imported."""
    places = shipped(group.removeprefix("quorum."))
    return {name: EntryPoint(name, place, group) for name, place in places.items()}


class Registry(Generic[T]):
    """What can be chosen of one kind, by name.

    Args:
        kind: what they are, as messages call one of them.
        plural: what they are, as messages call several.
        group: the configuration group that chooses among them; empty: none does.
        entry_points: the entry-point group in which packages offer their components. The `components.json` of this
            project's folders have the same groups, without `quorum.`.
        wanted: returns the type that is registered; asked only on a look-up, so that a listing imports nothing.
    """

    def __init__(self, kind: str, plural: str, group: str, entry_points: str, wanted: Callable[[], type[T]]) -> None:
        self.kind = kind
        self.plural = plural
        self.group = group
        self.entry_points = entry_points
        self._own = own(entry_points)
        self._registered: dict[str, T] = {}
        self._found: dict[str, T] = {}
        self._wanted = wanted

    def register(self, name: str, component: T) -> None:
        """Offer a component under a name. An installed package may do so with what it offers by an entry point.

        Raises:
            UserError: the name is taken, or is not made of lowercase letters, digits and underscores; or it is no
                component.
        """
        if not _NAME.fullmatch(name):
            raise UserError(f"{self.kind} {name!r}: a name is lowercase letters, digits and underscores")
        offers = self._offered.get(name, ())
        if any(getattr(sys.modules.get(point.module), point.attr, None) is component for point in offers):
            return
        if name in self.names():
            raise UserError(f"{self.kind} {name!r} is registered already: take another name")
        self._registered[name] = self._checked(name, component)

    def names(self) -> tuple[str, ...]:
        """Return all names, the project's own first."""
        return tuple(dict.fromkeys([*self._own, *sorted(self._registered), *self._offered]))

    @property
    def offering(self) -> frozenset[str]:
        """The modules in which installed packages offer something; none is imported."""
        return frozenset(point.module for points in self._offered.values() for point in points)

    @property
    def _offered(self) -> Mapping[str, Sequence[EntryPoint]]:
        return offers(self.entry_points)

    def get(self, name: str) -> T:
        """Find a component, importing it if need be.

        Raises:
            UserError: nothing has this name, two packages offer it, or what a package offers is not a component.
        """
        if name in self._own:
            if name not in self._found:  # a plan of 10,000 cells asks a hundred thousand times
                self._found[name] = self._checked(name, self._own[name].load())
            return self._found[name]
        if name in self._registered:
            return self._registered[name]
        return self._checked(name, self._load(name))

    def _load(self, name: str) -> object:
        points = self._offered.get(name, ())
        key = f"{self.group}.name: " if self.group else ""
        if not points:
            hint = (
                f"{choices_hint(name, f'The {self.plural}', self.names())} --plugin MODULE registers one of your own."
            )
            raise UserError(f"{key}no {self.kind} is called {name!r}", hint)
        if len(points) > 1:
            values = ", ".join(point.value for point in points)
            raise UserError(f"{key}several packages offer the {self.kind} {name!r}: {values}")
        with without_exit():
            return points[0].load()

    def _checked(self, name: str, found: object) -> T:
        wanted = self._wanted()
        if not isinstance(found, wanted):
            expected = f"{wanted.__module__}.{wanted.__qualname__}"
            raise UserError(f"{self.kind} {name!r}: it is a {type(found).__name__}, not a {expected}")
        return found


class Registered(Mapping[str, T]):
    """All things of one kind by name.

    The modules that satellites list and installed packages declare are imported by the first look-up, or by `load`.

    Args:
        kind: what messages call one of them.
        entry_points: the entry-point group in which packages declare their modules.
        names: regular expression that each name matches; names become names of files.
        order: names, or first parts of dotted names, in the order in which these things come, whichever module is
            imported first. All others follow, in the order in which they were registered.
    """

    def __init__(self, kind: str, entry_points: str, names: str, order: Sequence[str] = ()) -> None:
        self._kind = kind
        self._entry_points = entry_points
        self._names = re.compile(names)
        self._order = {name: place for place, name in enumerate(order)}
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

    def load(self) -> Mapping[str, T]:
        """Import the modules that satellites list and installed packages declare, once, and return all things.

        Raises:
            Exception: whatever a module raises, at every call.
        """
        if not self._loading:
            self._loading = True  # a module may look something up while it is imported
            try:
                points = [*own(self._entry_points).values()]
                points += (point for named in offers(self._entry_points).values() for point in named)
                for point in sorted(points, key=lambda point: point.value):
                    with without_exit():
                        point.load()
            except BaseException:
                self._loading = False
                raise
            self._things = dict(sorted(self._things.items(), key=self._place))
        return self._things

    def _place(self, item: tuple[str, T]) -> int:
        return self._order.get(item[0].partition(".")[0], len(self._order))

    def __getitem__(self, name: str) -> T:
        return self.load()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.load())

    def __len__(self) -> int:
        return len(self.load())
