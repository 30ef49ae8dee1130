"""True statements about an agent of the open world: its position, inventory, sights and work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from crafter_env import CrafterObservation, Material, Navigate
from maeil.messages import Message, MessageKind
from maeil.mind import Turn, View
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.open_world.gathering import Caller
from quorum.open_world.hearsay import Assignment, Hearsay, write_assignment, write_report
from quorum.open_world.scene import Scene
from quorum.open_world.speaker import HOPE, own_part, sights


def statements(world: World) -> Callable[..., Sequence[tuple[str, Task | None]]]:
    """Return the function that replaces messages with true statements (`extension=truth`)."""
    return partial(state, world)


def state(world: World, messages: Sequence[Message], plans: Sequence[Plan | None]) -> list[tuple[str, Task | None]]:
    """State an agent's report and its assignment: its plan's, or the one speakers with full knowledge would agree on.

    Remembered places that have changed since are left out. Directives and messages of a coordinator without a body are
    replaced by the assignments of all recipients.

    See `docs/controls.md` for the arguments.
    """
    there = Scene(replace(_seen(world.global_observation()), cell=(0, 0)))
    observations = [_seen(world.observe(agent)) for agent in range(len(plans))]
    scenes = {agent: Scene(seen) for agent, seen in enumerate(observations) if seen.alive}
    given = _assignments(scenes, plans, there, world.agents)
    return [_state(message, given, scenes.get(message.sender), there, len(plans)) for message in messages]


def _seen(observation: object) -> CrafterObservation:
    assert isinstance(observation, CrafterObservation)
    return observation


def _state(
    message: Message, given: Sequence[Assignment], own: Scene | None, there: Scene, agents: int
) -> tuple[str, Task | None]:
    directs = message.kind is MessageKind.DIRECTIVE or message.sender >= agents
    readers = {*message.recipients} if directs else {message.sender}
    found = [assignment for assignment in given if assignment.agents & readers]
    said = [write_assignment(assignment) for assignment in found]
    if own is not None:
        places = [name for name in sights(own) if _is_there(name, there)]
        said.append(write_report(own.id_of(own.cell), own.seen.inventory, places))
    elif message.sender < agents:
        said.append("I am dead.")
    return " ".join(said), found[0].task if found and not directs else None


def _assignments(
    scenes: Mapping[int, Scene], plans: Sequence[Plan | None], there: Scene, names: Sequence[str]
) -> list[Assignment]:
    """Return all assignments: those of the plans, then each other agent's claim given the assignments so far."""
    step = there.seen.step
    known = Hearsay(
        cells={agent: scene.cell for agent, scene in scenes.items()},
        bags={agent: dict(scene.seen.inventory) for agent, scene in scenes.items()},
    )
    planned: dict[tuple[Task, int], set[int]] = {}
    for agent, plan in enumerate(plans):
        if plan is not None and agent in scenes and (cell := _cell(plan)) is not None and plan.task is not None:
            planned.setdefault((plan.task, cell), set()).add(agent)
    for (task, cell), agents in planned.items():
        known.add(Assignment(frozenset(agents), task, cell, HOPE, step))
    free = {agent: cell for agent, cell in known.cells.items() if plans[agent] is None}  # only they can be called
    for agent, scene in scenes.items():
        if agent in free and known.of(agent) is None:
            view = View(agent, names[agent], tuple(names), Turn(agent, frozenset()), step, 0, scene.seen)
            new = Caller(view, scene, replace(known, cells=free)).call() or own_part(view, scene, known)
            if new is not None and (new.task.kind != "collect" or _is_there(new.task.target, there)):
                known.add(new)
    return known.assignments


def _cell(plan: Plan) -> int | None:
    """Return the cell of a plan to collect or craft; None for other plans."""
    if plan.task is None or plan.task.kind not in ("collect", "craft"):
        return None
    if plan.task.kind == "collect":
        identity = plan.task.target.rpartition("_")[2]
        return int(identity) if identity.isdecimal() else None
    return next((action.id for action in plan.actions if isinstance(action, Navigate)), None)


def cell_stands(world: World, name: str) -> bool | None:
    """Return whether a cell still matches its name; None if the name denotes no cell."""
    material, _, identity = name.rpartition("_")
    if material not in Material.__members__ or not identity.isdecimal():
        return None
    return _is_there(name, Scene(replace(_seen(world.global_observation()), cell=(0, 0))))


def _is_there(name: str, there: Scene) -> bool:
    """Return whether a cell still matches its name, such as `iron_2081`."""
    material, _, identity = name.rpartition("_")
    return there.material(there.cell_of(int(identity))) is Material[material]
