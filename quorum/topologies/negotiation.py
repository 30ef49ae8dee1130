"""Agents that need a plan agree on who does what, then each plans alone (DR. WELL, arXiv 2511.04646).

The agents of a room allocate tasks by consensus, given the minimum number of agents of each task. Pure functions count
the votes, so every counter gets the same result. Without consensus, `allot` decides.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from pydantic import PositiveInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.plans import Task
from maeil.tasks import OpenTask
from maeil.topology import ConversationState, Topology, TurnTaken, turns_with

Votes = Mapping[int, Task | None]
"""The task that each agent of a room has committed to; None if it abstains."""
Lacking = Mapping[Task, int]
"""How many agents each open task lacks, in the world's task order."""


def lacking(tasks: Sequence[OpenTask], room: Collection[int]) -> dict[Task, int]:
    """Return how many agents each task lacks, not counting those outside the room with plans for it; at least 0.

    Args:
        tasks: the open tasks.
        room: the negotiating agents, whose own plans are over.
    """
    return {task.task: max(0, task.needs - len(set(task.planned).difference(room))) for task in tasks}


def is_consensus(votes: Votes, missing: Lacking) -> bool:
    """Return whether every task with votes gets all the agents it lacks; abstentions do not prevent consensus."""
    named = {task for task in votes.values() if task is not None}
    return all(task in missing and _votes_for(task, votes) >= missing[task] for task in named)


def allot(votes: Votes, missing: Lacking) -> dict[int, Task]:
    """Return the task of each agent of a room; agents without a task are absent.

    1. A task with as many votes as it lacks agents goes to its voters. With consensus, this covers every vote.
    2. The other open tasks with votes follow: most votes first, then fewest lacking agents, then the world's order.
       Each is filled with its own voters, then with agents that have no task yet, lowest indices first. Tasks that
       cannot be filled are skipped.
    3. Remaining agents keep the task they voted for, if it is open, and wait there for others.
    """
    wanted = {agent: task for agent, task in votes.items() if task is not None and task in missing}
    placed = {agent: task for agent, task in wanted.items() if _votes_for(task, votes) >= missing[task]}
    order = {task: number for number, task in enumerate(missing)}
    short = set(wanted.values()) - set(placed.values())
    for task in sorted(short, key=lambda task: (-_votes_for(task, votes), missing[task], order[task])):
        free = sorted((agent for agent in votes if agent not in placed), key=lambda a: (votes[a] != task, a))
        if len(free) >= missing[task]:
            placed |= dict.fromkeys(free[: missing[task]], task)
    return {**wanted, **placed}


def _votes_for(task: Task, votes: Votes) -> int:
    return sum(vote == task for vote in votes.values())


class NegotiationConfig(ComponentConfig):
    """Parameters of `negotiation`."""

    name: Literal["negotiation"]
    rounds: PositiveInt
    """Maximum rounds of commitment: all agents commit again until they reach consensus."""


class Negotiation(Topology):
    """A communication room of the agents that need a plan: proposals, commitments, then individual plans.

    - **Proposals** (turns to speak): one after another in index order; each agent has read the earlier ones.
    - **Commitments** (turns to acknowledge): all at once; each agent has read all proposals and, in later rounds, all
      commitments of the round before. Only the task that a message names counts, never its text; a message that names
      no task abstains. The room has consensus when every named task gets as many agents as it lacks.
    - **Plans**: all at once, alone. The turn names the agent's task: the one it committed to, or the result of `allot`
      if the last round ended without consensus.

    Agents with a plan are not woken. An agent alone in the room plans at once, without an allotted task.
    """

    name = "negotiation"
    words = (
        "The agents that need a plan negotiate. First, each in turn proposes one task, with a reason in 1 or 2 "
        "sentences. Then each acknowledges the one task that it commits to; a task must get all the agents that it "
        "needs. Then each plans alone for its task (`task` in its turn), without discussing its plan."
    )
    feedback = True
    negotiates = True

    def __init__(self, config: NegotiationConfig, _context: TopologyContext | None = None) -> None:
        self.rounds: int = config.rounds

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the next proposer, the turns of a round of commitments, or turns to plan for all."""
        if not conversation.quiet or not conversation.undecided:
            return []
        room = [agent for agent in conversation.opened_by if conversation.may_speak(agent)]
        votes: Votes = {}
        if len(room) > 1:
            proposed = turns_with(Act.SPEAK, conversation)
            for agent in room:
                if not proposed[agent]:
                    return [_write(Act.SPEAK, agent, room)]
            commitments = [taken for taken in conversation.taken if Act.ACKNOWLEDGE in taken.turn.acts]
            votes = _last_round(commitments, room)
            if not votes or (
                len(commitments) < self.rounds * len(room)
                and not is_consensus(votes, self._lacking(votes, conversation))
            ):
                return [_write(Act.ACKNOWLEDGE, agent, room) for agent in room]
        allotted = allot(votes, self._lacking(votes, conversation)) if any(votes.values()) else {}
        return [_plan(agent, allotted) for agent in conversation.undecided]

    def _lacking(self, votes: Votes, conversation: ConversationState) -> Lacking:
        return lacking(conversation.open_tasks(), frozenset(votes))


def _write(act: Act, agent: int, room: Sequence[int]) -> Turn:
    """A turn to write one message to all others in the room."""
    others = tuple(other for other in room if other != agent)
    return Turn(agent, frozenset({act}), others, limit=1, feedback=True)


def _plan(agent: int, allotted: Mapping[int, Task]) -> Turn:
    """A turn to plan alone, with the agent's allotted task and the agents that share it."""
    task = allotted.get(agent)
    partners = tuple(other for other in sorted(allotted) if other != agent and allotted[other] == task)
    return Turn(agent, frozenset({Act.PLAN}), feedback=True, task=task, partners=partners if task is not None else ())


def _last_round(commitments: Sequence[TurnTaken], room: Sequence[int]) -> Votes:
    """The task each agent named in its last commitment, None if it named none; empty before the first round."""
    named = {taken.turn.agent: taken.task for taken in commitments}
    return {agent: named[agent] for agent in room} if named else {}


component = Component(NegotiationConfig, Negotiation, handover=Handover.FRESH)
