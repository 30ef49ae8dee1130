"""The loop itself: converse, execute, step, until the world is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from maeil.constraints import ConstraintTracker
from maeil.contracts import MAPPING, check_items, check_json, check_type, described, name_of
from maeil.conversation import Conversation
from maeil.descriptors import Matcher
from maeil.errors import ContractError, EpisodeStop
from maeil.feedback import Feedback
from maeil.healing.voice import Healing
from maeil.healing.watch import HealSettings
from maeil.mind import Mind, Predicting
from maeil.plan_execution import PlanExecution
from maeil.plans import PlanStatus
from maeil.repairs.gate import Repair, RepairGate
from maeil.settings import LaterSettings, LoopSettings
from maeil.stages import Stage, Trigger
from maeil.tasks import Attempt
from maeil.team import Team
from maeil.topology import Topology
from maeil.trace.events import (
    SCHEMA,
    SCHEMA_WITHOUT_REPAIR,
    CapabilityChange,
    EpisodeEnd,
    EpisodeStart,
    ScoreChange,
    StepOutcome,
    StepTaken,
    WorldChange,
)
from maeil.trace.recorder import Recorder
from maeil.world import Progress, Transition, World
from maeil.world_change import ChangeAt, change_world


async def run_episode(
    world: World,
    minds: Sequence[Mind],
    topology: Topology,
    *,
    seed: int,
    settings: LoopSettings,
    recorder: Recorder,
    coordinators: Sequence[tuple[str, Mind]] = (),
    repair: Repair | None = None,
    matcher: Matcher | None = None,
    heal: HealSettings | None = None,
    branch: Mapping[str, Any] | None = None,
    later: Sequence[LaterSettings] = (),
    change: ChangeAt | None = None,
) -> EpisodeEnd:
    """Run one episode and record it.

    Args:
        world: the environment; it is reset with `seed`.
        minds: one for each agent, in index order.
        topology: who may speak to whom, and when.
        seed: names the board.
        settings: parameters of the loop.
        recorder: takes every event; what it has is whole up to the last environment step at any instant.
        coordinators: names and minds of participants without a body.
        repair: judges committed plans before they begin; None: nobody does.
        matcher: holds what agents need against what others offer, for a topology that asks them; None: for all others.
        heal: who speaks up when cooperation fails; None: nobody does.
        branch: what the trace says that it branches off (`EpisodeStart.branch`); None: off nothing.
        later: other parameters, each from an instant on.
        change: of the world, from outside, and when; None: nothing is changed.

    Returns:
        How the episode ended, also the last event of the trace. An `EpisodeStop` gives it its outcome.

    Raises:
        ChangeRefused: the world cannot be changed so.
        Exception: whatever a mind or the world raises; the trace then ends with the outcome `error`.
    """
    remembered = max((other.settings.memory_messages for other in later), default=0)
    team = Team(world.agents, minds, coordinators, settings, recorder, remembered=remembered)
    board = check_type(world.reset(seed), MAPPING, world.reset, "a mapping that tells the board")
    start = EpisodeStart(
        schema=SCHEMA
        if any(part is not None for part in (repair, heal, matcher, change)) or any(map(_predicts, minds))
        else SCHEMA_WITHOUT_REPAIR,
        seed=seed,
        world=world.name,
        topology=topology.name,
        agents=world.agents,
        coordinators=[name for name, _ in coordinators],
        clock=settings.clock_unit,
        board=board,
        branch=branch,
    )
    with check_json(world.reset):
        team.record(start)
    healing = Healing(heal, start, team) if heal is not None else None
    constraints = ConstraintTracker(world, team)
    feedback = Feedback(world, team, constraints)
    conversation = Conversation(world, team, topology, settings, feedback, matcher=matcher, healing=healing)
    for other in later:
        other.prefix.then(partial(conversation.adopt, other.settings))
    gate = RepairGate(repair, world, team, conversation, constraints) if repair is not None else None
    episode = _Episode(world, team, conversation, constraints, feedback, gate=gate, change=change)
    try:
        await episode.run()
    except EpisodeStop as stop:
        return episode.end(stop.outcome, f"{type(stop).__name__}: {stop}")
    except BaseException as error:
        episode.end("error", f"{type(error).__name__}: {error}")
        raise
    return episode.end("completed")


class _Episode:
    """The state of the loop between its calls."""

    def __init__(
        self,
        world: World,
        team: Team,
        conversation: Conversation,
        constraints: ConstraintTracker,
        feedback: Feedback,
        *,
        gate: RepairGate | None,
        change: ChangeAt | None,
    ) -> None:
        self._gate = gate
        self._change = change
        self._feedback = feedback
        self._world = world
        self._team = team
        self._conversation = conversation
        self._constraints = constraints
        self._execution = PlanExecution(world, team)
        self._progress: Progress | None = None
        self._done = self._finished = False

    async def run(self) -> None:
        """Run until the world is terminated or truncated."""
        self._record_progress()
        while not self._done:
            self._change_world()
            await self._conversation.run()
            if self._gate is not None:
                await self._gate.check()
            waiting = [agent for agent in self._team.agents if agent.stage is Stage.WAIT]
            for agent in waiting:
                self._team.change_stage(agent, Trigger.ALL_READY)
            # Without a new or resumed plan everything has been settled after the last step.
            if not (waiting and self._settle()):
                self._step()

    def _change_world(self) -> None:
        """Make the change that is asked for, if its step begins; actions that cannot go on then end."""
        change = self._change
        if change is None or change.t != self._team.now.t:
            return
        self._change = None
        change_world(self._world, change.changes)
        self._team.record(WorldChange(change.changes))
        self._feedback.forget()
        self._record_progress()
        self._settle()

    def _step(self) -> None:
        joint = self._execution.act()
        self._constraints.before_step(joint)
        transition = check_type(self._world.step(joint), Transition, self._world.step, "a maeil.Transition")
        _check_transition(transition, self._world)
        with check_json(self._world.step):
            self._team.record(StepTaken(joint, transition.reward))
            self._record_outcome(transition.outcomes, transition.attempts)
        for change in transition.capabilities:
            self._team.record(CapabilityChange(change.agent, change.capability, change.gained))
        self._team.now.t += 1
        self._done = transition.terminated or transition.truncated
        self._finished = transition.terminated
        self._record_progress()
        self._settle()
        self._conversation.begin_step()
        if not self._done:
            self._conversation.heal()
        self._team.flush()

    def _settle(self) -> bool:
        """Let actions end and begin; those who have waited in vain have made an attempt, known only now."""
        thinkers = self._execution.settle()
        self._record_outcome((), self._execution.unmet())
        return thinkers

    def _record_outcome(self, outcomes: Sequence[Mapping[str, Any]], attempts: Sequence[Attempt]) -> None:
        if outcomes or attempts:
            self._team.record(StepOutcome(outcomes, self._constraints.attribute(attempts)))

    def _record_progress(self) -> None:
        progress = check_type(self._world.progress(), Progress, self._world.progress, "a maeil.Progress")
        if progress != self._progress:
            self._progress = progress
            self._team.record(ScoreChange(progress.reached, progress.goals, progress.score))

    def end(self, outcome: str, reason: str = "") -> EpisodeEnd:
        """Cancel what is still alive and write the last event."""
        for agent in self._team.agents:
            if agent.plan is not None:
                self._team.end_plan(agent, PlanStatus.CANCELLED, "episode_end")
        end = EpisodeEnd(outcome, self._team.now.t, self._finished, reason)
        self._team.record(end)
        self._team.flush()
        return end


def _predicts(mind: Mind) -> bool:
    return isinstance(mind, Predicting) and mind.predicts


def _check_transition(transition: Transition, world: World) -> None:
    """Make sure that the parts of a transition can be recorded."""
    reward = transition.reward
    if not isinstance(reward, int | float):
        raise ContractError(
            f"{name_of(world.step)}() returned a Transition whose reward is {described(reward)}; "
            "it must be one number, the mean of the agents' rewards",
            world.step,
        )
    check_items(transition.outcomes, MAPPING, world.step, "a maeil.Transition whose outcomes are a tuple of mappings")
    check_items(transition.attempts, Attempt, world.step, "a maeil.Transition whose attempts are a tuple of Attempt")
