"""An agent that agrees or objects to each joint plan in which it has a part (HMAS-2, arXiv 2309.15943)."""

from __future__ import annotations

from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Thought, View
from maeil.world import World
from quorum.agents.baselines.answers import ReviewAnswers
from quorum.agents.baselines.asking import BaselineRole
from quorum.agents.coordination.answers import Misread
from quorum.agents.coordination.follower import Follower
from quorum.agents.coordination.joint import named
from quorum.agents.coordination.plan_messages import Objection, feedback
from quorum.agents.coordination.speaker import RoleSpeaker

AGREED = "I agree."


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
