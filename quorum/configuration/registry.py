"""The registries of components: worlds, minds, topologies, providers, extensions, engines and trackers.

The registry of origins (`quorum.origins`) holds classes instead of components, as no configuration chooses one.

The `components.json` of each folder lists the components of this project (`quorum_base/components.py`). Third-party
packages register components with entry points: `quorum.worlds`, `quorum.minds`, `quorum.topologies`,
`quorum.providers`, `quorum.extensions`, `quorum.engines`, `quorum.trackers`, each of which resolves to a
`maeil.component.Component`. A module named by `--plugin` calls `worlds.register("name", component)`.
"""

from __future__ import annotations

from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from quorum_base.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from maeil.component import Component, TeamContext, TopologyContext
    from maeil.extension import Extension, ExtensionContext
    from maeil.mind import Mind
    from maeil.topology import Topology
    from maeil.world import World
    from quorum.agents.llm.protocol import Model
    from quorum_base.compilation.kernels import KernelSet


def _component() -> type[Component[Any, Any, Any]]:
    from maeil.component import Component  # noqa: PLC0415 (pydantic, which `quorum list` does not need)

    return Component


def _kernel_set() -> type[KernelSet]:
    from quorum_base.compilation.kernels import KernelSet  # noqa: PLC0415 (Numba)

    return KernelSet


def _registry(kind: str, group: str, plural: str = "") -> Registry[Any]:
    plural = plural or f"{kind}s"
    return Registry(kind, plural, group, f"quorum.{plural}", _component)


worlds: Registry[Component[Any, None, World]] = _registry("world", "env")
minds: Registry[Component[Any, TeamContext, Sequence[Mind]]] = _registry("mind", "agents")
topologies: Registry[Component[Any, TopologyContext, Topology]] = _registry("topology", "topology", "topologies")
providers: Registry[Component[Any, None, Model]] = _registry("provider", "llm")
extensions: Registry[Component[Any, ExtensionContext, Extension]] = _registry("extension", "extension")
"""Extensions of the loop."""
engines: Registry[Component[Any, None, Any]] = _registry("engine", "engine")
"""Engines that run the cells of a sweep; not part of a cell's configuration."""
trackers: Registry[Component[Any, None, Any]] = _registry("tracker", "track")
"""Trackers that log finished runs; not part of a cell's configuration either."""
kernels: Registry[KernelSet] = Registry("set of kernels", "kernels", "kernels", "quorum.kernels", _kernel_set)
"""The compiled code of worlds, by world, and of minds, by `WORLD_MIND`."""
_remarks: Registry[Callable[[Path], str]] = Registry(
    "remark", "remarks", "results", "quorum.remarks", lambda: FunctionType
)
origins: Registry[type[Any]] = Registry("origin", "origins", "branch", "quorum.origins", lambda: type)
"""Origins of recorded cells, by kind: subclasses of `quorum.configuration.origin.Origin`."""
methods: Registry[ModuleType] = Registry(
    "module of methods", "modules of methods", "api", "quorum.api", lambda: ModuleType
)
"""Modules that add methods to `quorum.Result` and `quorum.Results`."""

REGISTRIES: tuple[Registry[Any], ...] = (worlds, minds, topologies, providers)
"""Registries of a cell's components, in the order of their groups in a configuration."""
ALL_REGISTRIES: tuple[Registry[Any], ...] = (*REGISTRIES, extensions, engines, trackers)
"""All registries of components."""


def remarks_on(folder: Path) -> Iterator[str]:
    """Yield the remarks of packages on a sweep folder.

    A package registers a function of the folder in the group `remarks` of a `components.json`, or with the entry point
    `quorum.remarks`; it returns an empty string for no remark.
    """
    found = (_remarks.get(name)(folder) for name in _remarks.names())
    yield from filter(None, found)
