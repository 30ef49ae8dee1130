"""The planner for CUBE: a schedule of teams, rolled out in the world's own rules before any agent moves.

The team object commands all agents, who send no messages: it is an upper reference, not a baseline under the same
conditions. It sees the whole board at once, as every agent does, and plans in three layers.

1. `schedule`: which agents push which block, in which order. Blocks are pushed only to the right, and only if all
   blocks ahead in their rows are delivered, moving, or pushed along with them. So no push ever seals a block in.
2. `tasks`, `blocks`, `ground`, `ways` and `walking`: how the agents walk, wait, make way and push, step by step and
   without collisions.
3. Schedules are varied and rolled out on a copy of the board; the best rollout is the joint plan.

Each agent receives its part delivery by delivery. The joint plan holds as long as the board is as predicted. If it is
not, or if the plan ends with blocks left because the team would be stuck, the team plans again with new draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from cube_env import Action, CubeState, Direction, Face, Layout, Move, Rendezvous, SymbolicObservation
from maeil.actions import SymbolicAction, Vocabulary
from maeil.mind import Act, Mind, View
from maeil.plans import Plan, Task
from quorum.agents.skills.contract import CommandedMind
from quorum.agents.skills.cube.planner.arrays import PUSHING, STAY, Integers, Team
from quorum.agents.skills.cube.planner.blocks import staging_cells
from quorum.agents.skills.cube.planner.schedule import Effort, Project, Rollout, Schedule, blocks_ahead, search
from quorum.agents.skills.cube.planner.tasks import begin_step
from quorum.agents.skills.cube.planner.walking import move
from quorum.agents.skills.cube.planner.ways import measure_ways
from quorum.agents.skills.cube.plans import Wording

PATIENCE = 3
"""Steps without a moving block after which a team counts as stuck, in sides of the grid."""


def roll_out(schedule: Schedule, state: CubeState, limit: int) -> Rollout:
    """Let a team carry out a schedule.

    Args:
        schedule: the schedule.
        state: initial state; it is not changed.
        limit: maximum number of steps.

    Returns:
        The steps until everything scheduled is delivered, the team is stuck, or the limit is reached.
    """
    state = state.copy()
    team = _team(schedule, state)
    block_of = np.append(schedule.order, -1)
    phase_of = np.append(team.phase, 0)
    actions: list[Integers] = []
    pushes: list[Integers] = []
    agents, blocks = [state.agents.copy()], [state.block_table.copy()]
    left_over = int((schedule.carrier < 0).sum())
    stuck_at = PATIENCE * state.side
    while state.live > left_over and len(actions) < min(limit, stuck_at):
        begin_step(team)
        move(team, measure_ways(team))
        phase_of[:-1] = team.phase
        pushed = np.where(phase_of[team.current] == PUSHING, block_of[team.current], -1)
        state.advance(team.actions)
        moved = (state.block_table != blocks[-1]).any(axis=1)
        if moved.any():
            stuck_at = len(actions) + 1 + PATIENCE * state.side
        # A push that moves nothing is equivalent to staying, which is easier to read.
        in_vain = (pushed >= 0) & ~moved[pushed]
        actions.append(np.where(in_vain, 0, team.actions))
        pushes.append(np.where(in_vain | (team.actions == 0), -1, pushed))
        agents.append(state.agents.copy())
        blocks.append(state.block_table.copy())
    shape = (len(actions), len(state.agents))
    return Rollout(
        np.array(actions, dtype=np.int64).reshape(shape),
        np.array(pushes, dtype=np.int64).reshape(shape),
        np.array(agents),
        np.array(blocks),
    )


def _team(schedule: Schedule, state: CubeState) -> Team:
    side, n = state.side, len(state.agents)
    return Team(
        agents=state.agents,
        blocks=state.block_table,
        grid=state.grid,
        order=schedule.order,
        members=schedule.members,
        carrier=schedule.carrier,
        phase=np.zeros(len(schedule.order), dtype=np.int64),
        current=np.full(n, -1, dtype=np.int64),
        target=np.full((n, 2), -1, dtype=np.int64),
        ground=np.zeros((side, side), dtype=np.int64),
        field=np.full((n, side, side), -1, dtype=np.int32),
        claimed=np.zeros((side, side), dtype=np.bool_),
        settled=np.zeros(n, dtype=np.bool_),
        waited=np.zeros(n, dtype=np.int64),
        decided=np.zeros(n, dtype=np.bool_),
        queue=np.zeros(side * side, dtype=np.int64),
        seen=np.zeros((side, side), dtype=np.bool_),
        actions=np.zeros(n, dtype=np.int64),
    )


DELAY = 10
"""Steps that a mate may be late at a meeting before the waiting agents ask for another plan."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes plans in the actions of a vocabulary; meeting places are named only if it has an action for them.

    Attributes:
        wording: the vocabulary.
    """

    wording: Wording

    def plan(self, rollout: Rollout, ids: tuple[int, ...], agent: int, begin: int) -> Plan:
        """Write an agent's actions up to the end of its next delivery, or of the rollout if it has none.

        Args:
            rollout: the joint plan.
            ids: the blocks' ids by their index in it.
            agent: index of the agent.
            begin: first step, in the rollout.
        """
        pushes = rollout.pushes[:, agent].tolist()
        push = next((t for t in range(begin, rollout.steps) if pushes[t] >= 0), None)
        if push is None:
            return Plan(self._steps(rollout, agent, begin, rollout.steps), None, "no block needs me any more")
        block = pushes[push]
        end = next((t for t in range(push, rollout.steps) if pushes[t] not in (block, -1)), rollout.steps)
        end = 1 + max(t for t in range(push, end) if pushes[t] == block)
        count, aligned, complete = _meeting(rollout, agent, push)
        actions: tuple[SymbolicAction, ...]
        if self.wording.meets and begin <= complete:
            aligned = max(aligned, begin)
            timeout = complete - aligned + DELAY
            actions = (
                *self._steps(rollout, agent, begin, aligned),
                Rendezvous(block=ids[block], face=Face.left, count=count, timeout=timeout),
                *self._idle(push - complete),
            )
        else:
            actions = self._steps(rollout, agent, begin, push)
        for is_push, run in groupby(pushes[push:end], lambda pushed: pushed == block):
            length = len(list(run))
            actions += (self.wording.push(ids[block], length),) if is_push else self._idle(length)
        rationale = f"{count} of us push block {ids[block]} from step {push - begin} from now on"
        return Plan(actions, Task("deliver", f"block_{ids[block]}"), rationale)

    def idle(self, steps: int) -> Plan:
        """Write a plan to do nothing."""
        return Plan(self._idle(steps), None, "no block can be delivered")

    def _steps(self, rollout: Rollout, agent: int, begin: int, end: int) -> tuple[SymbolicAction, ...]:
        actions: list[SymbolicAction] = []
        for primitive, run in groupby(rollout.actions[begin:end, agent].tolist()):
            length = len(list(run))
            if primitive == STAY:
                actions.extend(self._idle(length))
            else:
                actions.append(Move(direction=Direction(Action(primitive).name.lower()), steps=length))
        return tuple(actions)

    def _idle(self, steps: int) -> tuple[SymbolicAction, ...]:
        return (self.wording.wait(steps),) if steps else ()


def _meeting(rollout: Rollout, agent: int, push: int) -> tuple[int, int, int]:
    """Return how the team that pushes in a step gathers, in steps of the rollout.

    Returns:
        How many meet; when the agent stands in a gap-free line at the block; when all of them do.
    """
    team = [i for i, block in enumerate(rollout.pushes[push].tolist()) if block == rollout.pushes[push, agent]]
    arrivals = {i: _arrival(rollout, i, push) for i in team}
    row = rollout.agents[push, agent, 0]
    aligned = max(arrivals[i] for i in team if rollout.agents[push, i, 0] == row)
    return len(team), aligned, max(arrivals.values())


def _arrival(rollout: Rollout, agent: int, push: int) -> int:
    """Return the step from which an agent stands where it starts to push."""
    while push > 0 and rollout.actions[push - 1, agent] == STAY:
        push -= 1
    return push


class PlannedTeam:
    """Plans for all agents of a team.

    Args:
        agents: number of agents.
        vocabulary: the vocabulary of plans.
        effort: search effort.
        generator: random generator of all draws.
    """

    def __init__(self, agents: int, vocabulary: Vocabulary, effort: Effort, generator: np.random.Generator) -> None:
        self.minds: tuple[Mind, ...] = tuple(CommandedMind(self._decide) for _ in range(agents))
        self._writer = Writer(Wording.of(vocabulary.names))
        self._effort = effort
        self._generator = generator
        self._rollout: Rollout | None = None
        self._begin = 0
        self._ids: tuple[int, ...] = ()

    def _decide(self, view: View) -> Plan | None:
        assert isinstance(view.observation, SymbolicObservation)
        return self.plan(view.agent, view.observation) if Act.PLAN in view.turn.acts else None

    def plan(self, agent: int, observation: SymbolicObservation) -> Plan:
        """Return the next plan of an agent.

        Args:
            agent: its index.
            observation: its observation; all agents see the same board.
        """
        rollout = self._rollout
        if rollout is None or not self._is_foreseen(rollout, observation):
            rollout = self._plan_anew(observation)
        if rollout.steps == 0:
            return self._writer.idle(observation.max_steps - observation.step)
        return self._writer.plan(rollout, self._ids, agent, observation.step - self._begin)

    def _is_foreseen(self, rollout: Rollout, observation: SymbolicObservation) -> bool:
        t = observation.step - self._begin
        if not 0 <= t < max(rollout.steps, 1):
            return False
        blocks = {
            self._ids[k]: (row, col) for k, (row, col, _, alive) in enumerate(rollout.blocks[t].tolist()) if alive
        }
        return rollout.agents[t].tolist() == [list(cell) for cell in observation.agents] and blocks == {
            block.id: (block.row, block.col) for block in observation.blocks
        }

    def _plan_anew(self, observation: SymbolicObservation) -> Rollout:
        blocks = [(block.weight, (block.row, block.col)) for block in observation.blocks]
        state = CubeState.from_layout(Layout(observation.side, observation.agents, blocks))
        self._rollout = plan_jointly(state, observation.max_steps - observation.step, self._effort, self._generator)
        self._begin = observation.step
        self._ids = tuple(block.id for block in observation.blocks)
        return self._rollout


def plan_jointly(state: CubeState, limit: int, effort: Effort, generator: np.random.Generator) -> Rollout:
    """Plan for all agents from a given state.

    Args:
        state: initial state; it is not changed.
        limit: remaining steps.
        effort: search effort.
        generator: random generator of all draws.

    Returns:
        The best rollout found. A rollout that ends stuck is cut after the last step that moved a block, if any did.
    """
    n = len(state.agents)
    room = np.array([staging_cells(state.grid, block, n)[0] for block in state.block_table], dtype=np.int64)
    blocks = state.block_table.copy()
    project = Project(state.agents.copy(), blocks, blocks_ahead(blocks), room, state.side)
    best = search(project, lambda schedule, steps: roll_out(schedule, state, steps), limit, effort, generator)
    return best if best.value[0] == 0 or best.steps == limit else best.until_last_push()
