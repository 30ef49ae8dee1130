"""HMAS-2: the agents that a joint plan names agree or object, and the coordinator plans anew (arXiv 2309.15943).

The rules are those of the method as it is described, not the defects of its public code: agreement is a field of the
answer, not an exact sentence; a revised plan is read like a first one; a finished last step counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, TeamContext
from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Mind, Thought, View
from maeil.world import World
from quorum.agents.baselines.answers import ReviewAnswers
from quorum.agents.baselines.coordinator import OnePlanner
from quorum.agents.baselines.factory import TeamFactory
from quorum.agents.baselines.roles import BaselineRole
from quorum.agents.baselines.settings import PlanningConfig
from quorum.agents.coordination.answers import Misread
from quorum.agents.coordination.follower import Follower
from quorum.agents.coordination.joint import named
from quorum.agents.coordination.plan_messages import Objection, feedback
from quorum.agents.coordination.speaker import RoleSpeaker
from quorum.agents.coordination.topology_checks import needs_leader

AGREED = "I agree."


class Hmas2Config(PlanningConfig):
    """Parameters of `hmas2`."""

    name: Literal["hmas2"]


class Reviewer(Follower):
    """An agent that asks its model whether it agrees with each joint plan in which it has a part.

    An answer that cannot be read is no objection.

    Args:
        speaker: asks its model.
        answers: the form of its answer.
        world: whose actions it takes.
        pause: steps that it waits without a part.
    """

    def __init__(self, speaker: RoleSpeaker, answers: ReviewAnswers, world: World, pause: int) -> None:
        super().__init__(world, pause)
        self._speaker = speaker
        self._answers = answers

    async def answer(self, view: View) -> Thought:
        """Agree or object."""
        if Act.ACKNOWLEDGE not in view.turn.acts:
            return Thought()
        own = {view.agent: self._joint[view.agent]}
        others = {agent: plan for agent, plan in self._joint.items() if agent != view.agent}
        blocks = {
            "observation": view.observation,
            "suggestion": named(own, view.names)[view.name],
            "others": named(others, view.names),
        }
        asked = await self._speaker.ask(BaselineRole.REVIEWER, self._answers.review, view, blocks)
        if asked.value is None:
            return Thought(calls=(asked.call,))
        try:
            agrees, reason, proposal = self._answers.read_review(asked.value)
        except Misread as error:
            return Thought(calls=(self._speaker.rejected(asked.call, error.rejections),))
        if agrees:
            draft = Draft(view.turn.recipients, AGREED, MessageKind.ACK)
        else:
            draft = feedback(view.turn.recipients, Objection(view.agent, issue=reason, proposal=proposal))
        return Thought(messages=(draft,), calls=(asked.call,))


def build(config: Hmas2Config, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: reviewers, and the coordinator.

    Raises:
        ValueError: the topology has no coordinator that directs, or it can answer nobody; or a template is not there.
    """
    needs_leader("hmas2", context.topology, rounds=1)
    if context.topology.rounds == 0:
        raise ValueError(
            "agents=hmas2 asks the agents what they think of the plan, and this topology gives the coordinator no "
            "answer to that: set topology.rounds=1, or 3 as on hard boards; without objections it is agents=cmas"
        )
    factory = TeamFactory(config, context)
    answers = factory.answers(ReviewAnswers)
    reviewers = [Reviewer(factory.speaker(name), answers, factory.world, config.pause) for name in factory.world.agents]
    return [*reviewers, factory.coordinator(OnePlanner(factory.asker()))]


component = Component(Hmas2Config, build, uses_models=True)
