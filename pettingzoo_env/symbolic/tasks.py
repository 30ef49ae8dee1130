"""The tasks of a description: which are done, who is in place for each, and what has changed since a step ago."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maeil.plans import Plan, Task
from maeil.tasks import Attempt, TaskState
from pettingzoo_env.description import Condition, Description, Parts


class TaskBoard:
    """The tasks of an episode.

    Args:
        description: has the tasks.
        names: of the agents, by index.
    """

    def __init__(self, description: Description, names: Sequence[str]) -> None:
        self._described = description.tasks
        self._numbers = [_names(description, name) for name in names]
        self.tasks = tuple(Task(kind, target) for kind, own in self._described.items() for target in own.targets)
        self._reported: dict[Task, TaskState] = {}
        self._seen: Sequence[Parts] = ()
        self._active: dict[Task, tuple[int, ...]] = {}

    def check(self, seen: Sequence[Parts]) -> None:
        """Make sure that each condition is of something that an agent observes.

        Raises:
            ValueError: one is not; the message names it.
        """
        known = ", ".join(dict.fromkeys(name for parts in seen for name in parts))
        for task in self.tasks:
            own = self._described[task.kind]
            for key, condition in (("done_when", own.done_when), ("in_place_when", own.in_place_when or own.done_when)):
                place = f"description.tasks.{task.kind}.{key}"
                try:
                    holds = self._holding(condition, task, seen)
                except ValueError as error:
                    raise ValueError(f"{place}: {error}") from None
                if all(held is None for held in holds):
                    both = " and ".join(filter(None, (condition.part, condition.minus)))
                    both = both.replace("{target}", task.target)
                    raise ValueError(f"{place}: no agent observes {both}; the parts are {known}")

    def look(self, seen: Sequence[Parts], working: bool = False) -> tuple[Attempt, ...]:
        """Take what the agents observe, and return what has succeeded since the look before.

        Args:
            seen: by agent.
            working: whether a step was taken since then.
        """
        before = self.done() if self._seen else []
        self._seen = seen
        fresh = [task for task in self.done() if task not in before] if working else []
        return tuple(
            Attempt(task, agents, True) for task in fresh if (agents := self._active.get(task) or self._in_place(task))
        )

    def begin(self) -> None:
        """Begin an episode."""
        self._reported, self._seen, self._active = {}, (), {}

    def done(self) -> list[Task]:
        """Return the tasks that are done."""
        return [
            task for task in self.tasks if any(self._holding(self._described[task.kind].done_when, task, self._seen))
        ]

    def targets(self) -> dict[str, list[str]]:
        """Return the targets of all tasks, by kind: one that is done may have to be done again."""
        return {kind: list(own.targets) for kind, own in self._described.items()}

    def changes(self, plans: Sequence[Plan | None]) -> list[TaskState]:
        """Return the states of tasks that are not what they were, as `World.constraints` has them."""
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
            threshold, taking = self._described[task.kind].agents, len(workers)
            states[task] = TaskState(task, threshold, len(there), taking, taking, len(both), dependency=True)
        changed = [state for task, state in states.items() if self._reported.get(task) != state]
        self._reported = {task: state for task, state in states.items() if state.threshold}
        return changed

    def _in_place(self, task: Task) -> tuple[int, ...]:
        condition = self._described[task.kind].in_place_when
        if condition is None:
            return tuple(range(len(self._seen)))
        return tuple(agent for agent, held in enumerate(self._holding(condition, task, self._seen)) if held)

    def _holding(self, condition: Condition, task: Task, seen: Sequence[Parts]) -> list[bool | None]:
        return [condition.holds(parts, names, task.target) for parts, names in zip(seen, self._numbers, strict=True)]


def _names(description: Description, agent: str) -> Mapping[str, Sequence[str]]:
    """Return the names of the numbers of each part that an agent observes."""
    forms = description.of(agent).observation.items()
    return {name: form for name, form in forms if not isinstance(form, int)}
