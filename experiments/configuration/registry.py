"""The one place where components are found by name.

A component comes from this project (the tables below, imported when asked for), from an installed package that declares
an entry point (`quorum.worlds`, `quorum.minds`, `quorum.topologies`, `quorum.providers`, `quorum.engines`, each
resolving to a `maeil.component.Component`), or from a module named by `--plugin`, which is imported and calls
`worlds.register("name", component)` itself. Nothing that a configuration file names is imported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from maeil.user_errors import UserError, choices_hint

if TYPE_CHECKING:
    from maeil.component import Component

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@cache
def _offers(_path: tuple[str, ...]) -> Any:
    """Return the entry points of the packages on `sys.path`, which are read once: it takes 10 ms.

    They are `EntryPoints` from Python 3.12 on and `SelectableGroups` before, both with `select`.
    """
    return entry_points()


class Registry:
    """The components of one kind, by name.

    Args:
        kind: what they are, as messages call one of them.
        plural: what they are, as messages call several.
        group: the configuration group that chooses among them.
        entry_points: the entry-point group in which packages offer theirs.
        builtin: this project's own: name to module; the module has an attribute `component`.
    """

    def __init__(self, kind: str, plural: str, group: str, entry_points: str, builtin: Mapping[str, str]) -> None:
        self.kind = kind
        self.plural = plural
        self.group = group
        self.entry_points = entry_points
        self._builtin = dict(builtin)
        self._registered: dict[str, Component] = {}

    def register(self, name: str, component: Component) -> None:
        """Offer a component under a name.

        Raises:
            UserError: the name is taken, or is not made of lowercase letters, digits and underscores.
        """
        if not _NAME.fullmatch(name):
            raise UserError(f"{self.kind} {name!r}: a name is lowercase letters, digits and underscores")
        if name in self.names():
            raise UserError(f"{self.kind} {name!r} is registered already: take another name")
        self._registered[name] = component

    def names(self) -> tuple[str, ...]:
        """Return the names of all components, the project's own first."""
        offered = sorted(point.name for point in _offers(tuple(sys.path)).select(group=self.entry_points))
        return tuple(dict.fromkeys([*self._builtin, *sorted(self._registered), *offered]))

    def get(self, name: str) -> Component:
        """Find a component, importing it if need be.

        Raises:
            UserError: nothing has this name, two packages offer it, or what a package offers is not a component.
        """
        if name in self._builtin:
            found: object = import_module(self._builtin[name]).component
        elif name in self._registered:
            found = self._registered[name]
        else:
            found = self._load(name)
        return self._checked(name, found)

    def _load(self, name: str) -> object:
        points = list(_offers(tuple(sys.path)).select(group=self.entry_points, name=name))
        if not points:
            hint = choices_hint(name, f"The {self.plural}", self.names())
            raise UserError(f"{self.group}.name: no {self.kind} is called {name!r}", hint)
        if len(points) > 1:
            values = ", ".join(sorted(point.value for point in points))
            raise UserError(f"{self.group}.name: several packages offer the {self.kind} {name!r}: {values}")
        return points[0].load()

    def _checked(self, name: str, found: object) -> Component:
        from maeil.component import Component  # noqa: PLC0415 - pydantic, which `quorum list` does without

        if not isinstance(found, Component):
            raise UserError(f"{self.kind} {name!r}: it is a {type(found).__name__}, not a maeil.component.Component")
        return found


worlds = Registry(
    "world",
    "worlds",
    "env",
    "quorum.worlds",
    {
        "cube": "cube_env.world",
        "crafter": "crafter_env.world",
        "transport": "llamac_env.transport.world",
        "squeeze": "llamac_env.squeeze.world",
    },
)
minds = Registry(
    "mind",
    "minds",
    "agents",
    "quorum.minds",
    {
        **{name: f"quorum.agents.{name}" for name in ("heuristic", "negotiator", "planner", "naive", "llamac")},
        **{name: f"quorum.agents.baselines.{name}" for name in ("cmas", "hmas1", "hmas2", "dmas", "debaters")},
    },
)
topologies = Registry(
    "topology",
    "topologies",
    "topology",
    "quorum.topologies",
    {
        name: f"quorum.topologies.{name}"
        for name in ("individual", "debate", "chain", "centralized", "decentralized", "dialogue", "graph")
    },
)
providers = Registry(
    "provider",
    "providers",
    "llm",
    "quorum.providers",
    {
        name: f"quorum.experiments.configuration.providers.{name}"
        for name in ("simulated", "replay", "openai", "anthropic", "litellm")
    },
)
engines = Registry(
    "engine",
    "engines",
    "engine",
    "quorum.engines",
    {
        "local": "quorum.experiments.sweep.engines.local",
        "ray": "quorum.experiments.sweep.engines.on_ray",
        "slurm": "quorum.experiments.sweep.engines.slurm",
    },
)
"""What runs the cells of a sweep: no part of a cell's configuration."""
REGISTRIES: tuple[Registry, ...] = (worlds, minds, topologies, providers)
"""Every registry of a cell, in the order in which their groups stand in a configuration."""
