"""Registries: components that a configuration chooses by name, and objects that register themselves on import.

Components (`Registry`) come from three sources: this project (the folders' `components.json`; imported on first use),
installed packages with entry points, and modules named by `--plugin`, which call `register` on import. Modules named in
a configuration file are never imported.

Metrics, figures and kinds of events register themselves (`Registered`) when their module is imported. Satellites list
these modules in their `components.json`, installed packages declare them as entry points, and `--plugin` imports those
of a user.
"""

from __future__ import annotations

import logging
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

_log = logging.getLogger("quorum")
_NAME = re.compile(r"[a-z][a-z0-9_]*")

NAMED_MODULES: set[str] = set()
"""The modules that the user named with `--plugin`: the only modules named in a recorded run that may be imported."""


@cache
def _declared(_path: tuple[str, ...]) -> Any:
    """Return the entry points of the packages on `sys.path`, cached because reading them takes 10 ms.

    The type is `EntryPoints` since Python 3.12, and `SelectableGroups` before; both have `select`.
    """
    return entry_points()


@cache
def _offers(path: tuple[str, ...], group: str) -> Mapping[str, Sequence[EntryPoint]]:
    """Return the entry points of a group by name; cached, since a simulated model looks up its world on each call."""
    points = sorted(_declared(path).select(group=group), key=lambda point: (point.name, point.value))
    return {name: tuple(same) for name, same in groupby(points, key=lambda point: point.name)}


def offers(group: str) -> Mapping[str, Sequence[EntryPoint]]:
    """Return the entry points of installed packages in a group, by name in alphabetical order, without importing."""
    return _offers(tuple(sys.path), group)


def own(group: str) -> Mapping[str, EntryPoint]:
    """Return the components that this project's folders list for a group, as entry points, without importing."""
    places = shipped(group.removeprefix("quorum."))
    return {name: EntryPoint(name, place, group) for name, place in places.items()}


class Registry(Generic[T]):
    """The components of one kind, by name.

    Args:
        kind: singular noun for messages.
        plural: plural noun for messages.
        group: the configuration group that chooses among them; empty for none.
        entry_points: the entry-point group of packages that offer such components. The `components.json` of this
            project's folders have the same groups, without `quorum.`.
        wanted: returns the required type; called only to check a component, so that listing names imports nothing.
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
        """Register a component under a name. A package may also register what it declares as an entry point.

        Raises:
            UserError: the name is taken or has characters other than lowercase letters, digits and underscores, or
                the component has the wrong type.
        """
        if not _NAME.fullmatch(name):
            raise UserError(f"{self.kind} {name!r}: a name is lowercase letters, digits and underscores")
        offers = self._offered.get(name, ())
        if any(getattr(sys.modules.get(point.module), point.attr, None) is component for point in offers):
            return
        if name in self.names():
            raise UserError(f"{self.kind} {name!r} is already registered: choose another name")
        self._registered[name] = self._checked(name, component)

    def names(self) -> tuple[str, ...]:
        """Return all names, the project's own first."""
        return tuple(dict.fromkeys([*self._own, *sorted(self._registered), *self._offered]))

    @property
    def offering(self) -> frozenset[str]:
        """The modules of the installed packages' entry points; none is imported."""
        return frozenset(point.module for points in self._offered.values() for point in points)

    @property
    def _offered(self) -> Mapping[str, Sequence[EntryPoint]]:
        return offers(self.entry_points)

    def get(self, name: str) -> T:
        """Return a component, importing it if necessary.

        Raises:
            UserError: the name is unknown, several packages offer it, or the object has the wrong type.
        """
        if name in self._own:
            if name not in self._found:  # planning 10,000 cells calls this a hundred thousand times
                self._found[name] = self._checked(name, self._own[name].load())
                for point in self._offered.get(name, ()):
                    _log.warning(
                        "%s: not used, because Quorum has a %s %r: give it another name", point.value, self.kind, name
                    )
            return self._found[name]
        if name in self._registered:
            return self._registered[name]
        return self._checked(name, self._load(name))

    def _load(self, name: str) -> object:
        points = self._offered.get(name, ())
        key = f"{self.group}.name: " if self.group else ""
        if not points:
            hint = f"{choices_hint(name, f'The {self.plural}', self.names())} To use your own, add --plugin MODULE."
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
    """The self-registered objects of one kind, by name.

    The first look-up, or `load`, imports the modules that satellites list and installed packages declare.

    Args:
        kind: singular noun for messages.
        entry_points: the entry-point group in which packages declare their modules.
        names: regular expression for valid names; names become file names.
        order: names, or first parts of dotted names, that come first and in this order, whichever module is imported
            first. All others follow in the order of registration.
    """

    def __init__(self, kind: str, entry_points: str, names: str, order: Sequence[str] = ()) -> None:
        self._kind = kind
        self._entry_points = entry_points
        self._names = re.compile(names)
        self._order = {name: place for place, name in enumerate(order)}
        self._things: dict[str, T] = {}
        self._loading = False

    def register(self, name: str, thing: T) -> None:
        """Register an object.

        Raises:
            ValueError: the name is taken or invalid.
        """
        if not self._names.fullmatch(name):
            raise ValueError(f"{self._kind} {name!r}: a name must match {self._names.pattern}")
        if name in self._things:
            raise ValueError(f"there is already a {self._kind} {name!r}: choose another name")
        self._things[name] = thing

    def load(self) -> Mapping[str, T]:
        """Import the modules that satellites list and installed packages declare, once; return all objects by name.

        Raises:
            Exception: any error that a module raises, on every call.
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
