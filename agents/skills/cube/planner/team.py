"""The planner for CUBE: a schedule of teams, rolled out in the world's own rules before anybody moves.

The team object commands all agents, who send no messages: it is an upper reference, not a rival under the same
conditions. It sees the whole board at once, as every agent does, and plans in three layers.

1. `schedule`: which agents push which block, in which order. Blocks are pushed to the right only, and only when all
   blocks ahead in their rows are delivered, on their way, or pushed on with them. So no push ever seals a block in.
2. `staging`, `ways`, `motion`: how the agents walk, wait, make way and push, step by step and free of collisions.
3. `search`: schedules are changed, rolled out on a copy of the board, and the best rollout is the joint plan.

Each agent gets its part delivery by delivery. The joint plan holds as long as the board is as foreseen; when it is not,
or the plan ends with blocks left because the team would be stuck, the team plans anew, with fresh draws.
"""

from __future__ import annotations

import numpy as np

from cube_env import CubeState, Layout, SymbolicObservation
from maeil.actions import Vocabulary
from maeil.mind import Act, Mind, View
from maeil.plans import Plan
from quorum.agents.skills.commanded import CommandedMind
from quorum.agents.skills.contract import Effort
from quorum.agents.skills.cube.planner.plans import Writer
from quorum.agents.skills.cube.planner.rollout import Rollout, roll_out
from quorum.agents.skills.cube.planner.schedule import Project, blocks_ahead
from quorum.agents.skills.cube.planner.search import search
from quorum.agents.skills.cube.planner.staging import staging_cells


class PlannedTeam:
    """Plans for all agents of a team.

    Args:
        agents: number of agents.
        vocabulary: what plans are written in.
        effort: how long to search.
        generator: what all draws come from.
    """

    def __init__(self, agents: int, vocabulary: Vocabulary, effort: Effort, generator: np.random.Generator) -> None:
        self.minds: tuple[Mind, ...] = tuple(CommandedMind(self._decide) for _ in range(agents))
        self._writer = Writer(vocabulary)
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
            observation: what it sees; all agents see the same board.
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
    """Plan for all agents from a state on.

    Args:
        state: where they are; it is left as it is.
        limit: steps that are left.
        effort: how long to search.
        generator: what all draws come from.

    Returns:
        The best rollout found. One that ends stuck is cut after the last step that moved a block, if any did.
    """
    n = len(state.agents)
    room = np.array([staging_cells(state.grid, block, n)[0] for block in state.block_table], dtype=np.int64)
    blocks = state.block_table.copy()
    project = Project(state.agents.copy(), blocks, blocks_ahead(blocks), room, state.side)
    best = search(project, lambda schedule, steps: roll_out(schedule, state, steps), limit, effort, generator)
    return best if best.value[0] == 0 or best.steps == limit else best.until_last_push()
