"""Open tasks in a prompt: how feedback shows them, and how to read them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maeil.mind import View
from maeil.plans import Task
from maeil.tasks import OpenTask
from maeil.world import World
from quorum_base.names import fold_names, unfold_names

_LISTS = ("in_place", "able", "planned")


class OpenTaskWriter:
    """Writes open tasks for one reader, with agent names and without empty fields.

    For an agent, each list names itself and the nearest others, as many as its world shows it (the fact `max_agents`),
    with lower indices preferred among equals; `not_shown` gives the number of the rest by list. For a mind without a
    body, which plans for all, each list names all agents.

    Args:
        world: its current state.
        view: the reader's view.
    """

    def __init__(self, world: World, view: View) -> None:
        self._world = world
        self._view = view
        has_body = view.agent < len(world.agents)
        self._most: int | None = world.prompt_facts().get("max_agents") if has_body else None

    def write(self, task: OpenTask) -> dict[str, object]:
        """Return an open task as shown to the reader."""
        found: dict[str, object] = task.to_json()
        if task.before:
            found["before"] = [_task_value(name) for name in task.before]
        hidden: dict[str, int] = {}
        for key, agents in ((key, getattr(task, key)) for key in _LISTS if key in found):
            shown = self._shown(agents)
            found[key] = fold_names([self._view.names[agent] for agent in shown])
            if len(shown) < len(agents):
                hidden[key] = len(agents) - len(shown)
        if hidden:
            found["not_shown"] = hidden
        return found

    def _shown(self, agents: Sequence[int]) -> Sequence[int]:
        reader = self._view.agent
        others = [agent for agent in agents if agent != reader]
        if self._most is None or len(others) <= self._most:
            return agents
        away = {agent: self._world.distance(reader, agent) or 0 for agent in others}
        nearest = {reader, *sorted(others, key=lambda agent: (away[agent], agent))[: self._most]}
        return [agent for agent in agents if agent in nearest]


def _task_value(name: str) -> str | dict[str, str]:
    """A prerequisite of a task: a task in the usual notation, anything else by its name."""
    kind, is_task, target = name.partition(":")
    return {"kind": kind, "target": target} if is_task else name


def read_open_task(data: Mapping[str, Any], index: Mapping[str, int]) -> OpenTask:
    """Read the output of `OpenTaskWriter`; agents not shown are missing from the lists.

    Args:
        data: an open task as shown.
        index: index of each agent by name.

    Raises:
        KeyError: it is not such output.
    """

    def agents(key: str) -> tuple[int, ...] | None:
        return tuple(index[name] for name in unfold_names(data[key])) if key in data else None

    return OpenTask(
        Task(data["task"]["kind"], data["task"]["target"]),
        data["needs"],
        data["more"],
        agents("in_place"),
        agents("able"),
        agents("planned") or (),
        tuple(data.get("missing", {}).items()),
        tuple(name if isinstance(name, str) else str(Task(**name)) for name in data.get("before", ())),
    )
