"""The registries of components: worlds, minds, topologies, providers, extensions of the loop, engines, trackers.

That of origins (`quorum.origins`) has classes instead of components: no configuration chooses one.

The `components.json` of each folder lists the components of this project (`quorum_base/components.py`). Packages of
other people offer components by entry points: `quorum.worlds`, `quorum.minds`, `quorum.topologies`, `quorum.providers`,
`quorum.extensions`, `quorum.engines`, `quorum.trackers`, each resolving to a `maeil.component.Component`; a module
named by `--plugin` calls `worlds.register("name", component)`.
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
    from maeil.component import Component  # noqa: PLC0415 (pydantic, which `quorum list` does without)

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
"""Methods that take part in the loop."""
engines: Registry[Component[Any, None, Any]] = _registry("engine", "engine")
"""What runs the cells of a sweep: no part of a cell's configuration."""
trackers: Registry[Component[Any, None, Any]] = _registry("tracker", "track")
"""What finished runs are logged to: no part of a cell's configuration either."""
kernels: Registry[KernelSet] = Registry("set of kernels", "kernels", "kernels", "quorum.kernels", _kernel_set)
"""The compiled code of worlds, by world, and of minds, by `WORLD_MIND`."""
_remarks: Registry[Callable[[Path], str]] = Registry(
    "remark", "remarks", "results", "quorum.remarks", lambda: FunctionType
)
origins: Registry[type[Any]] = Registry("origin", "origins", "branch", "quorum.origins", lambda: type)
"""What recorded cells go back to, by kind: subclasses of `quorum.configuration.origin.Origin`."""
measures: Registry[Callable[..., Any]] = Registry(
    "measure", "measures", "results", "quorum.measures", lambda: FunctionType
)
"""What adds options to `quorum results`."""
methods: Registry[ModuleType] = Registry(
    "module of methods", "modules of methods", "api", "quorum.api", lambda: ModuleType
)
"""What adds methods to `quorum.Result` and `quorum.Results`."""

REGISTRIES: tuple[Registry[Any], ...] = (worlds, minds, topologies, providers)
"""Every registry of a cell, in the order in which their groups stand in a configuration."""
ALL_REGISTRIES: tuple[Registry[Any], ...] = (*REGISTRIES, extensions, engines, trackers)
"""Every registry of components."""


def remarks_on(folder: Path) -> Iterator[str]:
    """Yield what packages remark on the folder of a sweep.

    A function of the folder is offered in the group `remarks` of a `components.json`, or by the entry point
    `quorum.remarks`; empty text is no remark.
    """
    found = (_remarks.get(name)(folder) for name in _remarks.names())
    yield from filter(None, found)
