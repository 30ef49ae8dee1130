"""The tasks of a description: done tasks, agents in place, and changes since the last step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maeil.plans import Plan, Task
from maeil.tasks import Attempt, TaskState
from pettingzoo_env.description import Condition, Description, Measure, Parts

_LEAST = 1e-9
"""The weight of an agent that counts nothing or observes no weight; weights must be positive."""


class TaskBoard:
    """The tasks of an episode.

    Args:
        description: contains the tasks.
        names: names of the agents, by index.
    """

    def __init__(self, description: Description, names: Sequence[str]) -> None:
        self._described = description.tasks
        self._numbers = [_names(description, name) for name in names]
        self.tasks = tuple(Task(kind, target) for kind, own in self._described.items() for target in own.targets)
        self._reported: dict[Task, TaskState] = {}
        self._seen: Sequence[Parts] = ()
        self._active: dict[Task, tuple[int, ...]] = {}

    def check(self, seen: Sequence[Parts]) -> None:
        """Check that some agent observes each measure.

        Raises:
            ValueError: no agent observes a measure; the message names it.
        """
        known = ", ".join(dict.fromkeys(name for parts in seen for name in parts))
        for task in self.tasks:
            own = self._described[task.kind]
            for key in ("done_when", "in_place_when", "agents", "weight"):
                if not isinstance(measure := getattr(own, key), Measure):
                    continue
                place = f"description.tasks.{task.kind}.{key}"
                try:
                    values = self._values(measure, task, seen)
                except ValueError as error:
                    raise ValueError(f"{place}: {error}") from None
                if all(value is None for value in values):
                    both = " and ".join(filter(None, (measure.part, measure.minus)))
                    both = both.replace("{target}", task.target)
                    raise ValueError(f"{place}: no agent observes {both}; the parts are {known}")

    def look(self, seen: Sequence[Parts], working: bool = False) -> tuple[Attempt, ...]:
        """Update the agents' observations, and return the tasks that succeeded since the last update.

        Args:
            seen: observations by agent.
            working: whether a step was taken since the last update.
        """
        before = self.done() if self._seen else []
        self._seen = seen
        fresh = [task for task in self.done() if task not in before] if working else []
        return tuple(
            Attempt(task, agents, True) for task in fresh if (agents := self._active.get(task) or self._in_place(task))
        )

    def begin(self) -> None:
        """Start an episode."""
        self._reported, self._seen, self._active = {}, (), {}

    def done(self) -> list[Task]:
        """Return the tasks that are done."""
        return [task for task in self.tasks if any(self._holding(self._described[task.kind].done_when, task))]

    def targets(self) -> dict[str, list[str]]:
        """Return the targets of all tasks, by kind; a done task may have to be done again."""
        return {kind: list(own.targets) for kind, own in self._described.items()}

    def changes(self, plans: Sequence[Plan | None]) -> list[TaskState]:
        """Return the states of changed tasks, as in `World.constraints`."""
        done = self.done()
        states: dict[Task, TaskState] = {}
        self._active = {}
        for task in self.tasks:
            if task in done:
                if task in self._reported:
                    states[task] = TaskState(task, 0, 0, 0, 0, 0, True)
                continue
            workers = [i for i, plan in enumerate(plans) if plan is not None and plan.task == task]
            there = self._in_place(task)
            self._active[task] = both = tuple(i for i in workers if i in there)
            own, weights = self._described[task.kind], self._weights(task)
            threshold = own.agents if isinstance(own.agents, int) else max(self._positive(own.agents, task))
            spatial, taking, joint = (_sum(those, weights) for those in (there, workers, both))
            states[task] = TaskState(task, threshold, spatial, taking, taking, joint, dependency=True, weights=weights)
        changed = [state for task, state in states.items() if self._reported.get(task) != state]
        self._reported = {task: state for task, state in states.items() if state.threshold}
        return changed

    def _in_place(self, task: Task) -> tuple[int, ...]:
        condition = self._described[task.kind].in_place_when
        if condition is None:
            return tuple(range(len(self._seen)))
        return tuple(agent for agent, held in enumerate(self._holding(condition, task)) if held)

    def _holding(self, condition: Condition, task: Task) -> list[bool]:
        return [*map(condition.holds, self._values(condition, task, self._seen))]

    def _weights(self, task: Task) -> tuple[float, ...] | None:
        weight = self._described[task.kind].weight
        return self._positive(weight, task) if weight is not None else None

    def _positive(self, measure: Measure, task: Task) -> tuple[float, ...]:
        """Return each agent's observed value as a positive number."""
        return tuple(max(value or 0, _LEAST) for value in self._values(measure, task, self._seen))

    def _values(self, measure: Measure, task: Task, seen: Sequence[Parts]) -> list[float | None]:
        return [measure.value(parts, names, task.target) for parts, names in zip(seen, self._numbers, strict=True)]


def _sum(agents: Sequence[int], weights: Sequence[float] | None) -> float:
    return len(agents) if weights is None else sum(weights[agent] for agent in agents)


def _names(description: Description, agent: str) -> Mapping[str, Sequence[str]]:
    """Return the names of the numbers of each part that an agent observes."""
    forms = description.of(agent).observation.items()
    return {name: form for name, form in forms if not isinstance(form, int)}
