"""Executes the team's live plans, action by action, as primitives of the world."""

from __future__ import annotations

from maeil.acting import Primitive, acting_in
from maeil.actions import ActionStatus
from maeil.contracts import MAPPING, check_items, check_type, described, name_of, wrong_answer
from maeil.errors import ContractError
from maeil.outcomes import Outcome
from maeil.plans import PlanStatus
from maeil.stages import Stage, Trigger
from maeil.tasks import Attempt
from maeil.team import Participant, Team
from maeil.world import ActionEnd, Transition, World

_PLAN_STATUS = {
    ActionStatus.FAILED: PlanStatus.FAILED,
    ActionStatus.TIMEOUT: PlanStatus.TIMED_OUT,
    ActionStatus.CANCELLED: PlanStatus.CANCELLED,
}


class PlanExecution:
    """Executes the plans of all agents that are in X."""

    def __init__(self, world: World, team: Team) -> None:
        self._world = world
        self._team = team

    def settle(self) -> bool:
        """Start and end actions in the current state until nothing changes any more.

        An action may end before its first step (if the agent is already at its destination), and an agent's action may
        end because another one has started (a rendezvous). So every change triggers another round over all agents.

        Returns:
            Whether an agent's plan has ended, so that the agent must think before the world can continue.
        """
        thinkers = False
        executing = [agent for agent in self._team.agents if agent.stage is Stage.EXECUTE]
        while executing:
            for agent in executing:
                if agent.controller is None:
                    self._start(agent)
            changed = False
            for agent in executing:
                assert agent.controller is not None
                end = agent.controller.status()
                if end is not None:
                    changed = True
                    status = agent.controller.status
                    self._end(agent, check_type(end, ActionEnd, status, "a maeil.ActionEnd, or None while it runs"))
            if not changed:
                break
            still = [agent for agent in executing if agent.plan is not None]
            thinkers |= len(still) < len(executing)
            executing = still
        return thinkers

    def take_turns(self) -> None:
        """In a world in which agents take turns, give the turn to the agents that act in the coming step."""
        acting = acting_in(self._world.acting, len(self._team.agents))
        if acting is not None:
            self._team.take_turns(acting)
            self.settle()

    def act(self) -> list[Primitive]:
        """Return the joint action of this step. Each agent must be off turn, or in X with a running action."""
        joint: list[Primitive] = []
        for agent in self._team.agents:
            if agent.stage is Stage.OFF_TURN:
                joint.append(None)
                continue
            assert agent.controller is not None
            act = agent.controller.act
            primitive = act()
            if primitive is None:
                raise wrong_answer(act, "None", "the primitive of this step: a number, a text, a list or a mapping")
            joint.append(primitive)
        return joint

    def _start(self, agent: Participant) -> None:
        plan = agent.plan
        assert plan is not None
        if plan.status is PlanStatus.COMMITTED:
            self._team.run_plan(plan)
        self._team.record_action(plan, "started")
        controller = self._world.start_action(agent.index, plan.plan.actions[plan.index])
        if not (hasattr(controller, "status") and hasattr(controller, "act") and hasattr(controller, "close")):
            wanted = "a maeil.Controller, which has status(), act() and close()"
            raise wrong_answer(self._world.start_action, described(controller), wanted)
        agent.controller = controller

    def _end(self, agent: Participant, end: ActionEnd) -> None:
        plan = agent.plan
        assert plan is not None
        name = plan.plan.actions[plan.index].action
        self._team.end_action(agent, end)
        if end.unmet is not None:
            agent.unmet = end.unmet
        if end.status is ActionStatus.SUCCESS:
            plan.index += 1
            if plan.index < len(plan.plan.actions):
                return
            self._team.end_plan(agent, PlanStatus.SUCCEEDED)
        else:
            self._team.end_plan(agent, _PLAN_STATUS[end.status], f"{name}: {end.reason}" if end.reason else name)
        self._team.change_stage(agent, Trigger.PLAN_ENDED)


def check_transition(transition: Transition, world: World) -> None:
    """Check the types of a transition's fields, so that it can be recorded.

    Raises:
        ContractError: a field has the wrong type.
    """
    reward = transition.reward
    if not isinstance(reward, int | float):
        raise ContractError(
            f"{name_of(world.step)}() returned a Transition whose reward is {described(reward)}; "
            "it must be one number, the mean of the agents' rewards",
            world.step,
        )
    if transition.end is not None and not isinstance(transition.end, Outcome):
        raise ContractError(
            f"{name_of(world.step)}() returned a Transition whose end is {described(transition.end)}; "
            "it must be a maeil.Outcome, or None while the episode goes on",
            world.step,
        )
    if transition.rewards is not None and len(transition.rewards) != len(world.agents):
        raise ContractError(
            f"{name_of(world.step)}() returned a Transition with {len(transition.rewards)} rewards; "
            f"it must have one for each of the {len(world.agents)} agents, or None where all get the same",
            world.step,
        )
    check_items(transition.outcomes, MAPPING, world.step, "a maeil.Transition whose outcomes are a tuple of mappings")
    check_items(transition.attempts, Attempt, world.step, "a maeil.Transition whose attempts are a tuple of Attempt")
