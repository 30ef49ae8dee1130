"""What an agent of the simulated speaker works on in the open world, on its own and in a team."""

from __future__ import annotations

from crafter_env import Material
from maeil.plans import Plan
from quorum.agents.skills.crafter.needs import SOURCE, ambition, fetch, harvest, make, missing_inputs
from quorum.agents.skills.crafter.scene import Scene

PATIENCE = 12
"""Times that it tries while too few agents are there."""


def work(scene: Scene) -> Plan | None:
    """Make the next tool, or fetch what it takes; without one to make, collect what brings points."""
    tool = ambition(scene)
    if tool is None:
        plans = [fetch(scene, material, patience=PATIENCE) for material in _worth(scene)]
        return next((plan for plan in plans if plan is not None), None) or harvest(scene)
    lacking = missing_inputs(scene, tool)
    if not lacking:
        return make(scene, tool, PATIENCE)
    plans = [fetch(scene, SOURCE[item], patience=PATIENCE) for item in lacking]
    return next((plan for plan in plans if plan is not None), None)


def _worth(scene: Scene) -> list[Material]:
    """What it would call others for, when teammates are in view."""
    if not scene.seen.teammates:
        return []
    wanted = (Material.diamond, Material.iron, Material.coal)
    return [
        material
        for material in wanted
        if scene.can_collect(material) and scene.needed(material) <= len(scene.seen.teammates) + 1
    ]
