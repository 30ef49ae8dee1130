"""The simulated speaker in CUBE: it uses what it hears, and knows only what it sees.

As long as it has heard nothing and said nothing, it takes what is nearest and waits for nobody, so that a team
without talk double-books. With what it hears it does what a negotiator would do: it forms teams, meets, and follows
orders. Where its turn has feedback, that says where agents are lacking, and how many a push takes. As a planner of
joint plans it forms the teams of all agents that it is asked about: `critic.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import orjson

from cube_env import (
    Idle,
    Move,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    SymbolicBlock,
    SymbolicObservation,
    Wait,
    WaitAgents,
    YieldBlock,
    read_shown,
)
from maeil.actions import Vocabulary
from maeil.extensions.describe.descriptors import Descriptor, Need, Offer
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan, Task
from maeil.tasks import OpenTask
from quorum.agents.skills.cube.critic import PATIENCE, joint_plan
from quorum.agents.skills.cube.negotiator import Negotiator, claimed_blocks, deliveries, recall, write_claim
from quorum.agents.skills.cube.plans import CUBE, IN_VAIN, Wording, block_of, clear, delivery_of, seen, way
from quorum.agents.skills.speaker import JointPlanRequest, Prospect, Speaker, overheard


def redirected(block: SymbolicBlock, view: View, observation: SymbolicObservation) -> SymbolicBlock:
    """Return the block to work on: another one where feedback says that the team of `block` is whole already.

    That is the block with a clear way that lacks fewest agents, then the nearest; the block itself when none lacks any.
    """
    tasks = deliveries(view)
    lacking = {identity: _lacking(task, view.agent) for identity, task in tasks.items()}
    if lacking.get(block.id, 1) > 0:
        return block
    short = [other for other in clear(observation) if lacking.get(other.id, 0) > 0]
    cell = observation.agents[view.agent]
    return min(short, key=lambda other: (lacking[other.id], way(cell, other), other.id), default=block)


def _lacking(task: OpenTask, agent: int) -> int:
    """How many more agents a task needs than those in place and those whose plans serve it, not counting one agent."""
    return task.needs - len({*(task.in_place or ()), *task.planned} - {agent})


def lone_choice(view: View, observation: SymbolicObservation) -> SymbolicBlock:
    """Return the block that one takes who knows nothing of what the others are going to do.

    That is the nearest of those with a clear way at which fewer agents stand than it weighs. Two who are near the same
    block both take it. After a plan that came to nothing it is the block at which most stand, itself among them, and of
    several the nearest to the goal: all who give up choose alike, so that they meet in the end.
    """
    stand = seen(observation)
    there = Counter(stand.values())
    others = Counter(block for agent, block in stand.items() if agent != view.agent)
    short = [block for block in clear(observation) if others[block.id] < block.weight] or clear(observation)
    if view.outcomes and view.outcomes[-1].status in IN_VAIN:
        return min(short, key=lambda block: (-there[block.id], block.distance, block.id))
    cell = observation.agents[view.agent]
    return min(short, key=lambda block: (way(cell, block), block.id))


OFFERED = 2
"""Blocks that an agent offers to push, the nearest."""


PATIENCES = (3, PATIENCE)
"""Steps that drafts of plans wait for the others of a team."""

LATER = 5
"""Steps after which one sets out who waits until the way is free."""


class CubeSpeaker(Speaker[SymbolicObservation]):
    """A negotiator that remembers what its prompt shows, and a loner as long as that mentions nobody.

    Args:
        wording: of its plans.
    """

    observation = SymbolicObservation
    vocabulary = Vocabulary(
        Move, MoveToBlock, Rendezvous, PushBlock, YieldBlock, Idle, WaitAgents, Wait, PushTowards, Navigate
    )
    way_out = "set env.vocabulary=cube or env.vocabulary=emcoop"

    def __init__(self, wording: Wording = CUBE) -> None:
        self._wording = wording
        self.needs = wording.words

    def for_vocabulary(self, names: Collection[str]) -> CubeSpeaker:
        """Return a speaker that plans in CUBE's words, or in EmCoop's where it knows those alone."""
        speaker = CubeSpeaker(Wording.of(names) if "navigate" in names else self._wording)
        speaker.check_vocabulary(names)
        return speaker

    def read_observation(self, text: str) -> SymbolicObservation:
        """Read the observation of a prompt, or the board that a coordinator is shown."""
        return read_shown(orjson.loads(text))

    def describe(self, view: View, poor: float, rng: np.random.Generator) -> Descriptor:  # noqa: ARG002 (of others)
        """Offer to push the nearest blocks; need hands for the one that is wanted, and to know who else comes to it."""
        observation = self.seen(view)
        known, cell = recall(view, observation), observation.cell
        assert cell is not None
        ranked = sorted(clear(observation), key=lambda block: (known.failures[block.id], way(cell, block), block.id))
        wished = known.wishes.get(view.agent)
        wanted = next((block for block in ranked if block.id == wished), ranked[0])
        offered = [wanted, *(block for block in ranked if block is not wanted)][:OFFERED]
        names = tuple(f"block_{block.id}" for block in offered)
        text = f"I can push {' or '.join(names)}; {names[0]} is {way(cell, wanted)} steps away."
        hands = f"{names[0]} takes {wanted.weight - 1} more to push. " if wanted.weight > 1 else ""
        return Descriptor(
            Offer(text, names, free=view.plan is None), Need(f"{hands}Who else can push {names[0]}?", names[:1])
        )

    def answer(self, view: View, poor: float, rng: np.random.Generator) -> Thought:
        """Answer as a negotiator would where there is talk, and follow feedback; alone, try what is nearest."""
        observation = self.seen(view)
        mind = Negotiator(poor, PATIENCE, rng, recall(view, observation), self._wording)
        thought = mind.answer(view, observation)
        if Act.PLAN not in view.turn.acts:
            return thought
        if thought.messages or view.memory or view.unread:
            return replace(thought, decision=self._join(view, observation, thought.decision))
        return replace(thought, decision=self._try(view, observation, poor, rng))

    def drafts(
        self,
        observation: SymbolicObservation,
        agent: int,  # noqa: ARG002 (a plan is the same for all)
        task: Task,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Sequence[Plan]:
        """Return plans for a block: to push at once, to wait there for others, shortly or long, or to set out later."""
        block = next((block for block in observation.blocks if block.id == block_of(task)), None)
        if block is None:
            raise ValueError(f"it sees no block of the task {task}")
        waits = [self._wording.delivery(block, "", patience) for patience in PATIENCES]
        later = Plan((self._wording.wait(LATER), *waits[-1].actions))
        return [self._wording.attempt(block, ""), *waits, later]

    def prospects(self, view: View, mate: int) -> list[Prospect]:
        """Return the blocks with a clear way."""
        observation = self.seen(view)
        at, said = seen(observation).get(mate), claimed_blocks(view).get(mate)
        return [
            Prospect(
                delivery_of(block),
                way(observation.agents[mate], block),
                block.weight,
                block.distance,
                said=block.id == said,
                there=block.id == at,
            )
            for block in clear(observation)
        ]

    def anticipate(
        self, view: View, expected: Mapping[int, Task | None], poor: float, rng: np.random.Generator
    ) -> Thought:
        """Take what is expected of others for what they have said, where they have said nothing in this step."""
        observation = self.seen(view)
        spoken = {message.sender for message in (*view.memory, *view.unread) if message.t == view.t}
        blocks: dict[int | None, SymbolicBlock] = {block.id: block for block in clear(observation)}
        claims = tuple(
            overheard(mate, view, write_claim(block.id, way(observation.agents[mate], block)))
            for mate, task in sorted(expected.items())
            if mate not in spoken and (block := blocks.get(block_of(task))) is not None
        )
        return self.answer(replace(view, unread=(*view.unread, *claims)), poor, rng)

    def propose(self, request: JointPlanRequest) -> dict[int, Plan]:
        """Form whole teams."""
        return joint_plan(read_shown(request.state), request, self._wording)

    def _join(self, view: View, observation: SymbolicObservation, decision: Plan | Resume | None) -> Plan | Resume:
        """Make the plan of one who counts on others: with a meeting, of as many as feedback says that it takes."""
        wanted = _block(view, observation, decision)
        block = redirected(wanted, view, observation)
        task = deliveries(view).get(block.id)
        reason = decision.rationale if isinstance(decision, Plan) else "it is where I am needed"
        if block.id != wanted.id:
            reason = f"block {wanted.id} has all whom it takes, and this one lacks some"
        plan = self._wording.delivery(block, reason, PATIENCE, task.needs if task is not None else None)
        if view.plan is None or view.plan.task != plan.task:
            return plan
        alone = block.weight > 1 and str(self._wording.try_push(block)) in view.plan.actions
        return plan if alone else Resume.RESUME

    def _try(self, view: View, observation: SymbolicObservation, poor: float, rng: np.random.Generator) -> Plan:
        """Make the plan of one who has heard nothing and said nothing."""
        if rng.random() < poor:
            blocks = clear(observation)
            return self._wording.attempt(blocks[rng.integers(len(blocks))], "at random")
        return self._wording.attempt(lone_choice(view, observation), "of what I see it is the nearest that lacks hands")


def _block(view: View, observation: SymbolicObservation, decision: Plan | Resume | None) -> SymbolicBlock:
    """The block that a decision is about."""
    task = decision.task if isinstance(decision, Plan) else view.plan.task if view.plan is not None else None
    return next(block for block in observation.blocks if block.id == block_of(task))
