"""Starts actions and takes steps like the loop, and checks the world's return values."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.acting import Primitive
from maeil.actions import SymbolicAction
from maeil.plans import Plan
from maeil.tasks import TaskState
from maeil.testing import answers
from maeil.testing.answers import Contract
from maeil.world import Controller, World

IDLE_LASTS = "idle can always begin, and lasts exactly one step"


def start_idling(contract: Contract, world: World) -> tuple[list[Controller], list[Primitive]]:
    """Start the idle action for all agents that act; return the controllers and the joint action."""
    joint: list[Primitive] = [None] * len(world.agents)
    controllers: list[Controller] = []
    for agent in answers.check_acting(contract, world):
        controller = start(contract, world, agent, world.idle, controllers)
        end = controller.status()
        contract.require(end is None, IDLE_LASTS, f"{end} before its step")
        controllers.append(controller)
        joint[agent] = answers.check_primitive(contract, controller.act())
    return controllers, joint


def start(
    contract: Contract, world: World, agent: int, action: SymbolicAction, running: Sequence[Controller | None]
) -> Controller:
    """Start an action, and check its controller, also against the running ones."""
    controller = world.start_action(agent, action)
    whole = all(callable(getattr(controller, name, None)) for name in ("status", "act", "close"))
    contract.require(whole, "start_action() returns a controller with status(), act() and close()", controller)
    own = all(controller is not other for other in running)
    contract.require(own, "start_action() returns a new controller each time", controller)
    return controller


def constraints(
    contract: Contract, world: World, joint: list[Primitive], plans: Sequence[Plan | None]
) -> list[TaskState]:
    """Return the tasks that have changed under a joint action."""
    return answers.check_states(contract, world.constraints(joint, plans))


def idle(contract: Contract, world: World) -> None:
    """Take a step in which all agents idle."""
    controllers, joint = start_idling(contract, world)
    constraints(contract, world, joint, [None] * len(joint))
    world.step(joint)
    for controller in controllers:
        contract.require(controller.status() is not None, IDLE_LASTS, "it continues after its step")
        controller.close()
