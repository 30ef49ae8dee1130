"""The registries of components: worlds, minds, topologies, providers, extensions of the loop, engines of sweeps.

Packages offer components by entry points: `quorum.worlds`, `quorum.minds`, `quorum.topologies`, `quorum.providers`,
`quorum.extensions`, `quorum.engines`, each resolving to a `maeil.component.Component`; a module named by `--plugin`
calls `worlds.register("name", component)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maeil.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from maeil.component import Component, TeamContext, TopologyContext
    from maeil.extension import Extension, ExtensionContext
    from maeil.mind import Mind
    from maeil.topology import Topology
    from maeil.world import World
    from quorum.agents.llm.protocol import Model


def _component() -> type[Component[Any, Any, Any]]:
    from maeil.component import Component  # noqa: PLC0415 (pydantic, which `quorum list` does without)

    return Component


worlds: Registry[Component[Any, None, World]] = Registry(
    "world",
    "worlds",
    "env",
    "quorum.worlds",
    {
        "cube": "cube_env.world:component",
        "crafter": "crafter_env.world:component",
        "transport": "llamac_env.transport.world:component",
        "squeeze": "llamac_env.squeeze.world:component",
    },
    _component,
)
minds: Registry[Component[Any, TeamContext, Sequence[Mind]]] = Registry(
    "mind",
    "minds",
    "agents",
    "quorum.minds",
    {
        "heuristic": "quorum.agents.rules:heuristic",
        "always_right": "quorum.agents.rules:always_right",
        "idle": "quorum.agents.rules:idle",
        "negotiator": "quorum.agents.rules:negotiator",
        "planner": "quorum.agents.rules:planner",
        "naive": "quorum.agents.naive:component",
        "tom": "quorum.agents.tom:component",
        "llamac": "quorum.agents.llamac:component",
        "cmas": "quorum.agents.baselines.teams:cmas",
        "hmas1": "quorum.agents.baselines.teams:hmas1",
        "hmas2": "quorum.agents.baselines.teams:hmas2",
        "dmas": "quorum.agents.baselines.teams:dmas",
        "debaters": "quorum.agents.baselines.teams:debaters",
        "drwell": "quorum.agents.drwell:component",
    },
    _component,
)
topologies: Registry[Component[Any, TopologyContext, Topology]] = Registry(
    "topology",
    "topologies",
    "topology",
    "quorum.topologies",
    {
        "individual": "quorum.topologies.plain:individual",
        "debate": "quorum.topologies.plain:debate",
        "chain": "quorum.topologies.plain:chain",
        "centralized": "quorum.topologies.centralized:component",
        "hybrid": "quorum.topologies.centralized:hybrid",
        "hierarchy": "quorum.topologies.hierarchy:component",
        "decentralized": "quorum.topologies.plain:decentralized",
        "dialogue": "quorum.topologies.dialogue:component",
        "negotiation": "quorum.topologies.negotiation:component",
        "graph": "quorum.topologies.graph:component",
        "dytopo": "quorum.topologies.dytopo:component",
        "random": "quorum.topologies.dytopo:random",
        "learned": "quorum.topologies.learned:component",
    },
    _component,
)
providers: Registry[Component[Any, None, Model]] = Registry(
    "provider",
    "providers",
    "llm",
    "quorum.providers",
    {
        "simulated": "quorum.experiments.configuration.providers.simulated:component",
        "replay": "quorum.experiments.configuration.providers.replay:component",
        "openai": "quorum.experiments.configuration.providers.remote:openai",
        "anthropic": "quorum.experiments.configuration.providers.remote:anthropic",
        "litellm": "quorum.experiments.configuration.providers.remote:litellm",
    },
    _component,
)
extensions: Registry[Component[Any, ExtensionContext, Extension]] = Registry(
    "extension",
    "extensions",
    "extension",
    "quorum.extensions",
    {
        "repair": "maeil.extensions.repair.gate:component",
        "describe": "maeil.extensions.describe.describing:component",
        "predictions": "maeil.extensions.predictions:component",
    },
    _component,
)
"""Methods that take part in the loop."""
engines: Registry[Component[Any, None, Any]] = Registry(
    "engine",
    "engines",
    "engine",
    "quorum.engines",
    {
        "local": "quorum.experiments.sweep.engines.local:component",
        "ray": "quorum.experiments.sweep.engines.on_ray:component",
        "slurm": "quorum.experiments.sweep.engines.slurm:component",
    },
    _component,
)
"""What runs the cells of a sweep: no part of a cell's configuration."""
REGISTRIES: tuple[Registry[Any], ...] = (worlds, minds, topologies, providers)
"""Every registry of a cell, in the order in which their groups stand in a configuration."""
