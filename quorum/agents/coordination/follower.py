"""An agent that carries out its part of the joint plan without a call, and checks of the topology for such teams."""

from __future__ import annotations

from dataclasses import dataclass, field

from maeil.messages import MessageKind
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan
from maeil.topology import Topology
from maeil.world import World
from quorum.agents.coordination.joint import is_same, read_directive


@dataclass(eq=False)
class Follower:
    """The mind of an agent that carries out its part of the joint plan, and waits if it has none.

    Attributes:
        world: defines the actions.
        pause: number of steps to wait.
    """

    world: World
    pause: int
    _joint: dict[int, Plan] = field(default_factory=dict, init=False)

    async def think(self, view: View) -> Thought:
        """Read the joint plan; answer it, or commit the agent's part, as the turn allows."""
        directives = [message for message in view.unread if message.kind is MessageKind.DIRECTIVE]
        for message in directives:
            self._joint = read_directive(message, self.world.vocabulary, view.names)
        if Act.PLAN not in view.turn.acts:
            return await self.answer(view) if directives and view.agent in self._joint else Thought()
        plan, self._joint = self._joint.get(view.agent), {}
        return Thought(carry_out(view, plan, self.world, self.pause))

    async def answer(self, view: View) -> Thought:  # noqa: ARG002 (for those who have something to say)
        """Answer a joint plan that includes the agent."""
        return Thought()


def carry_out(view: View, plan: Plan | None, world: World, pause: int) -> Plan | Resume:
    """Return the decision of an agent that carries out its part.

    Args:
        view: its turn; if the view has problems, the part has already been refused.
        plan: its part; None if it has none.
        world: defines the actions.
        pause: number of steps to wait without a part.
    """
    if view.may_resume and view.plan is not None and (plan is None or is_same(plan, view.plan)):
        return Resume.RESUME
    if plan is None or view.problems:
        return Plan((world.idle,) * pause, None, "no part that can be carried out")
    return plan


def needs_leader(agents: str, topology: Topology, rounds: int) -> None:
    """Check that a coordinator directs the team.

    Args:
        agents: name of the minds.
        topology: the team's topology.
        rounds: value of `topology.rounds` that the error message suggests.

    Raises:
        ValueError: there is no coordinator; or it only opens a dialogue, in which agents cannot object to its plan; or
            its turns show the open tasks, which role prompts omit because they show the whole world.
    """
    if not topology.coordinated or topology.dialogue:
        has = "has none with these settings" if not topology.coordinated else "lets it only open a dialogue"
        raise ValueError(
            f"agents={agents} needs a coordinator, but topology={topology.name} {has}: "
            f"set topology=centralized topology.leader=coordinator topology.rounds={rounds}"
        )
    if topology.feedback:
        raise ValueError(
            f"agents={agents} plans from the whole state of the world and does not show the loop's feedback: "
            "set topology.feedback=none"
        )


def needs_dialogue(agents: str, topology: Topology, opens: str) -> int:
    """Check that the team talks in a dialogue; return how often each agent may speak in it.

    Args:
        agents: name of the minds.
        topology: the team's topology.
        opens: required opener: `team` or `coordinator`.

    Raises:
        ValueError: it does not, or another participant opens.
    """
    if not topology.dialogue or topology.rounds is None:
        raise ValueError(
            f"agents={agents} talks in a dialogue, but topology={topology.name} is not one: "
            f"set topology=dialogue topology.opens={opens}"
        )
    if topology.coordinated != (opens == "coordinator"):
        other = "team" if opens == "coordinator" else "coordinator"
        raise ValueError(
            f"agents={agents} needs a dialogue that the {opens} opens, but here the {other} opens it: "
            f"set topology.opens={opens}"
        )
    return topology.rounds
