"""The participants of an episode; records each change of their stages and plans."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from maeil.messages import Message
from maeil.mind import MemberView, Mind, PlanView
from maeil.plans import LivePlan, Plan, PlanStatus, Task
from maeil.settings import LoopSettings
from maeil.stages import Stage, Trigger, after, may_send
from maeil.trace.events import ActionChange, PlanChange, StageChange
from maeil.trace.recorder import Now, Recorder
from maeil.world import ActionEnd, Controller


@dataclass(slots=True)
class Participant:
    """An agent, or a coordinator when `embodied` is false.

    Attributes:
        index: index among the participants; agents come first.
        name: name in the world.
        mind: decides for the participant.
        embodied: whether it acts in the world.
        stage: stage of an agent; a coordinator always stays in R, which has no effect.
        mailbox: messages that have arrived and are unread.
        memory: messages sent and read, oldest first.
        plan: the live plan.
        controller: the running action of that plan.
        unmet: the task that it attempted since the last step but could not act on (`ActionEnd.unmet`).
        outcomes: the last plans that ended.
        plans: number of plans committed so far.
        thoughts: thoughts started in this environment step.
        sent: messages sent in this environment step.
        forced: turns in this environment step for which it had no thoughts left.
    """

    index: int
    name: str
    mind: Mind
    embodied: bool
    memory: deque[Message]
    outcomes: deque[PlanView]
    stage: Stage = Stage.REASON
    mailbox: list[Message] = field(default_factory=list)
    plan: LivePlan | None = None
    controller: Controller | None = None
    unmet: Task | None = None
    plans: int = 0
    thoughts: int = 0
    sent: int = 0
    forced: int = 0

    def plan_view(self) -> PlanView | None:
        """Return the agent's view of its live plan; None if it has none."""
        return _view(self.plan) if self.plan is not None else None


class Team:
    """All participants, with the clocks and the recorder for their changes.

    Args:
        names: names of the agents.
        minds: minds of the agents, in the same order.
        coordinators: names and minds of participants without a body.
        settings: parameters of the loop.
        recorder: records every event.
    """

    def __init__(
        self,
        names: Sequence[str],
        minds: Sequence[Mind],
        coordinators: Sequence[tuple[str, Mind]],
        settings: LoopSettings,
        recorder: Recorder,
    ) -> None:
        if len(names) != len(minds):
            raise ValueError(f"{len(names)} agents need as many minds, not {len(minds)}")
        everybody = [*zip(names, minds, strict=True), *coordinators]
        self.now = recorder.now = Now()
        self.participants = tuple(
            Participant(
                index,
                name,
                mind,
                embodied=index < len(names),
                memory=deque(maxlen=settings.memory_messages),
                outcomes=deque(maxlen=settings.memory_plans),
            )
            for index, (name, mind) in enumerate(everybody)
        )
        self.agents = self.participants[: len(names)]
        self.undecided = set(range(len(names)))
        """Agents in R or I."""
        self.names = tuple(participant.name for participant in self.participants)
        self.record = recorder.record
        self.listen = recorder.listen
        self.flush = recorder.flush

    def members(self) -> tuple[MemberView, ...]:
        """Return the coordinator's view of all agents."""
        return tuple(MemberView(agent.plan_view(), tuple(agent.outcomes)) for agent in self.agents)

    def remember(self, messages: int) -> None:
        """Keep at least this many earlier messages for each participant."""
        for one in self.participants:
            one.memory = deque(one.memory, maxlen=max(messages, one.memory.maxlen or 0))

    def change_stage(self, agent: Participant, trigger: Trigger, reason: str = "") -> None:
        """Move an agent to its next stage.

        Args:
            agent: the agent.
            trigger: cause of the change.
            reason: reason for the trace; empty for the trigger.

        Raises:
            IllegalTransition: the table of stages does not allow this change.
        """
        before = agent.stage
        agent.stage = after(before, trigger)
        if may_send(agent.stage):
            self.undecided.add(agent.index)
        else:
            self.undecided.discard(agent.index)
        self.record(StageChange(agent.index, before, agent.stage, reason or trigger))

    def take_turns(self, acting: Sequence[int]) -> None:
        """Put all agents off turn except those that act in the coming step, which continue their plans, or think.

        Args:
            acting: indices of the agents that act.
        """
        for agent in self.agents:
            if agent.index not in acting:
                if agent.stage is not Stage.OFF_TURN:
                    self.change_stage(agent, Trigger.TURN_OVER)
            elif agent.stage is Stage.OFF_TURN:
                self.change_stage(agent, Trigger.TURN if agent.plan is None else Trigger.TURN_WITH_PLAN)

    def commit(self, agent: Participant, plan: Plan, flag: str = "") -> None:
        """Commit a plan: as a new plan in R, or instead of the current plan in I."""
        trigger = Trigger.PLAN_COMMITTED
        if agent.plan is not None:
            running = agent.plan.status is PlanStatus.RUNNING
            self.end_plan(agent, PlanStatus.INTERRUPTED if running else PlanStatus.REPLACED, "new_plan")
            trigger = Trigger.REPLACED
        agent.plans += 1
        agent.plan = LivePlan(f"P{agent.index}.{agent.plans}", agent.index, plan, flag=flag)
        self.record(
            PlanChange(
                agent.plan.id,
                agent.index,
                PlanStatus.COMMITTED,
                task=plan.task.to_json() if plan.task is not None else None,
                actions=agent.plan.data,
                rationale=plan.rationale,
                flag=flag,
            )
        )
        self.change_stage(agent, trigger)

    def end_plan(self, agent: Participant, status: PlanStatus, reason: str = "") -> None:
        """Give the live plan its final status, after cancelling an action that still runs."""
        plan = agent.plan
        assert plan is not None
        if agent.controller is not None:
            agent.controller.close()
            agent.controller = None
            self.record_action(plan, "cancelled", reason)
        plan.status, plan.reason = status, reason
        agent.plan = None
        agent.outcomes.append(_view(plan))
        self.record(PlanChange(plan.id, agent.index, status, reason))

    def run_plan(self, plan: LivePlan) -> None:
        """Mark a committed plan as running."""
        plan.status = PlanStatus.RUNNING
        self.record(PlanChange(plan.id, plan.agent, PlanStatus.RUNNING))

    def record_action(self, plan: LivePlan, status: str, reason: str = "") -> None:
        """Record the status of a plan's current action."""
        action = plan.plan.actions[plan.index].action
        self.record(ActionChange(plan.id, plan.agent, plan.index, action, status, reason))

    def end_action(self, agent: Participant, end: ActionEnd) -> None:
        """Close the running action of an agent and record its end."""
        assert agent.plan is not None
        assert agent.controller is not None
        agent.controller.close()
        agent.controller = None
        self.record_action(agent.plan, end.status, end.reason)


def _view(plan: LivePlan) -> PlanView:
    return PlanView(plan.id, plan.plan.task, plan.calls, plan.index, plan.status, plan.reason)
