"""What a negotiator knows of CUBE's team: who wants which block, and what came of its own plans."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from cube_env import Face, SymbolicBlock, SymbolicObservation
from maeil.extensions.describe.describing import needs_of
from maeil.messages import Message, MessageKind
from maeil.mind import View
from maeil.plans import PlanStatus, Task
from maeil.tasks import OpenTask
from quorum.agents.skills.cube import claims as words

_BLOCK = re.compile(r"block_(\d+)\b")
_IN_VAIN = (PlanStatus.FAILED, PlanStatus.TIMED_OUT)


@dataclass(slots=True)
class Knowledge:
    """What one participant knows beyond what it sees.

    Attributes:
        wishes: the block that each agent, itself among them, is known to work on or to want.
        order: the block that the leader has told it to work on.
        failures: how often its plans for a block have failed.
        refused: the block that each agent has objected to since the last orders.
        failed_at: environment step of the last failure that was counted.
        branches: who has asked for something to do in this environment step, and for whom each has reported beside.
        passed: orders that were heard of others in this environment step, by agent.
        heard_at: the environment step of these two.
    """

    wishes: dict[int, int] = field(default_factory=dict)
    order: int | None = None
    failures: Counter[int] = field(default_factory=Counter)
    refused: dict[int, int] = field(default_factory=dict)
    failed_at: int = -1
    branches: dict[int, frozenset[int]] = field(default_factory=dict)
    passed: dict[int, int] = field(default_factory=dict)
    heard_at: int = -1

    def hear(self, message: Message, listener: int) -> None:
        """Take in what a message says: claims, orders, objections, requests."""
        if message.t != self.heard_at:
            self.heard_at = message.t
            self.branches.clear()
            self.passed.clear()
        orders = words.read_order(message.content)
        claimed, refused = words.read_claim(message.content), words.read_objection(message.content)
        if claimed is not None:
            self.wishes[message.sender] = claimed
        if refused is not None:
            self.refused[message.sender] = refused
        if message.kind is MessageKind.REQUEST:
            self.branches[message.sender] = words.read_branch(message.content)
            for agent in (message.sender, *self.branches[message.sender]):
                self.wishes.pop(agent, None)
        self.wishes.update(orders)
        if message.sender != listener:
            self.passed.update(orders)
        self.order = orders.get(listener, self.order)

    def give_up(self, agent: int) -> None:
        """Drop one's own wish and order after a plan that came to nothing."""
        self.wishes.pop(agent, None)
        self.order = None

    def keep(self, observation: SymbolicObservation) -> None:
        """Forget the blocks that are not there any more, and whoever is none of the agents: any text may be heard."""
        blocks, agents = {block.id for block in observation.blocks}, range(len(observation.agents))
        self.wishes = {agent: block for agent, block in self.wishes.items() if block in blocks and agent in agents}
        if self.order not in blocks:
            self.order = None

    def learn(self, view: View, observation: SymbolicObservation) -> None:
        """Bring up to date what is kept from turn to turn."""
        for message in view.unread:
            self.hear(message, view.agent)
        self.keep(observation)
        if view.plan is None and view.outcomes and view.outcomes[-1].status is not PlanStatus.SUCCEEDED:
            block = block_of(view.outcomes[-1].task)
            if block is not None and self.failed_at != view.t:
                self.failed_at = view.t
                self.failures[block] += 1
                self.give_up(view.agent)


def recall(view: View, observation: SymbolicObservation) -> Knowledge:
    """Return what a view alone lets one know, for a speaker that keeps nothing from turn to turn.

    Messages that have left the memory are lost, and so are failures older than the last plans. Where an agent that
    nobody speaks of stands tells what it works on. Feedback says whose plan serves what: that counts more than what was
    said in earlier steps. What others need of this one tells what they want; what they say themselves counts more.
    """
    known = Knowledge(wishes=seen(observation))
    failed = [block_of(plan.task) for plan in view.outcomes if plan.status in _IN_VAIN]
    known.failures.update(block for block in failed if block is not None)
    for message in view.memory:
        if message.t < view.t:
            known.hear(message, view.agent)
    known.refused.clear()
    if tasks := deliveries(view):
        known.wishes = {agent: block for block, task in tasks.items() for agent in task.planned}
    if view.plan is not None and (block := block_of(view.plan.task)) is not None:
        known.wishes[view.agent] = block
        known.order = block if known.order is not None else None
    elif view.outcomes:
        known.give_up(view.agent)
    for agent, need in needs_of(view):
        for found in filter(None, map(_BLOCK.match, need.tasks)):
            known.wishes[agent] = int(found[1])
    for message in (*view.memory, *view.unread):
        if message.t == view.t:
            known.hear(message, view.agent)
    known.keep(observation)
    return known


def told(view: View) -> dict[int, int]:
    """Return the block that each agent has said last that it takes, as far as the prompt still tells."""
    known = Knowledge()
    for message in (*view.memory, *view.unread):
        known.hear(message, view.agent)
    return known.wishes


def deliveries(view: View) -> dict[int, OpenTask]:
    """Return the open tasks of left faces, by the block, where feedback tells who is there."""
    found: dict[int, OpenTask] = {}
    for task in view.constraints:
        block = block_of(task.task)
        if block is not None and task.in_place is not None and task.task.target.endswith(f"/{Face.left.value}"):
            found[block] = task
    return found


def clear(observation: SymbolicObservation) -> list[SymbolicBlock]:
    """The blocks with a clear way to the goal."""
    return [block for block in observation.blocks if not block.ahead]


def seen(observation: SymbolicObservation) -> dict[int, int]:
    """Agents that stand at the left face of a block with a clear way, and that block."""
    at = {cell: agent for agent, cell in enumerate(observation.agents)}
    return {at[cell]: block.id for block in clear(observation) for cell in block.faces.left.taken}


def block_of(task: Task | None) -> int | None:
    """The id in the target of a task, `block_3` or `block_3/left`; None when it names no block."""
    found = _BLOCK.match(task.target) if task is not None else None
    return int(found[1]) if found else None
