"""The gate before execution: committed plans are judged together, and those that are expected to fail are repaired.

Source: COOP2-Repair (arXiv 2603.00349 v2). When all agents are ready and a committed plan has not begun, the plans for
each task are judged. Where a constraint is expected to be violated, and its task was not repaired a short while ago,
the environment stands still while those concerned are told, talk, and plan anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from maeil.constraints import ConstraintTracker
from maeil.conversation import Conversation
from maeil.notices import Advice, JudgedPlan, Notice, Violation
from maeil.plans import LivePlan, PlanStatus
from maeil.repair import Moment, RepairRules
from maeil.repairs.channel import Order, RepairChannel
from maeil.repairs.rollout import roll_out
from maeil.stages import Trigger
from maeil.team import Team
from maeil.trace.events import RepairChecked, RepairEnded, RepairStarted
from maeil.world import World

Mode = Literal["channel", "notice", "rules"]
Predictor = Literal["heuristic", "exact"]


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """How plans are repaired.

    Attributes:
        mode: `channel`: those concerned state what they intend, and all plan anew (as published); `notice`: they are
            told what is expected to fail, and may go on; `rules`: the advised plans take the place of theirs, and
            nobody is asked.
        predictor: `heuristic`, the world's rule of thumb; or `exact`, which carries the plans out on a copy.
        horizon: steps that `exact` looks ahead.
        cooldown: steps in which a repaired task is not repaired again; None: those of the world.
        guidance: whether a channel is advised of an assignment.
        order: of the statements in a channel.
        verifications: how often plans are judged in one environment step, at most: 1 lets what was repaired pass.
    """

    mode: Mode
    predictor: Predictor
    horizon: int
    cooldown: int | None
    guidance: bool
    order: Order
    verifications: int


@dataclass(frozen=True, slots=True)
class Repair:
    """What an episode repairs plans by.

    Attributes:
        settings: how.
        rules: those of its world.
    """

    settings: RepairSettings
    rules: RepairRules


class RepairGate:
    """The gate of one episode.

    Args:
        repair: settings and rules.
        world: that the plans are for.
        team: whose plans they are.
        conversation: runs the turns of a repair.
        constraints: as the last step left them.
    """

    def __init__(
        self, repair: Repair, world: World, team: Team, conversation: Conversation, constraints: ConstraintTracker
    ) -> None:
        self._settings = repair.settings
        self._rules = repair.rules
        self._world = world
        self._team = team
        self._conversation = conversation
        self._constraints = constraints
        self._repaired: dict[str, int] = {}
        self._judged: object = None
        cooldown = repair.settings.cooldown
        self._cooldown = repair.rules.cooldown if cooldown is None else cooldown

    async def check(self) -> None:
        """Judge the plans of all agents, who are ready, and repair them."""
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
            self._repaired.update(dict.fromkeys(due, self._team.now.t))
            await self._repair(moment, failures, advice)

    def _plans(self) -> list[LivePlan]:
        plans = [agent.plan for agent in self._team.agents]
        assert None not in plans, "somebody is ready without a plan"
        return [plan for plan in plans if plan is not None]

    def _moment(self, plans: Sequence[LivePlan]) -> Moment:
        served = {plan.agent: self._rules.task_of(self._world, plan.agent, plan.plan) for plan in plans}
        return Moment(
            self._world,
            plans,
            [agent.controller for agent in self._team.agents],
            {state.task: state for state in self._constraints.states},
            {agent: task for agent, task in served.items() if task is not None},
        )

    def _predict(self, moment: Moment) -> Sequence[Violation]:
        if self._settings.predictor == "exact":
            return roll_out(moment, self._settings.horizon)
        return self._rules.predict(moment)

    def _due(self, failures: Sequence[Violation], before: Mapping[str, int]) -> list[str]:
        """Return what of the failures may be repaired now; what this check has repaired itself does not count."""
        keys = dict.fromkeys(self._rules.cooldown_key(failure.task) for failure in failures)
        t = self._team.now.t
        return [key for key in keys if key not in before or t - before[key] >= self._cooldown]

    def _advise(self, moment: Moment, failures: Sequence[Violation]) -> Advice | None:
        """Return an assignment that the world would take."""
        if self._settings.mode == "notice" or not (self._settings.guidance or self._settings.mode == "rules"):
            return None
        advice = self._rules.advise(moment, failures)
        if advice is None or any(self._world.check_plan(agent, plan) for agent, plan in advice.plans.items()):
            return None
        return advice

    def _verdict(self, failures: Sequence[Violation], due: Sequence[str], advice: Advice | None) -> str:
        if not failures:
            return "passed"
        if not due:
            return "cooldown"
        return "repair" if self._settings.mode != "rules" or self._changes(advice) else "no_advice"

    def _changes(self, advice: Advice | None) -> dict[int, Any]:
        """Return the advised plans that differ from those of their agents."""
        plans = advice.plans if advice is not None else {}
        present = {agent.index: agent.plan for agent in self._team.agents}
        return {
            agent: plan
            for agent, plan in sorted(plans.items())
            if (now := present[agent]) is None or now.plan.actions != plan.actions
        }

    def _record_check(self, moment: Moment, failures: Sequence[Violation], verdict: str) -> None:
        self._team.record(
            RepairChecked(
                self._settings.predictor,
                [
                    {"plan": plan.id, "agent": plan.agent, "task": _written(moment.tasks.get(plan.agent))}
                    for plan in moment.plans
                ],
                [asdict(failure) for failure in failures],
                verdict,
            )
        )

    async def _repair(self, moment: Moment, failures: Sequence[Violation], advice: Advice | None) -> None:
        affected = {agent for failure in failures for agent in failure.agents}
        if self._settings.mode == "rules":
            concerned = tuple(self._changes(advice))
        else:
            # Those who are advised to help plan anew, too, though theirs are not the plans that fail.
            concerned = tuple(sorted({*affected, *(advice.agents if advice is not None else ())}))
        concerned = concerned or tuple(range(len(self._team.agents)))
        before = {plan.id for plan in moment.plans}
        self._team.record(RepairStarted(self._settings.mode, concerned, self._written_advice(advice)))
        for index in concerned:
            self._team.change_stage(self._team.agents[index], Trigger.REPAIR)
        if self._settings.mode == "rules":
            for index, plan in self._changes(advice).items():
                self._team.commit(self._team.agents[index], plan, "advised")
        else:
            await self._conversation.run(self._channel(moment, failures, concerned, advice))
        after = {plan.id for plan in self._plans()}
        self._team.record(RepairEnded(sorted(before - after)))

    def _channel(
        self, moment: Moment, failures: Sequence[Violation], concerned: tuple[int, ...], advice: Advice | None
    ) -> RepairChannel:
        plans = tuple(
            JudgedPlan(
                plan.agent,
                plan.id,
                moment.tasks.get(plan.agent),
                tuple(str(action) for action in plan.plan.actions),
                plan.index,
            )
            for plan in moment.plans
            if plan.agent in concerned
        )
        talks = self._settings.mode == "channel"
        notice = Notice(tuple(failures), plans, concerned, replan=talks)
        return RepairChannel(replace(notice, advice=advice), self._settings.order if talks else None)

    def _written_advice(self, advice: Advice | None) -> Mapping[str, Any] | None:
        if advice is None:
            return None
        plans = {
            self._world.agents[agent]: [action.model_dump(mode="json") for action in plan.actions]
            for agent, plan in sorted(advice.plans.items())
        }
        return {"task": asdict(advice.task), "plans": plans}


def _written(task: Any) -> Mapping[str, str] | None:
    return asdict(task) if task is not None else None
