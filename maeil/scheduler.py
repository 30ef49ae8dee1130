"""The loop itself: converse, execute and step until the episode ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maeil.constraints import ConstraintTracker, Feedback
from maeil.contracts import MAPPING, check_json, check_type
from maeil.conversation import Conversation
from maeil.errors import EpisodeStop
from maeil.extension import Extension
from maeil.mind import Mind
from maeil.outcomes import Outcome
from maeil.plan_execution import PlanExecution, check_transition
from maeil.plans import PlanStatus
from maeil.settings import LoopSettings
from maeil.stages import Stage, Trigger
from maeil.tasks import Attempt
from maeil.team import Team
from maeil.topology import Topology
from maeil.trace.events import (
    SCHEMA,
    CapabilityChange,
    EpisodeEnd,
    EpisodeStart,
    ScoreChange,
    StepOutcome,
    StepTaken,
)
from maeil.trace.recorder import Recorder
from maeil.turn_checks import check_ends
from maeil.world import Progress, Transition, World


async def run_episode(
    world: World,
    minds: Sequence[Mind],
    topology: Topology,
    *,
    seed: int,
    settings: LoopSettings,
    recorder: Recorder,
    coordinators: Sequence[tuple[str, Mind]] = (),
    extensions: Sequence[Extension] = (),
) -> EpisodeEnd:
    """Run one episode and record it.

    Args:
        world: the environment; it is reset with `seed`.
        minds: one for each agent, in index order.
        topology: who may speak to whom, and when.
        seed: determines the board.
        settings: parameters of the loop.
        recorder: records every event; at any time, it is complete up to the last environment step.
        coordinators: names and minds of participants without a body.
        extensions: extensions, in the order in which their hooks run.

    Returns:
        The last event of the trace, with the outcome. An `EpisodeStop` determines the outcome.

    Raises:
        Exception: any error that a mind, the world or an extension raises; the trace then ends with the outcome
            `error`.
    """
    team = Team(world.agents, minds, coordinators, settings, recorder)
    board = check_type(world.reset(seed), MAPPING, world.reset, "a mapping that holds the board")
    names = [name for name, _ in coordinators]
    start = EpisodeStart(SCHEMA, seed, world.name, topology.name, world.agents, names, settings.clock_unit, board)
    for extension in extensions:
        start = extension.start(start)
    episode = _Episode(world, team, topology, settings, extensions)
    for extension in extensions:
        extension.begin(episode)
    with check_json(world.reset):
        team.record(start)
    for extension in extensions:
        if type(extension).on_event is not Extension.on_event:
            team.listen(extension.on_event)
    try:
        outcome = await episode.run()
    except EpisodeStop as stop:
        return episode.end(stop.outcome, f"{type(stop).__name__}: {stop}")
    except BaseException as error:
        episode.end(Outcome.ERROR, f"{type(error).__name__}: {error}")
        raise
    return episode.end(outcome)


class _Episode:
    """The state of the loop; implements `maeil.extension.Episode`."""

    def __init__(
        self, world: World, team: Team, topology: Topology, settings: LoopSettings, extensions: Sequence[Extension]
    ) -> None:
        self.world = world
        self.team = team
        self.record = team.record
        self.topology = topology
        self.constraints = ConstraintTracker(world, team)
        self._feedback = Feedback(world, team, self.constraints)
        self._conversation = Conversation(world, team, topology, settings, self._feedback, extensions)
        self._extensions = extensions
        self._execution = PlanExecution(world, team)
        self._progress: Progress | None = None
        self._end: Outcome | None = None

    def interrupt(self, agent: int, extension: str) -> None:
        if self.team.agents[agent].stage in (Stage.WAIT, Stage.EXECUTE):
            self.team.change_stage(self.team.agents[agent], Trigger.EXTENSION, extension)

    async def converse(self, topology: Topology) -> None:
        await self._conversation.run(topology)

    def adopt(self, settings: LoopSettings) -> None:
        self._conversation.settings = settings

    def world_changed(self) -> None:
        self._feedback.forget()
        self._record_progress()
        self._execution.settle()

    async def run(self) -> Outcome:
        """Run until the world ends the episode."""
        self._record_progress()
        self._execution.take_turns()
        while self._end is None:
            await self._conversation.run()
            for extension in self._extensions:
                await extension.plans_committed()
            waiting = [agent for agent in self.team.agents if agent.stage is Stage.WAIT]
            for agent in waiting:
                self.team.change_stage(agent, Trigger.ALL_READY)
            # Without a new or resumed plan, all actions have already settled after the last step.
            if not (waiting and self._execution.settle()):
                self._step()
        return self._end

    def _step(self) -> None:
        joint = self._execution.act()
        self.constraints.before_step(joint)
        transition = check_type(self.world.step(joint), Transition, self.world.step, "a maeil.Transition")
        check_transition(transition, self.world)
        with check_json(self.world.step):
            self.team.record(StepTaken(joint, transition.reward, transition.rewards))
            self._record_outcome(transition.outcomes, self.constraints.with_unmet(transition.attempts))
        for change in transition.capabilities:
            self.team.record(CapabilityChange(change.agent, change.capability, change.gained))
        self.team.now.t += 1
        self._end = transition.end
        if self._end is None:
            check_ends(self.world.step, self.team.now.t, self._conversation.settings.max_steps)
        self._record_progress()
        self._execution.settle()
        if self._end is None:
            self._execution.take_turns()
        self._conversation.begin_step()
        for extension in self._extensions if self._end is None else ():
            extension.after_step()
        self.team.flush()

    def _record_outcome(self, outcomes: Sequence[Mapping[str, Any]], attempts: Sequence[Attempt]) -> None:
        if outcomes or attempts:
            self.team.record(StepOutcome(outcomes, self.constraints.attribute(attempts)))

    def _record_progress(self) -> None:
        progress = check_type(self.world.progress(), Progress, self.world.progress, "a maeil.Progress")
        if progress != self._progress:
            self._progress = progress
            self.team.record(ScoreChange(progress.reached, progress.goals, progress.score))

    def end(self, outcome: Outcome, reason: str = "") -> EpisodeEnd:
        """Cancel all live plans and record the last event."""
        for agent in self.team.agents:
            if agent.plan is not None:
                self.team.end_plan(agent, PlanStatus.CANCELLED, "episode_end")
        end = EpisodeEnd(outcome, self.team.now.t, reason)
        self.team.record(end)
        self.team.flush()
        return end
