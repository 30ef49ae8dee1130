"""What a simulated speaker of the open world says it offers and needs: what it has seen, and what it looks for."""

from __future__ import annotations

from crafter_env import Material
from maeil.extensions.describe.describing import needs_of
from maeil.extensions.describe.descriptors import Descriptor, Need, Offer
from maeil.mind import View
from quorum.agents.skills.crafter import words
from quorum.agents.skills.crafter.scene import Scene

SOUGHT = (Material.tree, Material.water, Material.coal, Material.iron, Material.diamond)
"""What the land has, in the order in which an agent needs it."""
LOOKED_FOR = 2
"""Materials that a need names, at most: the first of which no place is known."""


def describe(view: View, scene: Scene, sights: list[str]) -> Descriptor:
    """Offer to tell the places that it has seen; ask for those of which it has neither seen nor heard.

    Args:
        view: the turn.
        scene: what it knows.
        sights: the places that its report names.
    """
    seen = tuple(m.name for m in SOUGHT if set(scene.known(m)) - set(scene.heard(m)))
    wanted = tuple(material.name for material in SOUGHT if not scene.known(material))[:LOOKED_FOR]
    report = words.report(scene.id_of(scene.cell), scene.seen.inventory, sights)
    return Descriptor(
        Offer(report, seen, free=view.plan is None and scene.seen.alive),
        Need(f"I look for {' and '.join(wanted)}." if wanted else "", wanted),
    )


def asked(view: View) -> list[Material]:
    """Return the materials that those look for whom the agent writes to."""
    names = dict.fromkeys(name for _, need in needs_of(view) for name in need.tasks)
    return [Material[name] for name in names if name in Material.__members__]
