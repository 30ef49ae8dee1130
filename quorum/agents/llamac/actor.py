"""The actors: each checks its part of the suggestion by rules, and writes only if the check fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from maeil.errors import EpisodeStop
from maeil.messages import MessageKind
from maeil.mind import Act, Observation, Resume, Thought, View
from maeil.outcomes import Outcome
from maeil.plans import Plan
from maeil.world import World
from quorum.agents.coordination.asking import Misread, RoleSpeaker
from quorum.agents.coordination.follower import carry_out
from quorum.agents.coordination.joint import Fault, Joint, Objection, Rejection, feedback, read_directive
from quorum.agents.llamac.settings import Answers, LlamacConfig, LlamacRole
from quorum.agents.prompting.answers import part_value
from quorum.agents.skills import Gates


class ConfirmationFailed(EpisodeStop):
    """An actor's part still fails confirmation after all external retries, and `on_exhaust` is `fail`.

    This is a failure of the method, scored and pooled like any other.
    """

    outcome = Outcome.FAILURE


@dataclass(eq=False)
class Actor:
    """The mind of one agent. It remembers the last suggestion it has read.

    Attributes:
        speaker: calls the agent's own model, for feedback only.
        answers: the schema of its answer.
        gates: the rules of plan confirmation.
        evidence: returns the basis of the check: the agent's observation, or the result of the world's role `evidence`.
        world: provides the actions.
        settings: switches and limits.
    """

    speaker: RoleSpeaker
    answers: Answers
    gates: Gates
    evidence: Callable[[World, View], Observation]
    world: World
    settings: LlamacConfig
    _joint: Joint = field(default_factory=lambda: Joint({}))
    _objections: int = 0

    async def think(self, view: View) -> Thought:
        """Read the suggestion; object to it or commit it, as the turn allows.

        Raises:
            ConfirmationFailed: its part is not confirmed, and `on_exhaust` is `fail`.
        """
        for message in view.unread:
            if message.kind is MessageKind.DIRECTIVE:
                self._joint = Joint(read_directive(message, self.world.vocabulary, view.names))
        rejection = self._check(view)
        if Act.PLAN in view.turn.acts:
            decision = self._decide(view, rejection)
            self._joint, self._objections = Joint({}), 0
            return Thought(decision)
        if rejection is None or self._objections >= self.settings.external_retries:
            return Thought()
        self._objections += 1
        return await self._object(view, rejection)

    def _check(self, view: View) -> Rejection | None:
        """Confirm the plan by rules, without a call."""
        if view.agent not in self._joint.plans or not self.settings.confirmation:
            return None
        return self.gates.confirm(view.agent, self.evidence(self.world, view), self._joint)

    async def _object(self, view: View, rejection: Rejection) -> Thought:
        """Write an objection: the rule and, if the model answers, its explanation."""
        own = self._joint.plans[view.agent]
        partners = [
            view.names[agent]
            for agent, plan in sorted(self._joint.plans.items())
            if agent != view.agent and plan.task is not None and plan.task == own.task
        ]
        blocks = {
            "observation": view.observation,
            "suggestion": part_value(own),
            "partners": partners,
            "failed_check": {"code": rejection.code, "problem": rejection.text},
        }
        asked = await self.speaker.ask(LlamacRole.ACTOR, self.answers.actor, view, blocks)
        objection = Objection(view.agent, rejection.code, rejection.text)
        with suppress(Misread):  # the rule's own text is sufficient feedback
            issue, proposal = asked.read(self.answers.read_actor)
            objection = replace(objection, issue=issue, proposal=proposal)
        call = self.speaker.rejected(asked.call, [rejection])
        return Thought(messages=(feedback(view.turn.recipients, objection),), calls=(call,))

    def _decide(self, view: View, rejection: Rejection | None) -> Plan | Resume:
        """Commit the agent's part; resume if it is already the current plan; wait if there is none."""
        plan = self._joint.plans.get(view.agent)
        if plan is not None and rejection is not None:
            plan = self._exhausted(view, plan, rejection)
        return carry_out(view, plan, self.world, self.settings.pause)

    def _exhausted(self, view: View, plan: Plan, rejection: Rejection) -> Plan | None:
        """Return what to do with an unconfirmed part after all retries."""
        if self.settings.on_exhaust == "fail":
            raise ConfirmationFailed(f"{view.name}: {rejection.code}: {rejection.text}")
        rule = self.gates.rules[rejection.code]
        legal = rule.fault is not Fault.UNAVAILABLE and not self.world.check_plan(view.agent, plan)
        if self.settings.on_exhaust == "noop" or not legal:
            return None
        return Plan(plan.actions, plan.task, f"not confirmed ({rejection.code})")
