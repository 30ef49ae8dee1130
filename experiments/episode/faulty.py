"""A mind that does one thing wrong, at a given turn."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from maeil import World
from maeil.messages import Draft
from maeil.mind import Act, Mind, Resume, Thought, View
from maeil.plans import Plan, Task
from maeil.trace import Instant
from maeil.world import TellsOpenTasks
from quorum.experiments.configuration.fault import FaultKind
from quorum.experiments.episode.fault import Fault
from quorum.experiments.episode.wrong_plans import wrong_plan

_NAME = re.compile(r"\b[a-z]+_[A-Za-z0-9]+\b")
"""What things are called in messages: `block_3`, `target_green`."""


class Faulty:
    """Thinks as its mind does, and does something else, once; or from a turn on, where that is stubborn.

    The thought takes the calls and the time that it would have taken, and the mind knows nothing of it. So before the
    fault, and in what is thought, nothing is another.

    Args:
        mind: that which thinks.
        fault: what goes wrong.
        world: which may refuse a wrong plan in the state in which its turn comes.
    """

    def __init__(self, mind: Mind, fault: Fault, world: World) -> None:
        self._mind = mind
        self._fault = fault
        self._instant = Instant(fault.t, fault.t_hat)
        self._world = world
        self._rng = np.random.Generator(np.random.PCG64(fault.draw))
        self._last: Plan | None = None
        self._kept: Plan | None = None
        self.done: tuple[int, float] | None = None
        """When it was done, or begun: step and cognitive time of the turn; None: it was not."""

    async def think(self, view: View) -> Thought:
        """Have the mind think, and change what it answers where that goes wrong."""
        thought = await self._mind.think(view)
        if self._kept is not None:
            return self._again(view, thought, self._kept)
        if self.done is None and not thought.failure and self._instant.has_come(view.t, view.t_hat):
            wrong = self._wrong(view, thought)
            if wrong is not None and _done(wrong) != _done(thought):
                self.done = view.t, view.t_hat
                return wrong
            self._kept = None
        if isinstance(thought.decision, Plan):
            self._last = thought.decision
        return thought

    def _wrong(self, view: View, thought: Thought) -> Thought | None:
        """Return the thought with what is wrong; None where there is nothing that could be."""
        kind, plan = self._fault.kind, thought.decision
        if kind is FaultKind.WITHHELD:
            return replace(thought, messages=()) if thought.messages else None
        if kind is FaultKind.FALSE_MESSAGE:
            drafts = tuple(self._false(view, draft) for draft in thought.messages)
            return replace(thought, messages=drafts) if drafts != thought.messages else None
        if not isinstance(plan, Plan):
            return None
        if kind is FaultKind.WRONG_PLAN:
            return replace(thought, decision=wrong_plan(self._world, view.agent, plan, self._fault.delay, self._rng))
        if kind is FaultKind.LATE:
            late = replace(plan, actions=((self._world.idle,) * self._fault.delay) + plan.actions)
            return replace(thought, decision=late) if not self._world.check_plan(view.agent, late) else None
        if self._last is None or self._last.actions == plan.actions:
            return None
        self._kept = self._last
        return self._again(view, thought, self._kept)

    def _false(self, view: View, draft: Draft) -> Draft:
        """Return a message that names another thing of the same sort in the place of the first one that it names."""
        names = [name for name in _NAME.findall(draft.content) if name not in view.names]
        for old in dict.fromkeys(names):
            others = [name for name in self._names(view) if _sort(name) == _sort(old) and name != old]
            if others:
                new = others[int(self._rng.integers(len(others)))]
                content = re.sub(rf"\b{re.escape(old)}\b", new, draft.content)
                task = draft.task
                if task is not None and task.target == old:
                    task = Task(task.kind, new)
                return replace(draft, content=content, task=task)
        return draft

    def _names(self, view: View) -> list[str]:
        """Return what there is to name: the open tasks, what a plan may name, and what was said."""
        world = self._world
        tasks = world.open_tasks([None] * len(world.agents)) if isinstance(world, TellsOpenTasks) else ()
        heard = (name for message in (*view.memory, *view.unread) for name in _NAME.findall(message.content))
        found = (*(open_task.task.target for open_task in tasks), *heard, *_NAME.findall(view.observation.text()))
        return sorted({name for name in found if name not in view.names})

    def _again(self, view: View, thought: Thought, kept: Plan) -> Thought:
        """Keep to a plan: go on with it, or commit it again; wait for a step where the world does not take it now."""
        if Act.PLAN not in view.turn.acts:
            return replace(thought, messages=())
        if view.may_resume and view.plan is not None and view.plan.task == kept.task:
            return replace(thought, messages=(), decision=Resume.RESUME)
        possible = not view.problems and not self._world.check_plan(view.agent, kept)
        return replace(thought, messages=(), decision=kept if possible else Plan((self._world.idle,), kept.task))


def _done(thought: Thought) -> object:
    """Return what a thought does. Two plans of the same actions do the same, whatever they are said to be for."""
    decision = thought.decision
    return thought.messages, decision.actions if isinstance(decision, Plan) else decision


def _sort(name: str) -> str:
    return name.partition("_")[0]
