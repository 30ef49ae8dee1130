"""A rule-based negotiator for CUBE: claims the block that it can reach soonest, and agrees on teams with the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cube_env import SymbolicBlock, SymbolicObservation
from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan
from quorum.agents.skills.cube.knowledge import (
    Knowledge,
    block_of,
    clear,
    seen,
    write_branch,
    write_claim,
    write_objection,
    write_order,
    write_request,
)
from quorum.agents.skills.cube.plans import CUBE, Wording, way
from quorum.agents.skills.speaker import LEADING, MEMBER


@dataclass(frozen=True, slots=True)
class Demand:
    """Something that takes several agents.

    Attributes:
        id: what it is called.
        quorum: how many agents it takes.
        urgency: jobs with a smaller one come first.
        ways: how far each agent, by index, is from it.
    """

    id: int
    quorum: int
    urgency: int
    ways: Sequence[int]


def form_teams(wishes: Mapping[int, int], jobs: Sequence[Demand]) -> dict[int, int]:
    """Form teams from wishes.

    Complete teams stand: of those who wish for a job its nearest, up to the quorum. Everybody else is a pool: the job
    that lacks fewest of them is filled first, with those who wish for it and then with the nearest; so at most one
    team stays short. Who is left over goes to the nearest job.

    Args:
        wishes: the job that each agent wishes for; agents that are not in it take no part.
        jobs: the jobs.

    Returns:
        The job of each agent of `wishes`; empty when there are no jobs. Equal arguments give equal teams, so all who
        know the same wishes agree.
    """
    if not jobs:
        return {}
    teams: dict[int, int] = {}
    open_jobs = []
    for job in sorted(jobs, key=lambda job: (job.urgency, job.id)):
        wishing = sorted((agent for agent in wishes if wishes[agent] == job.id), key=lambda a: (job.ways[a], a))
        if len(wishing) >= job.quorum:
            teams.update(dict.fromkeys(wishing[: job.quorum], job.id))
        else:
            open_jobs.append((job.quorum - len(wishing), job))
    pool = [agent for agent in sorted(wishes) if agent not in teams]
    for _, job in sorted(open_jobs, key=lambda entry: (entry[0], entry[1].urgency, entry[1].id)):
        pool.sort(key=lambda agent: (wishes[agent] != job.id, job.ways[agent], agent))
        teams.update(dict.fromkeys(pool[: job.quorum], job.id))
        pool = pool[job.quorum :]
    for agent in pool:
        teams[agent] = min(jobs, key=lambda job: (job.ways[agent], job.id)).id
    return teams


ORDERS = 64
"""Orders of one message, at most."""


class Negotiator:
    """The mind of one agent. It knows of the others what it sees and hears, and nothing else.

    - It wishes for the block with a clear way that it can reach soonest, after those on which its plans have failed.
    - What it has heard of others, and who stands at a block's left face, are wishes too; from all the wishes that it
      knows it forms teams by a convention that all share (`form_teams`), and works where that puts it.
    - It claims what it works on. A leader forms the teams of all and gives orders instead; a follower obeys, or objects
      when the block has no clear way; a leader gives those who object another block.
    - In a tree of leaders it asks for its whole branch, and passes on what its own leader has ordered for that.
    - Interrupted, it resumes its plan when the teams still put it there, and replaces it otherwise.

    Args:
        noise: probability that a wish, or an order, is drawn at random from the blocks with a clear way.
        patience: steps to wait for the others of a team.
        rng: the agent's own random stream.
        knowledge: what it knows to begin with.
        wording: of its plans.
    """

    def __init__(
        self,
        noise: float,
        patience: int,
        rng: np.random.Generator,
        knowledge: Knowledge | None = None,
        wording: Wording = CUBE,
    ) -> None:
        self._wording = wording
        self._noise = noise
        self._patience = patience
        self._rng = rng
        self._known = knowledge if knowledge is not None else Knowledge()

    async def think(self, view: View) -> Thought:
        """Take in the messages, then speak and decide as the turn allows."""
        observation = view.observation
        assert isinstance(observation, SymbolicObservation)
        self._known.learn(view, observation)
        return self.answer(view, observation)

    def answer(self, view: View, observation: SymbolicObservation) -> Thought:
        """Speak and decide as the turn allows, by what is known already."""
        messages: tuple[Draft, ...] = ()
        if view.turn.role:
            messages = self._lead(view, observation) if view.turn.role in LEADING else self._follow(view, observation)
        elif Act.SPEAK in view.turn.acts:
            messages = self._claim(view, observation)
        decision = self._decide(view, observation) if Act.PLAN in view.turn.acts else None
        return Thought(decision, messages)

    def _noisy(self, block: int, observation: SymbolicObservation) -> int:
        blocks = clear(observation)
        return blocks[self._rng.integers(len(blocks))].id if self._rng.random() < self._noise else block

    def _place(self, view: View, observation: SymbolicObservation) -> SymbolicBlock:
        """Return the block to work on: where the teams of all known wishes put this agent, alone its own wish.

        The first choice in a step is subject to noise; what is heard afterwards can still put it right.
        """
        fresh = view.agent not in self._known.wishes
        if fresh:
            self._known.wishes[view.agent] = min(
                clear(observation),
                key=lambda block: (self._known.failures[block.id], _steps(observation, block), block.id),
            ).id
        wishes = {**seen(observation), **self._known.wishes}
        place = form_teams(wishes, _jobs(observation))[view.agent] if len(wishes) > 1 else wishes[view.agent]
        if fresh:
            self._known.wishes[view.agent] = place = self._noisy(place, observation)
        return next(block for block in observation.blocks if block.id == place)

    def _claim(self, view: View, observation: SymbolicObservation) -> tuple[Draft, ...]:
        """Say what one works on, unless that has been said."""
        before = self._known.wishes.get(view.agent)
        block = self._place(view, observation)
        if view.plan is not None and before == block.id:
            return ()
        self._known.wishes[view.agent] = block.id
        return (Draft(view.turn.recipients, write_claim(block.id, _steps(observation, block)), MessageKind.PROPOSE),)

    def _lead(self, view: View, observation: SymbolicObservation) -> tuple[Draft, ...]:
        """Order those who have no block, or one that they refuse, to where the teams need them."""
        if Act.SPEAK not in view.turn.acts:
            return ()
        possible = {block.id for block in clear(observation)}
        for agent, block in self._known.refused.items():
            if self._known.wishes.get(agent) == block:
                del self._known.wishes[agent]
        self._known.refused.clear()
        commanded = {view.agent, *view.turn.recipients}.union(*map(self._branch, view.turn.recipients))
        everybody = sorted(commanded & set(range(len(observation.agents))))
        if view.agent in everybody and view.plan is None and self._known.order is None:
            self._known.wishes.pop(view.agent, None)
        free = [agent for agent in everybody if self._known.wishes.get(agent) not in possible]
        jobs = _jobs(observation, _present(view))
        nearest = {agent: min(jobs, key=lambda job: (job.ways[agent], job.id)).id for agent in free}
        teams = form_teams({**nearest, **{a: b for a, b in self._known.wishes.items() if a not in nearest}}, jobs)
        orders = {agent: self._noisy(teams[agent], observation) for agent in free}
        self._known.wishes.update(orders)
        self._known.order = orders.pop(view.agent, self._known.order)
        passed = {agent: self._known.passed[agent] for agent in everybody if agent in self._known.passed}
        return self._directives({**passed, **orders}, view)

    def _branch(self, member: int) -> frozenset[int]:
        """For whom else a member has reported."""
        return self._known.branches.get(member, frozenset())

    def _directives(self, orders: dict[int, int], view: View) -> tuple[Draft, ...]:
        """Tell those who have no members of their own in one message; each other one what is for its branch."""
        orders.pop(view.agent, None)
        leaders = [member for member in view.turn.recipients if self._branch(member)]
        below = {agent for member in leaders for agent in (member, *self._branch(member))}
        found = []
        direct = {agent: block for agent, block in orders.items() if agent not in below}
        if direct:
            found.append(Draft(tuple(direct), write_order(direct), MessageKind.DIRECTIVE))
        for member in leaders:
            own = [(a, orders[a]) for a in sorted((member, *self._branch(member))) if a in orders]
            for start in range(0, len(own), ORDERS):
                text = write_order(dict(own[start : start + ORDERS]))
                found.append(Draft((member,), text, MessageKind.DIRECTIVE))
        return tuple(found)

    def _follow(self, view: View, observation: SymbolicObservation) -> tuple[Draft, ...]:
        """Ask for a block; or acknowledge the one that was ordered, or object to it."""
        if Act.SPEAK in view.turn.acts:
            last = view.outcomes[-1] if view.outcomes else None
            news = f"My plan for {last.task} {last.status.value} {last.reason}".strip() if last else "I have no plan"
            asked = write_request(f"{news}.")
            below = self._known.branches.items() if view.turn.role == MEMBER else ()
            if branch := {agent for member, others in below for agent in (member, *others)} - {view.agent}:
                asked = f"{asked} {write_branch(branch)}"
            return (Draft(view.turn.recipients, asked, MessageKind.REQUEST),)
        if Act.ACKNOWLEDGE not in view.turn.acts or self._known.order is None:
            return ()
        block = next(block for block in observation.blocks if block.id == self._known.order)
        if block.ahead:
            self._known.order = None
            text = write_objection(block.id, f"block_{block.ahead[0]} is ahead of it")
        else:
            text = write_claim(block.id, _steps(observation, block))
        return (Draft(view.turn.recipients, text, MessageKind.ACK),)

    def _decide(self, view: View, observation: SymbolicObservation) -> Plan | Resume:
        """Obey, or go where the teams put this agent; resume a plan that leads there already."""
        if self._known.order is not None:
            block = next(block for block in observation.blocks if block.id == self._known.order)
            reason = "the leader told me to"
        else:
            block = self._place(view, observation)
            reason = "by what I know of the others it is where I am needed"
        self._known.wishes[view.agent] = block.id
        plan = self._wording.delivery(block, reason, self._patience)
        if view.plan is not None and view.plan.task == plan.task:
            return Resume.RESUME
        return plan


def _steps(observation: SymbolicObservation, block: SymbolicBlock) -> int:
    assert observation.cell is not None
    return way(observation.cell, block)


def _jobs(observation: SymbolicObservation, present: dict[int, int] | None = None) -> list[Demand]:
    """The blocks with a clear way as jobs; those where more agents stand already, if that is known, are more urgent."""
    return [
        Demand(
            block.id,
            block.weight,
            block.distance - observation.side * min((present or {}).get(block.id, 0), 1),
            [way(cell, block) for cell in observation.agents],
        )
        for block in clear(observation)
    ]


def _present(view: View) -> dict[int, int]:
    """How many agents are in place for the tasks of each block, by the feedback that the view shows."""
    return {block: len(task.in_place or ()) for task in view.constraints if (block := block_of(task.task)) is not None}
