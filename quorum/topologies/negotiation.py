"""Those who need a plan agree on who does what, and then each plans alone (DR. WELL, arXiv 2511.04646).

The agents of a room agree on an allocation by consensus, under the number of agents that each task takes at least. The
votes are counted by pure rules, the same for all who count them. What happens without consensus is decided here.
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
"""The task that each agent of a room has committed itself to; None: it abstains."""
Lacking = Mapping[Task, int]
"""How many agents each open task lacks, in the order in which the world lists its tasks."""


def lacking(tasks: Sequence[OpenTask], room: Collection[int]) -> dict[Task, int]:
    """Return how many agents each task lacks besides those outside the room whose plans serve it; at least 0.

    Args:
        tasks: the open tasks.
        room: the agents that negotiate; their own plans are over.
    """
    return {task.task: max(0, task.needs - len(set(task.planned).difference(room))) for task in tasks}


def is_consensus(votes: Votes, missing: Lacking) -> bool:
    """Return whether every task that got a vote gets all the agents that it lacks; abstentions hinder nothing."""
    named = {task for task in votes.values() if task is not None}
    return all(task in missing and _votes_for(task, votes) >= missing[task] for task in named)


def allot(votes: Votes, missing: Lacking) -> dict[int, Task]:
    """Return the task of each agent of a room; agents without one are not in it.

    1. A task that gets as many votes as it lacks has its voters. With consensus these are all.
    2. Of the other open tasks that got votes, those with most votes come first, of these those that lack fewest, then
       in the order of the world. Each is filled up: with its own voters, then with those who have no task yet, lower
       indices first. One that cannot be filled is left out.
    3. Who has no task then keeps the one that it voted for, if that is open: it waits there for others.
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
    """Rounds of commitment, at most: while there is no consensus, all commit themselves again."""


class Negotiation(Topology):
    """A communication room of the agents that need a plan: proposals, commitments, and then each plans alone.

    - **Proposals** (turns to speak): one after the other in index order, each having read the earlier ones.
    - **Commitments** (turns to acknowledge): all at once, each having read all proposals, and in a further round all
      commitments of the one before. A commitment counts by the task that its message names, never by its text. There is
      consensus when every task that is named gets as many agents as it lacks. A message that names no task abstains.
    - **Plans**: all at once, alone. The turn names the task that is allotted to its holder: the one that it has
      committed itself to, or, when the last round has ended without consensus, that of `allot`.

    Who has a plan is not woken. Who is alone in the room plans at once, and nothing is allotted to it.
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
        """Return the turn of the next proposer, those of a round of commitments, or a turn to plan for everybody."""
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
    """A turn to plan alone, with what is allotted to its holder and to whom else."""
    task = allotted.get(agent)
    partners = tuple(other for other in sorted(allotted) if other != agent and allotted[other] == task)
    return Turn(agent, frozenset({Act.PLAN}), feedback=True, task=task, partners=partners if task is not None else ())


def _last_round(commitments: Sequence[TurnTaken], room: Sequence[int]) -> Votes:
    """The task that each has named in its last commitment, None where it has named none; empty before the first."""
    named = {taken.turn.agent: taken.task for taken in commitments}
    return {agent: named[agent] for agent in room} if named else {}


component = Component(NegotiationConfig, Negotiation, handover=Handover.FRESH)
