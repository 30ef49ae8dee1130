"""The gate before execution: it judges committed plans together and repairs those expected to fail.

Source: COOP2-Repair (arXiv 2603.00349 v2). The gate judges the plans for each task when all agents are ready and a
committed plan has not begun. If it expects a constraint to be violated, and the task was not repaired recently, the
environment pauses while the agents concerned see the failures, talk, and plan again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from maeil.actions import read_call
from maeil.component import Component
from maeil.extension import Extension, ExtensionConfig, ExtensionContext
from maeil.judging import Advice, Moment, PlanRules, Violation
from maeil.mind import Act, Note, PlanView, Turn
from maeil.plans import LivePlan, PlanStatus, Task
from maeil.team import Participant
from maeil.topology import ConversationState, Topology, turns_with
from quorum.methods.repair.events import RepairChecked, RepairEnded, RepairStarted
from quorum.methods.repair.rollout import roll_out
from quorum.methods.repair.rules import REPAIR_WORDS, Notice
from quorum_base.names import fold_names

Mode = Literal["channel", "wide_channel", "notice", "rules"]
Predictor = Literal["heuristic", "exact"]
Order = Literal["ascending", "together"]
"""Order of the statements of intention: one after another by index, or all at once, so that nobody hears another."""
TEMPLATE = Path(__file__).with_name("repair.jinja")


class RepairConfig(ExtensionConfig):
    """Values of `extension.repair`."""

    mode: Mode
    """Who fixes plans that are expected to fail, and how.

    `channel`: the advised agents, or without advice those with failing plans, state their intentions and commit new
    plans (as published); `wide_channel`: both groups do; `notice`: agents with failing plans see the notice and may
    resume; `rules`: advised plans replace others without asking the agents.
    """
    predictor: Predictor
    """How plans are judged: `heuristic`, by the world's heuristic, or `exact`, by running them on a copy."""
    horizon: Annotated[int, Field(ge=1)]
    """Maximum number of steps that `exact` looks ahead."""
    cooldown: Annotated[int, Field(ge=0)] | None
    """Steps before a repaired task may be repaired again; null: the world's default."""
    verifications: Annotated[int, Field(ge=1)]
    """Maximum number of checks in one environment step; with 1, repaired plans are not checked again."""
    guidance: bool
    """Whether to advise an assignment; without it, `rules` only judges."""
    order: Order
    """Order of the statements of intention."""


class Repair(Extension):
    """Repairs the plans of one episode.

    Args:
        settings: how plans are repaired.
        rules: the world's repair rules.
    """

    name = "repair"

    def __init__(self, settings: RepairConfig, rules: PlanRules) -> None:
        self._settings = settings
        self._rules = rules
        self._repaired: dict[str, int] = {}
        self._judged: object = None
        self._note: Note | None = None
        self._cooldown = rules.cooldown if settings.cooldown is None else settings.cooldown

    def before_thought(self, participant: Participant, turn: Turn) -> Sequence[Note]:  # noqa: ARG002
        """Return the current repair notice, if any."""
        return (self._note,) if self._note is not None else ()

    async def plans_committed(self) -> None:
        """Judge the plans of all agents, who are all ready, and repair them."""
        before = dict(self._repaired)
        for _ in range(self._settings.verifications):
            plans = self._plans()
            key = [(plan.id, plan.index) for plan in plans]
            if key == self._judged or all(plan.status is not PlanStatus.COMMITTED for plan in plans):
                return
            self._judged = key
            moment = self._moment(plans)
            failures = self._predict(moment)
            due = self._due(failures, before)
            advice = self._advise(moment, failures) if due else None
            verdict = self._verdict(failures, due, advice)
            self._record_check(moment, failures, verdict)
            if verdict != "repair":
                return
            self._repaired.update(dict.fromkeys(due, self.episode.team.now.t))
            await self._repair(moment, failures, advice)

    def _plans(self) -> list[LivePlan]:
        plans = [agent.plan for agent in self.episode.team.agents]
        assert None not in plans, "somebody is ready without a plan"
        return [plan for plan in plans if plan is not None]

    def _moment(self, plans: Sequence[LivePlan]) -> Moment:
        served = {plan.agent: self._rules.task_of(self.episode.world, plan.agent, plan.plan) for plan in plans}
        return Moment(
            self.episode.world,
            plans,
            [agent.controller for agent in self.episode.team.agents],
            {state.task: state for state in self.episode.constraints.states},
            {agent: task for agent, task in served.items() if task is not None},
            {agent.index: agent.unmet for agent in self.episode.team.agents if agent.unmet is not None},
        )

    def _predict(self, moment: Moment) -> Sequence[Violation]:
        if self._settings.predictor == "exact":
            return roll_out(moment, self._settings.horizon)
        return self._rules.predict(moment)

    def _due(self, failures: Sequence[Violation], before: Mapping[str, int]) -> list[str]:
        """Return the failing tasks whose cooldown has passed, ignoring repairs of the current check."""
        keys = dict.fromkeys(self._rules.cooldown_key(failure.task) for failure in failures)
        t = self.episode.team.now.t
        return [key for key in keys if key not in before or t - before[key] >= self._cooldown]

    def _advise(self, moment: Moment, failures: Sequence[Violation]) -> Advice | None:
        """Return an assignment that the world accepts."""
        if self._settings.mode == "notice" or not self._settings.guidance:
            return None
        advice = self._rules.advise(moment, failures)
        if advice is None or any(self.episode.world.check_plan(agent, plan) for agent, plan in advice.plans.items()):
            return None
        return advice

    def _verdict(self, failures: Sequence[Violation], due: Sequence[str], advice: Advice | None) -> str:
        if not failures:
            return "passed"
        if not due:
            return "cooldown"
        return "repair" if self._settings.mode != "rules" or self._changes(advice) else "no_advice"

    def _changes(self, advice: Advice | None) -> dict[int, Any]:
        """Return the advised plans that differ from their agents' current plans."""
        plans = advice.plans if advice is not None else {}
        present = {agent.index: agent.plan for agent in self.episode.team.agents}
        return {
            agent: plan
            for agent, plan in sorted(plans.items())
            if (now := present[agent]) is None or now.plan.actions != plan.actions
        }

    def _record_check(self, moment: Moment, failures: Sequence[Violation], verdict: str) -> None:
        served = [(plan, _written(moment.tasks.get(plan.agent))) for plan in moment.plans]
        plans = [{"plan": plan.id, "agent": plan.agent, "task": task} for plan, task in served]
        violations = [asdict(failure) for failure in failures]
        self.episode.record(RepairChecked(self._settings.predictor, plans, violations, verdict))

    async def _repair(self, moment: Moment, failures: Sequence[Violation], advice: Advice | None) -> None:
        concerned = self._concerned(failures, advice) or tuple(range(len(self.episode.team.agents)))
        before = {plan.id for plan in moment.plans}
        self.episode.record(RepairStarted(self._settings.mode, concerned, self._written_advice(advice)))
        for agent in concerned:
            self.episode.interrupt(agent, self.name)
        if self._settings.mode == "rules":
            for agent, plan in self._changes(advice).items():
                self.episode.team.commit(self.episode.team.agents[agent], plan, "advised")
        else:
            notice = Notice(
                tuple(failures), self._plan_views(moment), concerned, self._settings.mode != "notice", advice
            )
            order = self._settings.order if notice.replan else None
            self._note = repair_note(notice, self.episode.team.names)
            try:
                await self.episode.converse(RepairChannel(notice, order, self.episode.topology))
            finally:
                self._note = None
        after = {plan.id for plan in self._plans()}
        self.episode.record(RepairEnded(sorted(before - after)))

    def _concerned(self, failures: Sequence[Violation], advice: Advice | None) -> tuple[int, ...]:
        """Return the participants; any agent can join the channel, because all are ready."""
        if self._settings.mode == "rules":
            return tuple(self._changes(advice))
        advised = set(advice.agents) if advice is not None else set()
        if advised and self._settings.mode == "channel":
            return tuple(sorted(advised))
        return tuple(sorted(advised.union(*(failure.agents for failure in failures))))

    def _plan_views(self, moment: Moment) -> Mapping[int, PlanView]:
        views = {agent.index: agent.plan_view() for agent in self.episode.team.agents}
        return {agent: replace(view, task=moment.tasks.get(agent)) for agent, view in views.items() if view is not None}

    def _written_advice(self, advice: Advice | None) -> Mapping[str, Any] | None:
        if advice is None:
            return None
        plans = {
            self.episode.world.agents[agent]: [action.model_dump(mode="json") for action in plan.actions]
            for agent, plan in sorted(advice.plans.items())
        }
        return {"task": asdict(advice.task), "plans": plans}


class RepairChannel(Topology):
    """The turns of a repair, independent of the team's own topology.

    If members speak at all, each states its intention once. Then a coordinator, if the team has one, may direct them.
    Then they all decide at once. The authors call the protocol
    `ordered_one_round_intention_then_global_revision` (COOP2-Repair).

    Args:
        notice: the notice shown in every turn.
        order: the order of the statements; None: nobody speaks.
        usual: the team's own topology.
    """

    name = "repair"
    words = REPAIR_WORDS

    def __init__(self, notice: Notice, order: Order | None, usual: Topology) -> None:
        self._notice = notice
        self._order = order
        self.feedback = usual.feedback

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the next speaker, or of all who have not spoken; then a turn to plan for each."""
        if not conversation.quiet:
            return []
        spoken = turns_with(Act.SPEAK, conversation)
        members = self._notice.channel
        coordinators = range(conversation.agents, conversation.participants)
        if self._order is not None and len(members) > 1:
            silent = [one for one in members if not spoken[one] and conversation.may_speak(one)]
            if silent:
                first = silent[:1] if self._order == "ascending" else silent
                return [self._statement(one, (*members, *coordinators)) for one in first]
        if directing := [one for one in coordinators if not spoken[one] and conversation.may_speak(one)]:
            return [self._statement(one, members) for one in directing]
        plan = frozenset({Act.PLAN})
        return [Turn(agent, plan, feedback=self.feedback) for agent in conversation.undecided]

    def _statement(self, agent: int, everybody: Sequence[int]) -> Turn:
        others = tuple(other for other in everybody if other != agent)
        return Turn(agent, frozenset({Act.SPEAK}), others, limit=1, feedback=self.feedback)


def repair_note(notice: Notice, names: Sequence[str]) -> Note:
    """Return the note that shows a notice.

    Args:
        notice: the notice.
        names: names of all participants, by index.
    """
    shown = _shown(notice, names)
    return Note(Repair.name, notice, "repair", shown, TEMPLATE, notice.channel, notice.replan, REPAIR_WORDS)


def _shown(notice: Notice, names: Sequence[str]) -> dict[str, object]:
    """Return a notice as prompts show it, JSON-ready."""

    def named(agents: Sequence[int]) -> Sequence[str]:
        return fold_names([names[agent] for agent in agents])

    shown: dict[str, object] = {
        "failures": [
            {
                "task": _written(failure.task),
                "constraint": failure.constraint.value,
                "agents": named(failure.agents),
                "expected": failure.expected,
                "needed": failure.needed,
            }
            for failure in notice.failures
        ],
        "plans": {
            names[agent]: {
                "task": _written(plan.task),
                "actions": [read_call(action) for action in plan.actions],
                "actions_done": plan.done,
            }
            for agent, plan in notice.plans.items()
        },
        "channel": named(notice.channel),
        "plan_anew": notice.replan,
    }
    if notice.advice is not None:
        plans = {
            names[agent]: {
                **({"task": _written(plan.task)} if plan.task is not None else {}),
                "actions": [action.model_dump(mode="json") for action in plan.actions],
            }
            for agent, plan in notice.advice.plans.items()
        }
        shown["advice"] = {"task": _written(notice.advice.task), "plans": plans}
    return shown


def _written(task: Task | None) -> Mapping[str, str] | None:
    return asdict(task) if task is not None else None


def build(config: RepairConfig, context: ExtensionContext) -> Repair:
    """Build the gate.

    Raises:
        ValueError: this world has no repair rules.
    """
    return Repair(config, context.skill("repair")(context.world))


component = Component(RepairConfig, build)
