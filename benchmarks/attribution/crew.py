"""A crew for CUBE that follows orders: agent 0 gives orders based on reports alone, and the others carry them out.

Nobody compares messages with observations, as teams of language models often do not. It needs
`topology=hierarchy`, with all agents under the root.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from cube_env import Face, MoveToBlock, PushBlock, Rendezvous, SymbolicObservation
from maeil.component import Compatibility, Component, ComponentConfig, Handover, TeamContext
from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Mind, Resume, Thought, View
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.configuration.registry import minds

FOREVER = 1_000_000
"""Steps of a patience that never ends."""
BREAK = 3
"""Steps that an agent without an order waits before it asks again."""
_ORDER = re.compile(r"Deliver block_(\d+) with (\d+) agents?\.")
_REPORT = re.compile(r"block_(\d+) is delivered\.")


@dataclass
class Worker:
    """The mind of an agent that asks for orders, and carries out the last order that it received.

    Attributes:
        world: the world in which it acts.
        order: the block, and how many agents meet there; None for no order.
    """

    world: World
    order: tuple[int, int] | None = None

    async def think(self, view: View) -> Thought:
        """Report, or carry out the order."""
        seen = view.observation
        assert isinstance(seen, SymbolicObservation)
        self.hear(view)
        if Act.SPEAK in view.turn.acts:
            return Thought(messages=tuple(self.say(view, seen)))
        return Thought(Resume.RESUME if view.may_resume else self.plan(seen))

    def hear(self, view: View) -> None:
        """Take the last order."""
        for message in view.unread:
            if found := _ORDER.search(message.content):
                self.order = int(found[1]), int(found[2])

    def say(self, view: View, seen: SymbolicObservation) -> Sequence[Draft]:
        """Report what is delivered, and ask for the next order."""
        said = ""
        if self.order is not None and all(block.id != self.order[0] for block in seen.blocks):
            said, self.order = f"block_{self.order[0]} is delivered. ", None
        if self.order is not None:
            return ()
        return (Draft(view.turn.recipients, f"{said}What shall I do?", MessageKind.REQUEST, asks=()),)

    def plan(self, seen: SymbolicObservation) -> Plan:
        """Carry out the order; without one, wait a little."""
        block = next((block for block in seen.blocks if self.order and block.id == self.order[0]), None)
        if block is None or self.order is None:
            return Plan((self.world.idle.model_copy(update={"steps": BREAK}),), None, "I have no order")
        meeting = Rendezvous(block=block.id, face=Face.left, count=self.order[1], timeout=FOREVER)
        push = PushBlock(block=block.id, steps=block.distance)
        actions = MoveToBlock(block=block.id, face=Face.left), meeting, push
        return Plan(actions, Task("deliver", f"block_{block.id}"), "that is my order")


@dataclass
class Chief(Worker):
    """The mind of the agent that gives orders, and works as well.

    Attributes:
        needs: how many agents each block needs, for blocks not known to be delivered; nearest to the goal first.
        places: the block of each agent.
    """

    needs: dict[int, int] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    _briefed: bool = False

    def hear(self, view: View) -> None:
        """Process the reports."""
        seen = view.observation
        assert isinstance(seen, SymbolicObservation)
        if not self._briefed:
            blocks = sorted(seen.blocks, key=lambda block: (block.distance, block.id))
            self.needs, self._briefed = {block.id: block.weight for block in blocks}, True
        for message in view.unread:
            self.places.pop(message.sender, None)
            if found := _REPORT.search(message.content):
                self.needs.pop(int(found[1]), None)
        if self.order is not None and all(block.id != self.order[0] for block in seen.blocks):
            self.needs.pop(self.order[0], None)
            self.places.pop(view.agent, None)
            self.order = None

    def say(self, view: View, seen: SymbolicObservation) -> Sequence[Draft]:
        """Give an order to each agent that has asked for one."""
        self._place(view.agent)
        asking = [agent for agent in view.turn.recipients if agent not in self.places]
        orders = [(agent, self._place(agent)) for agent in asking]
        return [
            Draft(
                (agent,),
                f"Deliver block_{block} with {count} agent{'s' * (count > 1)}.",
                MessageKind.DIRECTIVE,
                asks=(),
            )
            for agent, (block, count) in orders
            if block >= 0
        ]

    def plan(self, seen: SymbolicObservation) -> Plan:
        """Carry out its own order."""
        self._place(0)
        return super().plan(seen)

    def _place(self, agent: int) -> tuple[int, int]:
        """Find a block for an agent: first one that needs more agents, then the next; -1 if there is none."""
        if agent in self.places and self.places[agent] in self.needs:
            return self.places[agent], self.needs[self.places[agent]]
        there = Counter(self.places.values())
        short = [block for block, count in self.needs.items() if there[block] < count]
        block = min(short, key=lambda block: not there[block], default=-1)
        if block < 0:
            return -1, 0
        self.places[agent] = block
        if agent == 0:
            self.order = block, self.needs[block]
        return block, self.needs[block]


def build(_config: ComponentConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent."""
    world = context.world
    return [Chief(world), *(Worker(world) for _ in world.agents[1:])]


minds.register("crew", Component(ComponentConfig, build, compatible=Compatibility.ANYBODY, handover=Handover.SHADOW))
