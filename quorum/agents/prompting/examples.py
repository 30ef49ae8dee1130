"""The example answer in a prompt: typed, so that it always matches its schema.

It describes another board: no agent, block or cell of this configuration has its numbers, so that none of them can be
mistaken for a real one. The numbers depend on the configuration, never on the state, so that a provider can cache a
prompt that starts with an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from maeil.messages import MessageKind
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.agents.prompting.answers import task_value


def beyond(count: int) -> int:
    """Return the first of 60, 600, 6000, ... that is not an index of `count` things, counted from 0 or 1."""
    number = 60
    while number <= count:
        number *= 10
    return number


@dataclass(frozen=True, slots=True)
class Example:
    """What agents of a world might answer on another board, by the rules of the world and of its gates.

    Attributes:
        thoughts: the thoughts of one agent.
        message: its message about its plan to the others.
        plan: its plan.
        others: the plans of its partners; a joint plan includes all of them, so that no agent waits in vain.
        order: a leader's message that orders the plan; empty: the message.
        report: the report of a member of a tree to its leader; empty: the message.
        alone: the plan of one more agent that acts alone; None: the plan.
        task: the plan's task as named in lists of open tasks; None: as in the plan.
        number: number of the first agent; those of the others follow.
    """

    thoughts: str
    message: str
    plan: Plan
    others: tuple[Plan, ...] = ()
    order: str = ""
    report: str = ""
    alone: Plan | None = None
    task: Task | None = None
    number: int = beyond(0)

    @property
    def joint(self) -> dict[str, Plan]:
        """The joint plan, keyed by agent name."""
        return {f"agent_{self.number + k}": plan for k, plan in enumerate((self.plan, *self.others))}

    @property
    def one_more(self) -> str:
        """Name of the agent that acts alone."""
        return f"agent_{self.number + 1 + len(self.others)}"

    def says(self, kind: MessageKind) -> str:
        """Return a message of a kind."""
        texts = {
            MessageKind.DIRECTIVE: self.order,
            MessageKind.INFORM: self.report,
            MessageKind.ACK: f"I follow it. {self.message}",
        }
        return texts.get(kind) or self.message

    def claims(self, kind: MessageKind) -> dict[str, Any]:
        """Return what a message of a kind claims and asks, in the form of answers."""
        orders = kind is MessageKind.DIRECTIVE and self.order
        asked = {name: plan.task for name, plan in self.joint.items() if plan.task is not None} if orders else {}
        silent = orders or (kind is MessageKind.INFORM and self.report)
        return {
            "task": task_value(self.plan.task) if not silent else None,
            "asks": [{"agent": name, "task": task_value(task)} for name, task in asked.items()],
        }


def plain_example(world: World) -> Example:
    """Return the example of a world that defines none: wait for a step."""
    return Example(
        "Nothing that I see can be done by me alone, and the others are under way.",
        "I wait for a step; tell me where I can help.",
        Plan((world.idle,), None, "nothing to do before the others arrive"),
        number=beyond(len(world.agents)),
    )


def example_plan(world: World, task: Task | None, rationale: str, *actions: Mapping[str, Any]) -> Plan:
    """Make the plan of an example; the world's vocabulary checks its actions.

    Raises:
        maeil.errors.InvalidThought: an action is not in the vocabulary, or its arguments are wrong.
    """
    return Plan(tuple(world.vocabulary.parse(action) for action in actions), task, rationale)
