"""The joint plans of LLaMAC's simulated critics in CUBE: whole teams, and the others where they are needed next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from agents.cube import delivery, way
from agents.llm.simulated.roles import Brief
from agents.negotiator.cube_knowledge import block_of, clear
from cube_env import Direction, Face, Move, MoveToBlock, SymbolicBlock, SymbolicObservation
from maeil.plans import Plan, Task

PATIENCE = 20
"""Steps that it waits for the others of a team, as the negotiator does by default."""

DELIVER, STAND_BY = "deliver", "stand_by"
"""Kinds of tasks: to push a block to the goal, and to be at one before its turn comes."""


def joint_plan(board: SymbolicObservation, brief: Brief) -> dict[int, Plan]:
    """Make a joint plan: `agents.llm.simulated.roles.Proposer`.

    Each block with a clear way gets its nearest agents, as many as it lacks, or none: the exploiter begins with the
    block that its team reaches soonest, the explorer with the heaviest. Of those left over, who stands ahead of a push
    makes way; the next go where a team is to be later; and who is needed nowhere joins the nearest team. What is drawn
    at random is a block with a clear way.

    Args:
        board: the state.
        brief: what is asked.
    """
    staffing = _Staffing(board, brief)
    staffing.open_faces()
    staffing.form_teams()
    staffing.make_way()
    staffing.stand_by()
    staffing.join()
    blocks = clear(board)
    for agent in brief.drawn_at_random():
        staffing.plans[agent] = delivery(blocks[brief.rng.integers(len(blocks))], "at random", PATIENCE)
    return staffing.plans


class _Staffing:
    """Who does what: the agents that are still free, the plans of the others.

    Args:
        board: the state.
        brief: what is asked.
    """

    def __init__(self, board: SymbolicObservation, brief: Brief) -> None:
        self.plans: dict[int, Plan] = {}
        self._board = board
        self._role = brief.role
        self._shut: set[int] = set()
        self._free = list(brief.asked)
        tasks = [Task(**plan["task"]) for plan in brief.running.values() if plan["task"] is not None]
        self._pushing = Counter(block_of(task) for task in tasks if task.kind == DELIVER)
        self._waiting = Counter(block_of(task) for task in tasks if task.kind == STAND_BY)

    def open_faces(self) -> None:
        """Have those leave who shut free cells off at a face in column 0, which is reached from its ends alone."""
        for block in clear(self._board):
            rows = [row for row, _ in block.faces.left.taken]
            if _is_shut(block):
                self._shut.add(block.id)
                ends = [agent for agent in self._free if self._board.agents[agent] in ((min(rows), 0), (max(rows), 0))]
                for agent in ends[:1]:
                    self._leave(agent, block)

    def form_teams(self) -> None:
        """Give blocks teams, one after the other, until no block can have a whole one.

        A block that agents are on their way to stand by at waits for them: they are part of its team.
        """
        short = [block for block in clear(self._board) if block.id not in self._shut and not self._waiting[block.id]]
        while short := [block for block in short if 0 < self._lacking(block) <= len(self._free)]:
            block = min(short, key=self._rank)
            team = self._nearest(block, self._lacking(block))
            # So patient that the first to come is still there when the last one comes.
            self._deliver(team, block, PATIENCE + self._way(team, block), f"the {self._role} forms whole teams")

    def make_way(self) -> None:
        """Have those who stand ahead of a push leave its rows."""
        for agent in tuple(self._free):
            row, col = self._board.agents[agent]
            for block in clear(self._board):
                ahead = block.row <= row < block.row + block.weight and block.col < col
                if ahead and not self._lacking(block):
                    self._leave(agent, block)
                    break

    def stand_by(self) -> None:
        """Send agents to the blocks that lack some, the next ones first: the nearest agents, as many as lack.

        At a face in column 0 those who come one by one would shut out the rest; a team goes there together.
        """
        blocks = (block for block in self._board.blocks if block.col > 1)
        for block in sorted(blocks, key=lambda block: (len(block.ahead), block.distance, block.id)):
            team = self._nearest(block, max(self._lacking(block) - self._waiting[block.id], 0))
            self._take(team)
            for agent in team:
                if way(self._board.agents[agent], block) > 0:
                    task = Task(STAND_BY, f"block_{block.id}")
                    self.plans[agent] = Plan((MoveToBlock(block=block.id, face=Face.left),), task, "for later")

    def join(self) -> None:
        """Have those who are needed nowhere push too, where it is nearest: they are in nobody's way there."""
        staffed = [block for block in clear(self._board) if not self._lacking(block)]
        for agent in tuple(self._free) if staffed else ():
            block = min(staffed, key=lambda block: (way(self._board.agents[agent], block), block.id))
            self._deliver([agent], block, PATIENCE, "one more hand")

    def _deliver(self, team: list[int], block: SymbolicBlock, patience: int, rationale: str) -> None:
        self._take(team)
        self._pushing[block.id] += len(team)
        self.plans |= {agent: delivery(block, rationale, patience) for agent in team}

    def _leave(self, agent: int, block: SymbolicBlock) -> None:
        """Move an agent out of the rows of a block, the shorter way that is on the grid."""
        row = self._board.agents[agent][0]
        above, below = row - block.row + 1, block.row + block.weight - row
        up = row - above >= 0 and (above <= below or row + below >= self._board.side)
        self._take([agent])
        move = Move(direction=Direction.up, steps=above) if up else Move(direction=Direction.down, steps=below)
        self.plans[agent] = Plan((move,), None, f"make way for block {block.id}")

    def _rank(self, block: SymbolicBlock) -> tuple[int, int, int]:
        """Place of a block in the order in which a critic forms teams."""
        if self._role == "explorer":
            return -block.weight, block.distance, block.id
        return self._way(self._nearest(block, self._lacking(block)), block), block.distance, block.id

    def _lacking(self, block: SymbolicBlock) -> int:
        return max(block.weight - self._pushing[block.id], 0)

    def _way(self, team: Iterable[int], block: SymbolicBlock) -> int:
        return max((way(self._board.agents[agent], block) for agent in team), default=0)

    def _nearest(self, block: SymbolicBlock, number: int) -> list[int]:
        return sorted(self._free, key=lambda agent: (way(self._board.agents[agent], block), agent))[:number]

    def _take(self, agents: Iterable[int]) -> None:
        taken = set(agents)
        self._free = [agent for agent in self._free if agent not in taken]


def _is_shut(block: SymbolicBlock) -> bool:
    """Whether agents at the ends of a left face in column 0 stand between its free cells and the others."""
    rows = [row for row, _ in block.faces.left.taken]
    return block.col == 1 and any(min(rows) < row < max(rows) for row, _ in block.faces.left.free) if rows else False
