"""Plays an episode with sampled plans, and replays an episode from its joint actions."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from random import Random

from maeil.acting import Primitive, acting_in
from maeil.actions import ActionStatus, SymbolicAction
from maeil.outcomes import Outcome
from maeil.plans import Plan, Task
from maeil.tasks import Tasks, TaskState
from maeil.testing import answers
from maeil.testing.answers import ASKING, Contract, Record, frame, look
from maeil.testing.sampling import ActionSampler
from maeil.testing.steps import IDLE_LASTS, constraints, start
from maeil.world import Controller, GivesArrays, Transition, World
from quorum_base.drawing import Drawable

PATIENCE = 3
"""Number of an agent's actions that may end in one state of the world before it gets the idle action."""

ATTEMPTS = 5
"""Maximum number of plans sampled for an agent until `check_plan` accepts one; after that it idles."""


class Episode:
    """An episode with sampled plans.

    Attributes:
        seed: seed of the board and of the plans.
        joints: the joint actions.
        live: the plan of each agent in the last step.
        active: the active tasks in the last step, as reported by `constraints`.
        record: all return values of the world.
        frames: the values that a replay must reproduce.
    """

    def __init__(self, contract: Contract, world: World, sampler: ActionSampler, seed: int) -> None:
        self.seed = seed
        self.joints: list[list[Primitive]] = []
        self.live: list[Plan | None] = []
        self.active: set[Task] = set()
        self.record: Record = []
        self.frames: Record = []
        self._contract = contract
        self._world = world
        self._sampler = sampler
        self._rng = Random(seed)
        self._agents = range(len(world.agents))
        self._plans: list[deque[SymbolicAction]] = [deque() for _ in self._agents]
        self._live: list[Plan | None] = [None for _ in self._agents]
        self._running: list[Controller | None] = [None] * len(world.agents)
        self._idling: set[int] = set()
        self._active: dict[Task, TaskState] = {}
        self._goals: int | None = None

    def play(self, steps: int) -> Episode:
        """Play the episode to its end, or for this many steps, and check every return value."""
        contract, world = self._contract, self._world
        self._at(0)
        board = world.reset(self.seed)
        contract.require(isinstance(board, Mapping), "reset() returns the board as a record", board)
        self.frames.append(("reset()", contract.json(board, "the board")))
        self._goals = answers.check_progress(contract, world.progress()).goals
        self.frames += frame(contract, world, 0)
        for t in range(steps):
            self._at(t)
            self._ask()
            self._settle()
            joint = self._act()
            self._take_constraints(joint)
            self.joints.append(joint)
            seen = [board, world.global_observation(), *map(world.observe, self._agents)]
            before = [contract.json(value, "what was seen") for value in seen]
            transition = world.step(joint)
            self._at(t + 1)
            rule = "step() leaves everything that reset() or an observation returned unchanged"
            for value, then in zip(seen, before, strict=True):
                now = contract.json(value, "what was seen")
                contract.require(now == then, rule, f"{then} became {now}")
            written = answers.check_transition(contract, transition, len(self._agents), self._active)
            self.record.append((f"step {t}: step()", written))
            self.frames += _step(contract, t, joint, world, transition)
            if transition.end is Outcome.SUCCESS:
                progress = world.progress()
                finished = progress.reached == progress.goals
                contract.require(finished, "a world that ends in success has reached all its goals", progress)
            if transition.end:
                break
        self._close()
        self._look()
        frames = {value for what, value in self.frames if what.endswith("canvas()")}
        contract.require(len(frames) <= 1, "canvas() stays the same until the next reset", sorted(frames)[:2])
        self.record += self.frames
        return self

    def _at(self, t: int) -> None:
        self._contract.place = f"world {self._world.name!r}, seed {self.seed}, step {t}"

    def _settle(self) -> None:
        """Start and end actions until nothing changes any more, as the loop does."""
        ended = [0 for _ in self._agents]
        changed = True
        while changed:
            changed = False
            acting = answers.check_acting(self._contract, self._world)
            for agent in acting:
                self._start(agent, tired=ended[agent] >= PATIENCE)
            for agent in acting:
                controller = self._running[agent]
                assert controller is not None
                end = controller.status()
                answers.check_end(self._contract, end)
                if end is not None:
                    self._contract.require(agent not in self._idling, IDLE_LASTS, f"{end} before its step")
                    self._end(agent, controller)
                    if end.status is not ActionStatus.SUCCESS:
                        self._plans[agent].clear()
                    ended[agent] += 1
                    changed = True

    def _start(self, agent: int, *, tired: bool) -> None:
        """Start the next action of an agent without a running action."""
        if self._running[agent] is not None:
            return
        if tired:
            self._plans[agent].clear()
        elif not self._plans[agent]:
            self._live[agent] = plan = self._draw_plan(agent)
            self._plans[agent].extend(plan.actions)
        action = self._plans[agent].popleft() if self._plans[agent] else self._world.idle
        if action == self._world.idle:
            self._idling.add(agent)
        self._running[agent] = start(self._contract, self._world, agent, action, self._running)
        self.record.append((f"{self._contract.place}: agent {agent}", str(action)))

    def _draw_plan(self, agent: int) -> Plan:
        for _ in range(ATTEMPTS):
            plan = self._sampler.plan(agent, self._rng)
            reasons = self._world.check_plan(agent, plan)
            answers.check_reasons(self._contract, reasons)
            again = self._world.check_plan(agent, plan)
            self._contract.require(reasons == again, "check_plan() returns the same twice", f"{reasons} and {again}")
            if not reasons:
                return plan
        return Plan((self._world.idle,))

    def _act(self) -> list[Primitive]:
        joint: list[Primitive] = [None for _ in self._agents]
        self._idling.clear()
        for agent in acting_in(self._world.acting, len(self._agents)) or self._agents:
            controller = self._running[agent]
            assert controller is not None
            joint[agent] = answers.check_primitive(self._contract, controller.act())
        return joint

    def _ask(self) -> None:
        """Call all methods available before a decision, and check that they change nothing."""
        contract, world = self._contract, self._world
        seen = self._look()
        contract.compare(seen, self._look(), ASKING)
        for agent in self._agents:
            reasons = world.check_plan(agent, Plan((world.idle,)))
            answers.check_reasons(contract, reasons)
            contract.require(reasons == (), "check_plan() never refuses idle", reasons)
            world.check_plan(agent, self._sampler.plan(agent, Random(len(self.joints))))
            if (tasks := world.tasks(agent)) is not None:
                self._check_tasks(tasks, agent)
            if isinstance(world, GivesArrays):
                self._check_arrays(world, agent)
        contract.compare(seen, self._look(), "check_plan() changes nothing")
        plans = [
            self._sampler.plan(agent, Random(len(self.joints) + agent)) if agent % 2 else None for agent in self._agents
        ]
        if (found := world.open_tasks(plans)) is not None:
            listed = answers.check_open_tasks(contract, found, len(self._agents))
            named = world.open_tasks([None] * len(plans), ", ".join(task.task.target for task in found)) or ()
            missed = {task.task for task in found} - {task.task for task in named}
            contract.require(not missed, "open_tasks() includes the tasks whose targets the text names", missed)
            contract.compare(seen, self._look(), "open_tasks() changes nothing")
            seen.append((f"{contract.place}: open_tasks()", listed))
        self.record += seen

    def _check_tasks(self, tasks: Tasks, agent: int) -> None:
        """Check that `check_plan` accepts the first and last task of each kind, and refuses an unknown task."""
        for task in answers.check_tasks(self._contract, tasks):
            reasons = self._world.check_plan(agent, Plan((self._world.idle,), task))
            self._contract.require(not reasons, "check_plan() accepts a plan for each of tasks()", f"{task}: {reasons}")
        refused = self._world.check_plan(agent, Plan((self._world.idle,), Task("no", "such task")))
        self._contract.require(bool(refused), "check_plan() refuses a plan for a task that is not in tasks()", refused)

    def _check_arrays(self, world: GivesArrays, agent: int) -> None:
        """Check that the arrays have the specified sizes, and that every action in the mask can be planned."""
        observation, mask = world.arrays(agent)
        sizes = observation.size, mask.size
        self._contract.require(sizes == world.array_sizes(agent), "arrays() has the sizes of array_sizes()", sizes)
        if agent not in (acting_in(self._world.acting, len(self._agents)) or self._agents):
            return
        allowed = [index for index, value in enumerate(mask.tolist()) if value]
        self._contract.require(bool(allowed), "the mask of arrays() allows at least one action", mask)
        for index in allowed:
            reasons = self._world.check_plan(agent, Plan((world.action_of(agent, index),)))
            self._contract.require(not reasons, "check_plan() accepts what action_of() returns", f"{index}: {reasons}")

    def _take_constraints(self, joint: list[Primitive]) -> None:
        """Update the active tasks from `constraints`, and check that the call changes nothing else."""
        contract, world = self._contract, self._world
        seen = self._look()
        states = constraints(contract, world, joint, self._live)
        for state in states:
            answers.check_state(contract, state, len(self._agents), self._active)
            if state.threshold:
                self._active[state.task] = state
            else:
                del self._active[state.task]
        self.live, self.active = list(self._live), set(self._active)
        again = constraints(contract, world, joint, self._live)
        contract.require(not again, "constraints() returns only tasks that have changed", again)
        contract.compare(seen, self._look(), "constraints() changes nothing in the world")
        self.record.append((f"{contract.place}: constraints()", contract.json(states, "constraints()")))

    def _look(self) -> Record:
        return look(self._contract, self._world, len(self.joints), self._goals)

    def _end(self, agent: int, controller: Controller) -> None:
        controller.close()
        self._running[agent] = None

    def _close(self) -> None:
        """End all running actions with the episode: check their status once more, and close them."""
        for agent, controller in enumerate(self._running):
            if controller is not None:
                answers.check_end(self._contract, controller.status())
                self._end(agent, controller)


def replay(contract: Contract, world: World, episode: Episode) -> tuple[Record, set[Task]]:
    """Replay an episode from its joint actions; return the frames, and the tasks active in the last step."""
    states: list[TaskState] = []
    frames = [("reset()", contract.json(world.reset(episode.seed), "the board")), *frame(contract, world, 0)]
    for t, joint in enumerate(episode.joints):
        if t == len(episode.joints) - 1:
            states = constraints(contract, world, joint, episode.live)
        frames += _step(contract, t, joint, world, world.step(joint))
    return frames, {state.task for state in states if state.threshold}


def _step(contract: Contract, t: int, joint: Sequence[Primitive], world: World, transition: Transition) -> Record:
    """Record the result of a step, and the appearance of the world after it."""
    shown = contract.json([transition.reward, transition.rewards, transition.outcomes, transition.end], "step()")
    if isinstance(world, Drawable):
        names = [world.primitive_name(primitive) for primitive in joint if primitive is not None]
        named = all(isinstance(name, str) and name for name in names)
        contract.require(named, "primitive_name() names every primitive", names)
    return [(f"step {t}: step()", shown), *frame(contract, world, t + 1)]
