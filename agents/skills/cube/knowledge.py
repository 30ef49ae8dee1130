"""What a negotiator knows of CUBE's team: what others say, who wants which block, and what came of its plans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cube_env import Face, SymbolicBlock, SymbolicObservation
from maeil.extensions.describe.describing import needs_of
from maeil.messages import Message, MessageKind
from maeil.mind import View
from maeil.names import fold_names
from maeil.plans import PlanStatus, Task
from maeil.tasks import OpenTask

_CLAIM = re.compile(r"\bI take block_(\d{1,9})\b")
_ORDER = re.compile(r"\bagent_(\d{1,9}): block_(\d{1,9})\b")
_OBJECTION = re.compile(r"\bI cannot take block_(\d{1,9})\b")
_BRANCH = re.compile(r"\bI speak for ([\w., ]+)\.")
_RUN = re.compile(r"\bagent_(\d{1,9})(?:\.\.agent_(\d{1,9}))?\b")
_LONGEST_RUN = 10_000
"""Agents of a run of names, at most: a longer one is no team's."""


def write_claim(block: int, steps: int) -> str:
    """Say what one wants to work on."""
    return f"I take block_{block}, {steps} steps away."


def write_order(blocks: Mapping[int, int]) -> str:
    """Order others to work on blocks."""
    return "; ".join(f"agent_{agent}: block_{block}" for agent, block in sorted(blocks.items())) + "."


def write_objection(block: int, reason: str) -> str:
    """Refuse a block."""
    return f"I cannot take block_{block}: {reason}."


def write_request(reason: str) -> str:
    """Ask for something to do."""
    return f"What shall I do? {reason}"


def write_branch(agents: Iterable[int]) -> str:
    """Say for whom one reports as well as for oneself."""
    return f"I speak for {', '.join(fold_names([f'agent_{agent}' for agent in sorted(agents)]))}."


def read_claim(text: str) -> int | None:
    """Find the block that a message claims."""
    found = _CLAIM.search(text)
    return int(found[1]) if found else None


def read_order(text: str) -> dict[int, int]:
    """Find who is ordered to work on what."""
    return {int(agent): int(block) for agent, block in _ORDER.findall(text)}


def read_branch(text: str) -> frozenset[int]:
    """Find for whom a message reports, apart from its sender."""
    found = _BRANCH.search(text)
    runs = [(int(first), int(last or first)) for first, last in _RUN.findall(found[1])] if found else []
    return frozenset(agent for first, last in runs if last - first < _LONGEST_RUN for agent in range(first, last + 1))


def read_objection(text: str) -> int | None:
    """Find the block that a message refuses."""
    found = _OBJECTION.search(text)
    return int(found[1]) if found else None


_BLOCK = re.compile(r"block_(\d+)\b")
_IN_VAIN = (PlanStatus.FAILED, PlanStatus.TIMED_OUT)


@dataclass(slots=True)
class Knowledge:
    """What one participant knows beyond what it sees.

    Attributes:
        wishes: the block that each agent, itself among them, is known to work on or to want.
        order: the block that the leader has ordered it to work on.
        failures: how often its plans for a block have failed.
        refused: the block that each agent has objected to since the last orders.
        failed_at: environment step of the last failure that was counted.
        branches: who has asked for something to do in this environment step, and for whom else each has reported.
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
        orders = read_order(message.content)
        claimed, refused = read_claim(message.content), read_objection(message.content)
        if claimed is not None:
            self.wishes[message.sender] = claimed
        if refused is not None:
            self.refused[message.sender] = refused
        if message.kind is MessageKind.REQUEST:
            self.branches[message.sender] = read_branch(message.content)
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
    nobody speaks of stands shows what it works on. Feedback says whose plan serves what: that counts more than what was
    said in earlier steps. What others need of this one shows what they want; what they say themselves counts more.
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


def claimed_blocks(view: View) -> dict[int, int]:
    """Return the block that each agent has said last that it takes, as far as the prompt still shows."""
    known = Knowledge()
    for message in (*view.memory, *view.unread):
        known.hear(message, view.agent)
    return known.wishes


def deliveries(view: View) -> dict[int, OpenTask]:
    """Return the open tasks of left faces, by the block, where feedback says who is there."""
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
