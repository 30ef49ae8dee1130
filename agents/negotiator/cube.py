"""A rule-based negotiator for CUBE: claims the block that it can reach soonest, and comes to terms with the others."""

from __future__ import annotations

from collections import Counter

import numpy as np

from agents.cube import delivery, way
from agents.negotiator import words
from agents.negotiator.teams import Job, form_teams
from cube_env import SymbolicBlock, SymbolicObservation
from maeil.messages import Draft, Kind
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan, PlanStatus

LEADER = "leader"


class Negotiator:
    """The mind of one agent. It knows of the others what it sees and what it has been told, and nothing else.

    - It wishes for the block with a clear way that it can reach soonest, after those on which its plans have failed.
    - What it has heard of others, and who stands at a block's left face, are wishes too; from all the wishes that it
      knows it forms teams by a convention that all share (`form_teams`), and works where that puts it.
    - It claims what it works on. A leader forms the teams of all and gives orders instead; a follower obeys, or objects
      when the block has no clear way; a leader gives those who object another block.
    - Interrupted, it resumes its plan when the teams still put it there, and replaces it otherwise.

    Args:
        noise: probability that a wish, or an order, is drawn at random from the blocks with a clear way.
        patience: steps to wait for the others of a team.
        rng: the agent's own random stream.
    """

    def __init__(self, noise: float, patience: int, rng: np.random.Generator) -> None:
        self._noise = noise
        self._patience = patience
        self._rng = rng
        self._wishes: dict[int, int] = {}
        self._order: int | None = None
        self._failures: Counter[int] = Counter()
        self._refused: dict[int, int] = {}
        self._failed_at = -1

    async def think(self, view: View) -> Thought:
        """Take in the messages, then speak and decide as the turn allows."""
        observation = view.observation
        assert isinstance(observation, SymbolicObservation)
        self._learn(view, observation)
        messages: tuple[Draft, ...] = ()
        if view.turn.role:
            messages = self._lead(view, observation) if view.turn.role == LEADER else self._follow(view, observation)
        elif Act.SPEAK in view.turn.acts:
            messages = self._claim(view, observation)
        decision = self._decide(view, observation) if Act.PLAN in view.turn.acts else None
        return Thought(decision, messages)

    def _learn(self, view: View, observation: SymbolicObservation) -> None:
        """Note what was said, forget what is done, and count on which blocks own plans have failed."""
        for message in view.unread:
            orders = words.read_order(message.content)
            claimed, refused = words.read_claim(message.content), words.read_objection(message.content)
            if claimed is not None:
                self._wishes[message.sender] = claimed
            if refused is not None:
                self._refused[message.sender] = refused
            if message.kind is Kind.REQUEST:
                self._wishes.pop(message.sender, None)
            self._wishes.update(orders)
            self._order = orders.get(view.agent, self._order)
        live = {block.id for block in observation.blocks}
        self._wishes = {agent: block for agent, block in self._wishes.items() if block in live}
        if self._order not in live:
            self._order = None
        if view.plan is None and view.outcomes and view.outcomes[-1].status is not PlanStatus.SUCCEEDED:
            task = view.outcomes[-1].task
            if task is not None and self._failed_at != view.t:
                self._failed_at = view.t
                self._failures[int(task.target.removeprefix("block_"))] += 1
                self._wishes.pop(view.agent, None)
                self._order = None

    def _noisy(self, block: int, observation: SymbolicObservation) -> int:
        clear = _clear(observation)
        return clear[self._rng.integers(len(clear))].id if self._rng.random() < self._noise else block

    def _place(self, view: View, observation: SymbolicObservation) -> SymbolicBlock:
        """Give the block to work on: where the teams of all known wishes put this agent, alone its own wish.

        The first choice in a step is subject to noise; what is heard afterwards can still put it right.
        """
        fresh = view.agent not in self._wishes
        if fresh:
            self._wishes[view.agent] = min(
                _clear(observation), key=lambda block: (self._failures[block.id], _steps(observation, block), block.id)
            ).id
        wishes = {**_seen(observation), **self._wishes}
        place = form_teams(wishes, _jobs(observation))[view.agent] if len(wishes) > 1 else wishes[view.agent]
        if fresh:
            self._wishes[view.agent] = place = self._noisy(place, observation)
        return next(block for block in observation.blocks if block.id == place)

    def _claim(self, view: View, observation: SymbolicObservation) -> tuple[Draft, ...]:
        """Say what one works on, unless that has been said."""
        before = self._wishes.get(view.agent)
        block = self._place(view, observation)
        if view.plan is not None and before == block.id:
            return ()
        self._wishes[view.agent] = block.id
        return (Draft(view.turn.recipients, words.claim(block.id, _steps(observation, block)), Kind.PROPOSE),)

    def _lead(self, view: View, observation: SymbolicObservation) -> tuple[Draft, ...]:
        """Order those who have no block, or one that they refuse, to where the teams need them."""
        if Act.SPEAK not in view.turn.acts:
            return ()
        clear = {block.id for block in _clear(observation)}
        for agent, block in self._refused.items():
            if self._wishes.get(agent) == block:
                del self._wishes[agent]
        self._refused.clear()
        everybody = range(len(observation.agents))
        if view.agent in everybody and view.plan is None and self._order is None:
            self._wishes.pop(view.agent, None)
        free = [agent for agent in everybody if self._wishes.get(agent) not in clear]
        jobs = _jobs(observation, {_block(state.task.target): state.spatial for state in view.constraints})
        nearest = {agent: min(jobs, key=lambda job: (job.ways[agent], job.id)).id for agent in free}
        teams = form_teams({**nearest, **{a: b for a, b in self._wishes.items() if a not in nearest}}, jobs)
        orders = {agent: self._noisy(teams[agent], observation) for agent in free}
        self._wishes.update(orders)
        self._order = orders.pop(view.agent, self._order)
        if not orders:
            return ()
        return (Draft(tuple(orders), words.order(orders), Kind.DIRECTIVE),)

    def _follow(self, view: View, observation: SymbolicObservation) -> tuple[Draft, ...]:
        """Ask for a block; or acknowledge the one that was ordered, or object to it."""
        if Act.SPEAK in view.turn.acts:
            last = view.outcomes[-1] if view.outcomes else None
            told = f"My plan for {last.task} {last.status.value} {last.reason}".strip() if last else "I have no plan"
            return (Draft(view.turn.recipients, words.request(f"{told}."), Kind.REQUEST),)
        if Act.ACKNOWLEDGE not in view.turn.acts or self._order is None:
            return ()
        block = next(block for block in observation.blocks if block.id == self._order)
        if block.ahead:
            self._order = None
            text = words.objection(block.id, f"block_{block.ahead[0]} is ahead of it")
        else:
            text = words.claim(block.id, _steps(observation, block))
        return (Draft(view.turn.recipients, text, Kind.ACK),)

    def _decide(self, view: View, observation: SymbolicObservation) -> Plan | Resume:
        """Obey, or go where the teams put this agent; resume a plan that leads there already."""
        if self._order is not None:
            block = next(block for block in observation.blocks if block.id == self._order)
            reason = "the leader told me to"
        else:
            block = self._place(view, observation)
            reason = "by what I know of the others it is where I am needed"
        self._wishes[view.agent] = block.id
        plan = delivery(block, reason, self._patience)
        if view.plan is not None and view.plan.task == plan.task:
            return Resume.RESUME
        return plan


def _steps(observation: SymbolicObservation, block: SymbolicBlock) -> int:
    assert observation.cell is not None
    return way(observation.cell, block)


def _clear(observation: SymbolicObservation) -> list[SymbolicBlock]:
    return [block for block in observation.blocks if not block.ahead]


def _jobs(observation: SymbolicObservation, present: dict[int, int] | None = None) -> list[Job]:
    """The blocks with a clear way as jobs; those where more agents stand already, if that is known, are more urgent."""
    return [
        Job(
            block.id,
            block.weight,
            block.distance - observation.side * min((present or {}).get(block.id, 0), 1),
            [way(cell, block) for cell in observation.agents],
        )
        for block in _clear(observation)
    ]


def _seen(observation: SymbolicObservation) -> dict[int, int]:
    """Agents that stand at the left face of a block with a clear way, and that block."""
    at = {cell: agent for agent, cell in enumerate(observation.agents)}
    return {at[cell]: block.id for block in _clear(observation) for cell in block.faces.left.taken}


def _block(target: str) -> int:
    """The id in the target of a CUBE task, `block_3/left`."""
    return int(target.removeprefix("block_").split("/")[0])
