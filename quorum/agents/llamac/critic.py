"""The TripletCritic: explorer, exploiter and assessor in the coordinator's place, and the scrutiny of their plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from maeil.calls import Call
from maeil.mind import Thought, View
from maeil.plans import Plan
from maeil.together import together
from maeil.world import World
from quorum.agents.coordination.asking import Misread, RoleSpeaker, SpeakerReply, note
from quorum.agents.coordination.joint import (
    GRAMMAR,
    Fault,
    Joint,
    Memory,
    NoJointPlan,
    Objection,
    Proposal,
    Rejection,
    Sight,
    directive,
    impossible,
    look,
    named,
    occasion,
    read_objections,
    show,
    show_rejections,
    to_plan_for,
    under_way,
)
from quorum.agents.llamac.settings import CRITICS, Answers, LlamacConfig, LlamacRole
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.skills import Briefing, Gates


@dataclass(slots=True)
class Decision:
    """A decision in the making.

    Attributes:
        sight: the state.
        asked: agents that need a plan, ascending: those who carry out no suggestion, and those whose plan was recalled.
        running: what is left of the plans of the others.
        key: distinguishes this conversation from the next.
        calls: of the thought under way.
        retries: internal retries left.
        rounds: external retries left.
        plans: the suggestion as it stands.
        critics: what the critics proposed, by role.
        dialogue: what has been suggested and objected, JSON-ready.
        recalled: agents whose plans were under way, and conflict without anybody's part in the suggestion.
    """

    sight: Sight
    asked: tuple[int, ...]
    running: dict[int, Plan]
    key: object
    retries: int
    rounds: int
    calls: list[Call] = field(default_factory=list)
    plans: dict[int, Plan] = field(default_factory=dict)
    critics: dict[str, Proposal] = field(default_factory=dict)
    dialogue: list[dict[str, Any]] = field(default_factory=list)
    recalled: set[int] = field(default_factory=set)

    def joint(self, plans: Mapping[int, Plan]) -> Joint:
        """Join plans with those that are under way."""
        return Joint(plans, self.running)

    def recall(self, agents: Iterable[int]) -> None:
        """Take plans that are under way for plans that can be changed."""
        found = self.running.keys() & set(agents)
        self.recalled |= found
        self.asked = tuple(sorted({*self.asked, *found}))
        self.running = {agent: plan for agent, plan in self.running.items() if agent not in found}

    def recall_offenders(self, rejections: Iterable[Rejection]) -> None:
        """Recall the plans of conflicts that no agent who is asked about takes part in: only they can be changed."""
        for rejection in rejections:
            if not set(rejection.agents) & set(self.asked):
                self.recall(rejection.agents)


@dataclass(frozen=True)
class Scrutiny:
    """Judges joint plans (LLaMAC, veracity scrutiny): grammar first, and only what is grammatical for conflicts.

    Attributes:
        world: checks each plan alone against its state.
        gates: the rules of that world.
        enabled: false judges the grammar alone, without which nothing can be suggested at all (ablation).
    """

    world: World
    gates: Gates
    enabled: bool

    def judge(self, sight: Sight, joint: Joint) -> tuple[Rejection, ...]:
        """Return what is wrong with a joint plan; nothing when it passes."""
        refused = impossible(self.world, joint.plans)
        if refused or not self.enabled:
            return refused
        return tuple(self.gates.scrutinize(sight, joint))

    def is_grammatical(self, rejections: tuple[Rejection, ...]) -> bool:
        """Whether only conflicts are wrong, which can be repaired by dropping plans."""
        rules = {**GRAMMAR, **self.gates.rules}
        return all(rules[rejection.code].fault is not Fault.GRAMMAR for rejection in rejections)

    def repair(self, sight: Sight, joint: Joint) -> tuple[dict[int, Plan], tuple[int, ...]]:
        """Drop plans until the rest passes: each time the one of the lowest index among the first offenders.

        A plan that is under way is dropped only where no other plan offends with it.

        Args:
            sight: the state.
            joint: a grammatical joint plan.

        Returns:
            The suggested plans that are left, and whose were dropped, in order.
        """
        plans, running = dict(joint.plans), dict(joint.running)
        dropped: list[int] = []
        while rejections := self.judge(sight, Joint(plans, running)):
            found = (
                (held, min(mine))
                for held in (plans, running)
                for rejection in rejections
                if (mine := [agent for agent in rejection.agents if agent in held])
            )
            held, agent = next(found, (None, -1))
            if held is None:
                break
            del held[agent]
            dropped.append(agent)
        return plans, tuple(dropped)


class ScrutinyFailed(NoJointPlan):
    """All internal retries are used up, and the joint plan is still none: the episode is over, and not finished."""


@dataclass(eq=False)
class TripletCritic:
    """The mind of the coordinator (LLaMAC, section on the TripletCritic). It keeps what it has decided, turn by turn.

    A turn that begins a decision asks both critics at the same time, scrutinises what they propose, and has the
    assessor make the suggestion of the two: three calls when all pass. A turn in which actors have objected has the
    assessor plan again, for those who objected alone. A turn without objections says nothing, which ends the
    conversation.

    Attributes:
        speaker: asks the model.
        answers: the forms of the answers.
        scrutiny: judges joint plans.
        briefing: how a state is shown to the critics.
        world: what the state and the score are read from.
        settings: switches and bounds.
    """

    speaker: RoleSpeaker
    answers: Answers
    scrutiny: Scrutiny
    briefing: Briefing
    world: World
    settings: LlamacConfig
    _suggested: dict[int, Plan] = field(default_factory=dict)
    _decision: Decision | None = None

    def __post_init__(self) -> None:
        """Begin without memories."""
        self._memory = Memory(self.settings.epochs, self.world.agents)

    async def think(self, view: View) -> Thought:
        """Decide, or answer objections.

        Raises:
            ScrutinyFailed: a joint plan is no good after all internal retries.
        """
        key = occasion(view)
        if self._decision is None or self._decision.key != key:
            return await self._decide(view, key)
        self._decision.calls = []
        objections = read_objections(view.unread, self.world.vocabulary)
        if not objections or self._decision.rounds == 0:
            return Thought()
        return await self._replan(view, self._decision, objections)

    async def _decide(self, view: View, key: object) -> Thought:
        """Make a suggestion for all who need one."""
        sight = look(self.world, view.t)
        state = self.briefing.state(sight) if self.settings.transitions else None
        self._memory.end(view.t, self.world.progress(), view.team, state)
        running = under_way(self._suggested, view) if self.settings.replan == "idle_only" else {}
        asked = to_plan_for(running, view)
        settings = self.settings
        decision = Decision(sight, asked, running, key, settings.internal_retries, settings.external_retries)
        self._decision = decision
        if not asked:
            return Thought()
        decision.critics = await self._ask_critics(view, decision)
        if self.settings.belief_correction and len(decision.critics) > 1:
            decision.plans = await self._assess(view, decision, decision.asked, {})
        else:
            decision.plans = self._merged(decision)
        self._remember(view, decision)
        to = [agent for agent in decision.asked if agent in decision.plans or view.team[agent].plan is None]
        return self._suggest(view, decision, to)

    async def _replan(self, view: View, decision: Decision, objections: Sequence[Objection]) -> Thought:
        """Make another suggestion for those who object; the others keep their plans, or hear when it is dropped."""
        decision.rounds -= 1
        decision.retries = self.settings.internal_retries
        flagged = tuple(objection.agent for objection in objections)
        shown = [show(objection, self.world.agents) for objection in objections]
        decision.dialogue.append({"suggestion": named(decision.plans, self.world.agents), "objections": shown})
        blocks = {
            "suggestion": named(decision.plans, self.world.agents),
            "objections": shown,
            "dialogue": decision.dialogue[:-1],
        }
        before = decision.plans
        decision.plans = await self._assess(view, decision, flagged, blocks)
        decision.calls = note(decision.calls, on_feedback=True)
        self._remember(view, decision)
        return self._suggest(view, decision, sorted({*flagged, *(before.keys() - decision.plans.keys())}))

    def _remember(self, view: View, decision: Decision) -> None:
        """Note the suggestion as it stands, in the place of an earlier one of the same decision."""
        if (digest := self.briefing.digest(decision.sight)) is not None:
            state = self.briefing.state(decision.sight) if self.settings.transitions else digest
            self._memory.begin(view.t, state, decision.plans, self.world.progress())

    def _suggest(self, view: View, decision: Decision, to: Sequence[int]) -> Thought:
        """Tell the agents whom it concerns what the suggestion is, for all of them: a recalled one at least to wait."""
        self._suggested |= decision.plans
        waits = dict.fromkeys(decision.recalled - decision.plans.keys(), Plan((self.world.idle,), None, "recalled"))
        recipients = sorted({*to, *decision.recalled})
        messages = (directive(recipients, {**decision.plans, **waits}, view.names),) if recipients else ()
        return Thought(messages=messages, calls=tuple(decision.calls))

    async def _ask_critics(self, view: View, decision: Decision) -> dict[str, Proposal]:
        """Have all critics propose, again when one of them fails (both, or that one alone), until both pass."""

        def judge(plans: dict[int, Plan]) -> tuple[Rejection, ...]:
            return self.scrutiny.judge(decision.sight, decision.joint(plans))

        return await self._insist(
            view,
            decision,
            CRITICS[self.settings.critics],
            decision.asked,
            form=self.answers.joint,
            reader=self.answers.read_joint,
            judge=judge,
        )

    async def _assess(
        self, view: View, decision: Decision, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> dict[int, Plan]:
        """Have the assessor make a suggestion for some agents, again until it passes; the others keep their plans."""
        kept = {agent: plan for agent, plan in decision.plans.items() if agent not in asked}
        sources = {role: proposal.plans for role, proposal in decision.critics.items()}
        shown = {role: proposal.shown(self.world.agents) for role, proposal in decision.critics.items()}

        def reader(value: object, asked: Sequence[int]) -> tuple[str, dict[int, Plan]]:
            thoughts, plans = self.answers.read_assessor(value, asked, sources)
            return thoughts, {**kept, **plans}

        def judge(plans: dict[int, Plan]) -> tuple[Rejection, ...]:
            judged = self.scrutiny.judge(decision.sight, decision.joint(plans))
            return judged if self.settings.scrutinize_suggestion else ()

        roles, form = (LlamacRole.ASSESSOR,), self.answers.assessor
        found = await self._insist(
            view, decision, roles, asked, form=form, reader=reader, judge=judge, blocks={**shown, **blocks}
        )
        return found[LlamacRole.ASSESSOR].plans

    async def _insist(
        self,
        view: View,
        decision: Decision,
        roles: Sequence[LlamacRole],
        asked: Sequence[int],
        *,
        form: AnswerFormat,
        reader: Callable[[object, Sequence[int]], tuple[str, dict[int, Plan]]],
        judge: Callable[[dict[int, Plan]], tuple[Rejection, ...]],
        blocks: Mapping[str, object] = MappingProxyType({}),
    ) -> dict[str, Proposal]:
        """Ask in some roles at the same time for plans of some agents, again until all proposals pass.

        Plans under way that conflict are recalled, and asked about as well.
        """
        tried: dict[str, list[Proposal]] = {role.value: [] for role in roles}
        refused: object = None
        feedback: list[dict[str, Any]] = []
        left = roles
        while True:
            given = {**self._blocks(decision, asked), **blocks, "refused": refused, "feedback": feedback}
            answers = await together(
                partial(self.speaker.ask, role, form, view, given, agents=len(asked)) for role in left
            )
            written = {}
            for role, answer in zip(left, answers, strict=True):
                proposal = _proposal(answer, reader, asked, judge)
                tried[role.value].append(proposal)
                written[role.value] = answer.value
                decision.calls.append(self.speaker.rejected(answer.call, proposal.rejections))
            proposals = {role: tries[-1] for role, tries in tried.items()}
            failed = {role: proposal for role, proposal in proposals.items() if proposal.rejections}
            if not failed:
                return proposals
            if decision.retries == 0:
                return {role: self._settled(decision, tries) for role, tries in tried.items()}
            decision.retries -= 1
            before = decision.running.keys()
            for proposal in failed.values():
                decision.recall_offenders(proposal.rejections)
            asked = sorted({*asked, *(before - decision.running.keys())})
            refused = {role: written[role] for role in failed}
            feedback = [
                entry
                for role, proposal in failed.items()
                for entry in show_rejections(role, proposal.rejections, self.world.agents)
            ]
            if LlamacRole.ASSESSOR in roles:
                refused = written[LlamacRole.ASSESSOR]
            elif self.settings.retry == "failed":
                left = tuple(role for role in roles if role.value in failed)

    def _merged(self, decision: Decision) -> dict[int, Plan]:
        """Make the suggestion without a call: the last critic's plans, and the other's for those whom it leaves out."""
        plans = {agent: plan for proposal in decision.critics.values() for agent, plan in proposal.plans.items()}
        rejections = self.scrutiny.judge(decision.sight, decision.joint(plans))
        if not rejections or not self.settings.scrutinize_suggestion:
            return plans
        return self._settled(decision, [Proposal(plans, "", rejections)]).plans

    def _settled(self, decision: Decision, tried: Sequence[Proposal]) -> Proposal:
        """Make do, when all retries are used up: with a proposal that passed, or with the last that can be repaired.

        Args:
            decision: the decision.
            tried: all proposals of one role, in order.

        Raises:
            ScrutinyFailed: no proposal can be repaired, or the settings are strict.
        """
        usable = [found for found in tried if self.scrutiny.is_grammatical(found.rejections)]
        if not usable or (self.settings.strict and tried[-1].rejections):
            raise ScrutinyFailed(self.settings.internal_retries, tried[-1].rejections, decision.calls)
        passed = [proposal for proposal in usable if not proposal.rejections]
        proposal = (passed or usable)[-1]
        plans, dropped = self.scrutiny.repair(decision.sight, decision.joint(proposal.plans))
        if dropped:
            decision.recall(dropped)
            earlier = decision.calls[-1].record.get("repaired", ())
            decision.calls = note(decision.calls, repaired=[*earlier, *dropped])
        return Proposal(plans, proposal.thoughts)

    def _blocks(self, decision: Decision, asked: Sequence[int]) -> dict[str, object]:
        return {
            "asked": [self.world.agents[agent] for agent in asked],
            "memory": self._memory.epochs,
            "state": self.briefing.state(decision.sight),
            "commitments": named(decision.running, self.world.agents),
        }


def _proposal(
    reply: SpeakerReply,
    reader: Callable[[object, Sequence[int]], tuple[str, dict[int, Plan]]],
    asked: Sequence[int],
    judge: Callable[[dict[int, Plan]], tuple[Rejection, ...]],
) -> Proposal:
    """Read a joint plan, and judge it; an answer that cannot be read is a proposal, too, with the reasons."""
    try:
        thoughts, plans = reply.read(lambda value: reader(value, asked))
    except Misread as error:
        return Proposal({}, "", error.rejections)
    return Proposal(plans, thoughts, judge(plans))
