"""The simulated speaker in CUBE: it uses what it hears, and knows only what it sees.

As long as it has heard nobody, it takes what is nearest and waits for nobody (`lone.py`), so that a team without talk
double-books. With what it hears it does what a negotiator would do: it forms teams, meets, and follows orders. Where
its turn has feedback, that says where agents are lacking, and how many a push takes (`advice.py`).

As a planner of joint plans it forms the teams of all agents that it is asked about: `critic.py`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import orjson

from cube_env import (
    Idle,
    Move,
    MoveToBlock,
    PushBlock,
    Rendezvous,
    SymbolicBlock,
    SymbolicObservation,
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
from quorum.agents.skills.cube.lone import lone_choice, lone_plan
from quorum.agents.skills.cube.negotiator import Negotiator
from quorum.agents.skills.cube.routes import delivery
from quorum.agents.skills.speaker import Brief, Speaker


class CubeSpeaker(Speaker[SymbolicObservation]):
    """A negotiator that remembers what its prompt tells, and a loner as long as that tells of nobody."""

    observation = SymbolicObservation
    vocabulary = Vocabulary(Move, MoveToBlock, Rendezvous, PushBlock, YieldBlock, Idle, WaitAgents)
    needs = frozenset({"move_to_block", "rendezvous", "push_block"})
    way_out = "set env.vocabulary=cube"

    def read_observation(self, text: str) -> SymbolicObservation:
        """Read the observation of a prompt, or the board that a coordinator is shown."""
        return read_shown(orjson.loads(text))

    def answer(self, view: View, poor: float, rng: np.random.Generator) -> Thought:
        """Answer as a negotiator would, as far as it has heard somebody; follow feedback where there is any."""
        observation = view.observation
        assert isinstance(observation, SymbolicObservation)
        thought = Negotiator(poor, PATIENCE, rng, recall(view, observation)).answer(view, observation)
        if Act.PLAN not in view.turn.acts:
            return thought
        heard = any(message.sender != view.agent for message in (*view.memory, *view.unread))
        if heard:
            return replace(thought, decision=_joined(view, observation, thought.decision))
        if thought.messages:
            return replace(thought, decision=lone_plan(_block(view, observation, thought.decision), "I said so"))
        if rng.random() < poor:
            blocks = clear(observation)
            return replace(thought, decision=lone_plan(blocks[rng.integers(len(blocks))], "at random"))
        return replace(thought, decision=lone_plan(lone_choice(view, observation), "by what I see it is the best"))

    def propose(self, brief: Brief) -> dict[int, Plan]:
        """Form whole teams."""
        return joint_plan(read_shown(brief.state), brief)


def _joined(view: View, observation: SymbolicObservation, decision: Plan | Resume | None) -> Plan | Resume:
    """Make the plan of one who counts on others: with a meeting, for as many as feedback says that it takes."""
    wanted = _block(view, observation, decision)
    block = redirected(wanted, view, observation)
    task = deliveries(view).get(block.id)
    told = decision.rationale if isinstance(decision, Plan) else "I go on"
    reason = told if block.id == wanted.id else f"block {wanted.id} has all that it needs, and this one lacks some"
    plan = delivery(block, reason, PATIENCE, task.needs if task is not None else None)
    if view.plan is None or view.plan.task != plan.task:
        return plan
    meets = block.weight == 1 or any(action.startswith("rendezvous") for action in view.plan.actions)
    return Resume.RESUME if meets else plan


def _block(view: View, observation: SymbolicObservation, decision: Plan | Resume | None) -> SymbolicBlock:
    """The block that a decision is about."""
    task = decision.task if isinstance(decision, Plan) else view.plan.task if view.plan is not None else None
    return next(block for block in observation.blocks if block.id == block_of(task))
