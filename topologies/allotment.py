"""Who does what, by votes and quorums: pure rules, the same for all who count the same votes.

DR. WELL (arXiv 2511.04646) has the agents of a room agree on an allocation by consensus, under the number of agents
that each task takes at least. What happens without consensus is decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from maeil.plans import Task
from maeil.tasks import OpenTask

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
