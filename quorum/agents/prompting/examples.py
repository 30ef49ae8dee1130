"""The example that a prompt shows of an answer: typed, so that it is always of the form that it stands for.

It is of another board: its agents, blocks and cells have numbers that nothing has on a board of this configuration, so
that none of them can be taken for one that is there. They follow from the configuration, never from the state: a
provider can keep a prompt that begins with an example.
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
    """Return the first of the numbers 60, 600, 6000, ... that none of `count` things has, counted from 0 or 1."""
    number = 60
    while number <= count:
        number *= 10
    return number


@dataclass(frozen=True, slots=True)
class Example:
    """What agents of a world might answer on another board: by the rules of the world, and those of its gates.

    Attributes:
        thoughts: what one of them thinks first.
        message: what it says to the others about its plan.
        plan: what it does.
        others: what those do who take part in that; a joint plan has all of these, and leaves nobody waiting in vain.
        order: what a leader writes to have it done; empty: the message.
        report: what a member of a tree reports to its leader; empty: the message.
        alone: what one more agent does by itself; None: the plan.
        task: the plan's task as lists of open tasks name it; None: as the plan does.
        number: of the first agent; those of the others follow.
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
        """The joint plan, by the names of the agents."""
        return {f"agent_{self.number + k}": plan for k, plan in enumerate((self.plan, *self.others))}

    @property
    def one_more(self) -> str:
        """The name of the agent that does something by itself."""
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
        """Return what a message of a kind claims and asks, as answers have it."""
        orders = kind is MessageKind.DIRECTIVE and self.order
        asked = {name: plan.task for name, plan in self.joint.items() if plan.task is not None} if orders else {}
        silent = orders or (kind is MessageKind.INFORM and self.report)
        return {
            "task": task_value(self.plan.task) if not silent else None,
            "asks": [{"agent": name, "task": task_value(task)} for name, task in asked.items()],
        }


def plain_example(world: World) -> Example:
    """Return the example of a world without one: to wait for a step."""
    return Example(
        "Nothing that I see can be done by me alone, and the others are under way.",
        "I wait for a step; tell me where I can help.",
        Plan((world.idle,), None, "nothing to do before the others arrive"),
        number=beyond(len(world.agents)),
    )


def example_plan(world: World, task: Task | None, rationale: str, *actions: Mapping[str, Any]) -> Plan:
    """Make the plan of an example, whose actions are checked by the world's vocabulary.

    Raises:
        maeil.errors.InvalidThought: an action is none of the vocabulary, or has not its arguments.
    """
    return Plan(tuple(world.vocabulary.parse(action) for action in actions), task, rationale)
