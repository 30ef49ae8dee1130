"""The TripletCritic: explorer, exploiter and assessor act as the coordinator, and scrutiny checks their plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    """A decision in progress.

    Attributes:
        sight: the state.
        asked: agents to plan for, ascending: those that carry out no suggestion, and those whose plan was recalled.
        running: remaining plans of the others.
        key: distinguishes this conversation from the next.
        calls: calls of the current thought.
        retries: internal retries left.
        rounds: external retries left.
        plans: the current suggestion.
        critics: the critics' proposals, by role.
        dialogue: suggestions and objections so far, JSON-ready.
        recalled: agents whose current plans were recalled, because they conflict although no suggested part does.
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
        """Combine plans with the running ones."""
        return Joint(plans, self.running)

    def recall(self, agents: Iterable[int]) -> None:
        """Recall running plans so that they can be changed."""
        found = self.running.keys() & set(agents)
        self.recalled |= found
        self.asked = tuple(sorted({*self.asked, *found}))
        self.running = {agent: plan for agent, plan in self.running.items() if agent not in found}

    def recall_offenders(self, rejections: Iterable[Rejection]) -> None:
        """Recall the running plans of conflicts without an agent being planned for: nothing else can resolve them."""
        for rejection in rejections:
            if not set(rejection.agents) & set(self.asked):
                self.recall(rejection.agents)


@dataclass(frozen=True)
class Scrutiny:
    """Judges joint plans (LLaMAC, veracity scrutiny): grammar first, then conflicts between grammatical plans.

    Attributes:
        world: checks each plan alone against its state.
        gates: the rules of that world.
        enabled: if false, only the grammar is checked, which every suggestion needs (ablation).
    """

    world: World
    gates: Gates
    enabled: bool

    def judge(self, sight: Sight, joint: Joint) -> tuple[Rejection, ...]:
        """Return the problems of a joint plan; empty if it passes."""
        refused = impossible(self.world, joint.plans)
        if refused or not self.enabled:
            return refused
        return tuple(self.gates.scrutinize(sight, joint))

    def is_grammatical(self, rejections: tuple[Rejection, ...]) -> bool:
        """Return whether all problems are conflicts, which dropping plans can repair."""
        rules = {**GRAMMAR, **self.gates.rules}
        return all(rules[rejection.code].fault is not Fault.GRAMMAR for rejection in rejections)

    def repair(self, sight: Sight, joint: Joint) -> tuple[dict[int, Plan], tuple[int, ...]]:
        """Drop plans until the rest passes: each time the one with the lowest index among the first offenders.

        A running plan is dropped only if no suggested plan offends with it.

        Args:
            sight: the state.
            joint: a grammatical joint plan.

        Returns:
            The remaining suggested plans, and the agents of the dropped ones, in order.
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
    """There is no valid joint plan after all internal retries: the episode ends unfinished."""


@dataclass(eq=False)
class TripletCritic:
    """The mind of the coordinator (LLaMAC, section on the TripletCritic). It keeps its decisions between turns.

    A turn that starts a decision asks both critics at once, scrutinizes their proposals, and has the assessor make one
    suggestion from the two: three calls if all pass. After objections, the assessor plans again for the objecting
    actors only. A turn without objections sends nothing, which ends the conversation.

    Attributes:
        speaker: calls the model.
        answers: the answer schemas.
        scrutiny: judges joint plans.
        briefing: formats the state for the critics.
        world: provides the state and the score.
        settings: switches and limits.
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
        """Start with an empty memory."""
        self._memory = Memory(self.settings.epochs, self.world.agents)

    async def think(self, view: View) -> Thought:
        """Decide, or answer objections.

        Raises:
            ScrutinyFailed: a joint plan is still invalid after all internal retries.
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
        """Make a suggestion for all agents that need one."""
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
        decision.critics = await self._insist(
            view, decision, CRITICS[settings.critics], asked, form=self.answers.joint, reader=self.answers.read_joint
        )
        if self.settings.belief_correction and len(decision.critics) > 1:
            decision.plans = await self._assess(view, decision, decision.asked, {})
        else:
            decision.plans = self._merged(decision)
        self._remember(view, decision)
        to = [agent for agent in decision.asked if agent in decision.plans or view.team[agent].plan is None]
        return self._suggest(view, decision, to)

    async def _replan(self, view: View, decision: Decision, objections: Sequence[Objection]) -> Thought:
        """Make another suggestion for objecting agents; the others keep their plans, unless these are dropped."""
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
        """Record the current suggestion; it replaces an earlier one of the same decision."""
        if (digest := self.briefing.digest(decision.sight)) is not None:
            state = self.briefing.state(decision.sight) if self.settings.transitions else digest
            self._memory.begin(view.t, state, decision.plans, self.world.progress())

    def _suggest(self, view: View, decision: Decision, to: Sequence[int]) -> Thought:
        """Send the whole suggestion to the agents it concerns; a recalled agent gets at least a plan to wait."""
        self._suggested |= decision.plans
        waits = dict.fromkeys(decision.recalled - decision.plans.keys(), Plan((self.world.idle,), None, "recalled"))
        recipients = sorted({*to, *decision.recalled})
        messages = (directive(recipients, {**decision.plans, **waits}, view.names),) if recipients else ()
        return Thought(messages=messages, calls=tuple(decision.calls))

    async def _assess(
        self, view: View, decision: Decision, asked: Sequence[int], blocks: Mapping[str, object]
    ) -> dict[int, Plan]:
        """Ask the assessor for a suggestion for some agents until it passes; the others keep their plans."""
        kept = {agent: plan for agent, plan in decision.plans.items() if agent not in asked}
        sources = {role: proposal.plans for role, proposal in decision.critics.items()}
        shown = {role: proposal.shown(self.world.agents) for role, proposal in decision.critics.items()}

        def reader(value: object, asked: Sequence[int]) -> tuple[str, dict[int, Plan]]:
            thoughts, plans = self.answers.read_assessor(value, asked, sources)
            return thoughts, {**kept, **plans}

        roles, form = (LlamacRole.ASSESSOR,), self.answers.assessor
        found = await self._insist(view, decision, roles, asked, form=form, reader=reader, blocks={**shown, **blocks})
        return found[LlamacRole.ASSESSOR].plans

    async def _insist(
        self,
        view: View,
        decision: Decision,
        roles: Sequence[LlamacRole],
        asked: Sequence[int],
        *,
        form: AnswerFormat,
        reader: _Reader,
        blocks: Mapping[str, object] = MappingProxyType({}),
    ) -> dict[str, Proposal]:
        """Ask some roles at once for plans of some agents, until all proposals pass.

        After a failure, both critics propose again or only the failing one, as configured. Conflicting running plans
        are recalled and planned again.
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
                proposal = _read(answer, reader, asked)
                if not proposal.rejections and (self.settings.scrutinize_suggestion or role is not LlamacRole.ASSESSOR):
                    rejections = self.scrutiny.judge(decision.sight, decision.joint(proposal.plans))
                    proposal = replace(proposal, rejections=rejections)
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
        """Merge the proposals without a call: the last critic's plans, and the other's for agents it leaves out."""
        plans = {agent: plan for proposal in decision.critics.values() for agent, plan in proposal.plans.items()}
        rejections = self.scrutiny.judge(decision.sight, decision.joint(plans))
        if not rejections or not self.settings.scrutinize_suggestion:
            return plans
        return self._settled(decision, [Proposal(plans, "", rejections)]).plans

    def _settled(self, decision: Decision, tried: Sequence[Proposal]) -> Proposal:
        """Choose a proposal after all retries: one that passed, or the last that can be repaired.

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


_Reader = Callable[[object, Sequence[int]], tuple[str, dict[int, Plan]]]
"""Reads the thoughts and the joint plan of an answer, given the agents to plan for."""


def _read(reply: SpeakerReply, reader: _Reader, asked: Sequence[int]) -> Proposal:
    """Read a joint plan; an unreadable answer becomes a proposal with the reasons."""
    try:
        thoughts, plans = reply.read(lambda value: reader(value, asked))
    except Misread as error:
        return Proposal({}, "", error.rejections)
    return Proposal(plans, thoughts)
