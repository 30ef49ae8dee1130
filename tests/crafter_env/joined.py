"""The open world joined to the loop, on hand-made maps, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crafter_env import Cell, Item
from crafter_env.symbolic.controller import decode
from crafter_env.world import CrafterConfig, CrafterWorld
from maeil.actions import ActionStatus, SymbolicAction
from maeil.plans import Plan
from maeil.tasks import TaskState
from maeil.world import ActionEnd, Transition

DEFAULTS: dict[str, Any] = {
    "name": "crafter",
    "n": 1,
    "profile": "coop",
    "level": "easy",
    "switches": {"mobs": False},
    "thresholds": {},
    "goal": "open",
    "layout": None,
    "oracle_map": False,
    "known_only": False,
    "text": {"max_agents": 32},
    "observation": "text",
    "max_steps": 500,
}


def world(
    drawing: str | None = None, bags: Mapping[int, Mapping[Item, int]] | None = None, **changes: Any
) -> CrafterWorld:
    """A world that has been reset; a drawing names the number of its agents."""
    if drawing is not None:
        drawing = "\n".join(line.strip() for line in drawing.strip().splitlines())
        changes = {"n": sum(character.isdigit() for character in drawing), **changes}
    seed = changes.pop("seed", 0)
    found = CrafterWorld(CrafterConfig(**{**DEFAULTS, **changes, "layout": drawing}))
    found.reset(seed)
    for agent, bag in (bags or {}).items():
        for item, amount in bag.items():
            found.env.crafter_state.inventory[agent, item] = amount
    return found


def run(world: CrafterWorld, actions: Mapping[int, SymbolicAction], most: int = 200) -> dict[int, tuple[str, int]]:
    """Carry out one symbolic action of each agent, as the loop does; the others do nothing.

    Returns:
        How each ended (`success`, or the reason), and after how many steps of the world.
    """
    controllers = {agent: world.start_action(agent, action) for agent, action in actions.items()}
    ended: dict[int, tuple[str, int]] = {}
    for step in range(most + 1):
        for agent, controller in list(controllers.items()):
            end = controller.status()
            if end is not None:
                controller.close()
                del controllers[agent]
                ended[agent] = reported(end), step
        if not controllers:
            return ended
        advance(world, {agent: controller.act() for agent, controller in controllers.items()})
    raise AssertionError(f"agents {sorted(controllers)} have not ended after {most} steps")


def reported(end: ActionEnd) -> str:
    return "success" if end.status is ActionStatus.SUCCESS else end.reason


def advance(world: CrafterWorld, primitives: Mapping[int, int] | None = None) -> Transition:
    """Take a step with some primitives; the others do nothing."""
    joint = [(primitives or {}).get(agent, 0) for agent in range(len(world.agents))]
    assert len(decode(joint, sharing=world.env.profile.sharing)) == len(joint)
    world.constraints(joint, [None] * len(joint))
    return world.step(joint)


def states(
    world: CrafterWorld, primitives: Mapping[int, int] | None = None, plans: Mapping[int, Plan] | None = None
) -> dict[str, TaskState]:
    """The tasks whose constraints change under some primitives and live plans, by target."""
    joint = [(primitives or {}).get(agent, 0) for agent in range(len(world.agents))]
    live = [(plans or {}).get(agent) for agent in range(len(joint))]
    return {state.task.target: state for state in world.constraints(joint, live)}


def number(world: CrafterWorld, cell: Cell) -> int:
    """The id of a cell."""
    return cell[0] * world.env.size[1] + cell[1] + 1


def bag(world: CrafterWorld, agent: int, item: Item) -> int:
    return int(world.env.crafter_state.inventory[agent, item])


def cell(world: CrafterWorld, agent: int) -> Cell:
    x, y = world.env.crafter_state.positions[agent].tolist()
    return x, y
