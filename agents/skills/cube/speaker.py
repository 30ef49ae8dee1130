"""The simulated speaker in CUBE: it uses what it hears, and knows only what it sees.

As long as it has heard nobody and told nobody, it takes what is nearest and waits for nobody (`lone.py`), so that a
team without talk double-books. With what it hears it does what a negotiator would do: it forms teams, meets, and
follows orders. Where its turn has feedback, that says where agents are lacking, and how many a push takes
(`advice.py`).

As a planner of joint plans it forms the teams of all agents that it is asked about: `critic.py`.
"""

from __future__ import annotations

from collections.abc import Collection
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
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan
from quorum.agents.skills.cube.advice import redirected
from quorum.agents.skills.cube.critic import PATIENCE, joint_plan
from quorum.agents.skills.cube.knowledge import block_of, clear, deliveries, recall
from quorum.agents.skills.cube.lone import lone_choice
from quorum.agents.skills.cube.negotiator import Negotiator
from quorum.agents.skills.cube.wording import CUBE, Wording
from quorum.agents.skills.speaker import Brief, Speaker


class CubeSpeaker(Speaker[SymbolicObservation]):
    """A negotiator that remembers what its prompt tells, and a loner as long as that tells of nobody.

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

    def answer(self, view: View, poor: float, rng: np.random.Generator) -> Thought:
        """Answer as a negotiator would where there is talk, and follow feedback; alone, try what is nearest."""
        observation = view.observation
        assert isinstance(observation, SymbolicObservation)
        mind = Negotiator(poor, PATIENCE, rng, recall(view, observation), self._wording)
        thought = mind.answer(view, observation)
        if Act.PLAN not in view.turn.acts:
            return thought
        if thought.messages or view.memory or view.unread:
            return replace(thought, decision=self._join(view, observation, thought.decision))
        return replace(thought, decision=self._try(view, observation, poor, rng))

    def propose(self, brief: Brief) -> dict[int, Plan]:
        """Form whole teams."""
        return joint_plan(read_shown(brief.state), brief, self._wording)

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
        """Make the plan of one who has heard nobody and told nobody."""
        if rng.random() < poor:
            blocks = clear(observation)
            return self._wording.attempt(blocks[rng.integers(len(blocks))], "at random")
        return self._wording.attempt(lone_choice(view, observation), "of what I see it is the nearest that lacks hands")


def _block(view: View, observation: SymbolicObservation, decision: Plan | Resume | None) -> SymbolicBlock:
    """The block that a decision is about."""
    task = decision.task if isinstance(decision, Plan) else view.plan.task if view.plan is not None else None
    return next(block for block in observation.blocks if block.id == block_of(task))
