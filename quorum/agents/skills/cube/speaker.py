"""The simulated speaker in CUBE: it uses its messages, and knows only what it sees.

Until it has read or sent a message, it takes the nearest block and waits for no one, so that teams without
communication double-book. With messages it acts like a negotiator: it forms teams, meets, and follows orders. If its
turn has feedback, it learns where agents are lacking and how many a push needs. As a planner of joint plans it plans
for all agents in the request: whole teams, and the other agents where they are needed next.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import orjson

from cube_env import (
    Cell,
    Direction,
    Idle,
    Move,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    SymbolicBlock,
    SymbolicObservation,
    Wait,
    WaitAgents,
    YieldBlock,
    read_shown,
)
from maeil.actions import Vocabulary
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan, Task
from quorum.agents.skills.chooser import Chooser
from quorum.agents.skills.cube.negotiator import Negotiator, claimed_blocks, deliveries, recall, write_claim
from quorum.agents.skills.cube.plans import CUBE, IN_VAIN, PATIENCE, Wording, block_of, clear, delivery_of, seen, way
from quorum.agents.skills.cube.pushes import Board
from quorum.agents.skills.speaker import JointPlanRequest, Prospect, Speaker, overheard


def lone_choice(view: View, observation: SymbolicObservation, chooser: Chooser) -> SymbolicBlock:
    """Return the block taken by an agent that knows nothing of the others' intentions.

    This is the nearest block with a clear way and fewer agents at it than its weight. Two agents near the same block
    both take it. After an unsuccessful plan it is the block with the most agents, including itself, and of several the
    nearest to the goal: all agents that give up choose alike, so that they meet in the end.
    """
    stand = seen(observation)
    there = Counter(stand.values())
    others = Counter(block for agent, block in stand.items() if agent != view.agent)
    short = [block for block in clear(observation) if others[block.id] < block.weight] or clear(observation)
    if view.outcomes and view.outcomes[-1].status in IN_VAIN:
        return min(short, key=lambda block: (-there[block.id], chooser.judge(block.distance), block.id))
    cell = observation.agents[view.agent]
    return chooser.least(short, lambda block: way(cell, block))


DELIVER, STAND_BY = "deliver", "stand_by"
"""Kinds of tasks: push a block to the goal, or wait at one before its turn."""

PATIENCES = (3, PATIENCE)
"""Steps that draft plans wait for the rest of a team."""

LATER = 5
"""Steps that an agent waits for a clear way before it sets out."""


class CubeSpeaker(Speaker[SymbolicObservation]):
    """A negotiator that remembers what its prompt shows, and acts alone as long as the prompt mentions no other agent.

    Args:
        wording: vocabulary of its plans.
    """

    observation = SymbolicObservation
    vocabulary = Vocabulary(
        Move, MoveToBlock, Rendezvous, PushBlock, YieldBlock, Idle, WaitAgents, Wait, PushTowards, Navigate
    )
    way_out = "set env.vocabulary=cube or env.vocabulary=emcoop"

    def __init__(self, wording: Wording = CUBE) -> None:
        self._wording = wording
        self.needs = wording.words

    def for_vocabulary(self, names: Collection[str]) -> CubeSpeaker:
        """Return a speaker that plans in CUBE's vocabulary, or in EmCoop's if only that is available."""
        speaker = CubeSpeaker(Wording.of(names) if "navigate" in names else self._wording)
        speaker.check_vocabulary(names)
        return speaker

    def read_observation(self, text: str) -> SymbolicObservation:
        """Read the observation in a prompt, or the board shown to a coordinator."""
        return read_shown(orjson.loads(text))

    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer like a negotiator if there are messages, and follow feedback; alone, try the nearest block."""
        observation = self.seen(view)
        mind = Negotiator(chooser, PATIENCE, recall(view, observation), self._wording)
        thought = mind.answer(view, observation)
        if Act.PLAN not in view.turn.acts:
            return thought
        if thought.messages or view.memory or view.unread:
            return replace(thought, decision=self._join(view, observation, thought.decision))
        return replace(thought, decision=self._try(view, observation, chooser))

    def drafts(
        self,
        observation: SymbolicObservation,
        agent: int,  # noqa: ARG002 (a plan is the same for all)
        task: Task,
        chooser: Chooser,  # noqa: ARG002
    ) -> Sequence[Plan]:
        """Return plans for a block: push at once, wait there for others (briefly or long), or set out later."""
        block = next((block for block in observation.blocks if block.id == block_of(task)), None)
        if block is None:
            raise ValueError(f"it sees no block of the task {task}")
        waits = [self._wording.delivery(block, "", patience) for patience in PATIENCES]
        later = Plan((self._wording.wait(LATER), *waits[-1].actions))
        return [self._wording.attempt(block, ""), *waits, later]

    def prospects(self, view: View, mate: int) -> list[Prospect]:
        """Return the blocks with a clear way; empty for an agent that the prompt omits."""
        observation = self.seen(view)
        if mate >= len(observation.agents):
            return []
        at, said = seen(observation).get(mate), claimed_blocks(view).get(mate)
        return [
            Prospect(
                delivery_of(block),
                way(observation.agents[mate], block),
                block.weight,
                block.distance,
                said=block.id == said,
                there=block.id == at,
            )
            for block in clear(observation)
        ]

    def anticipate(self, view: View, expected: Mapping[int, Task | None], chooser: Chooser) -> Thought:
        """Treat expectations as messages of agents that have sent none in this step."""
        observation = self.seen(view)
        spoken = {message.sender for message in (*view.memory, *view.unread) if message.t == view.t}
        blocks: dict[int | None, SymbolicBlock] = {block.id: block for block in clear(observation)}
        claims = tuple(
            overheard(mate, view, write_claim(block.id, way(observation.agents[mate], block)))
            for mate, task in sorted(expected.items())
            if mate not in spoken
            and mate < len(observation.agents)
            and (block := blocks.get(block_of(task))) is not None
        )
        return self.answer(replace(view, unread=(*view.unread, *claims)), chooser)

    def propose(self, request: JointPlanRequest) -> dict[int, Plan]:
        """Make a joint plan of whole teams."""
        return joint_plan(read_shown(request.state), request, self._wording)

    def _join(self, view: View, observation: SymbolicObservation, decision: Plan | Resume | None) -> Plan | Resume:
        """Make a plan that relies on others: with a meeting, of as many agents as feedback says are needed."""
        block = _block(view, observation, decision)
        task = deliveries(view).get(block.id)
        reason = decision.rationale if isinstance(decision, Plan) else "it is where I am needed"
        plan = self._wording.delivery(block, reason, PATIENCE, task.needs if task is not None else None)
        if view.plan is None or view.plan.task != plan.task:
            return plan
        alone = block.weight > 1 and str(self._wording.try_push(block)) in view.plan.actions
        return plan if alone else Resume.RESUME

    def _try(self, view: View, observation: SymbolicObservation, chooser: Chooser) -> Plan:
        """Make the plan of an agent that has neither read nor sent a message."""
        if chooser.is_poor():
            return self._wording.attempt(chooser.any_of(clear(observation)), "at random")
        block = lone_choice(view, observation, chooser)
        return self._wording.attempt(block, "of what I see it is the nearest that lacks hands")


def _block(view: View, observation: SymbolicObservation, decision: Plan | Resume | None) -> SymbolicBlock:
    """Return the block of a decision."""
    task = decision.task if isinstance(decision, Plan) else view.plan.task if view.plan is not None else None
    return next(block for block in observation.blocks if block.id == block_of(task))


def joint_plan(board: SymbolicObservation, request: JointPlanRequest, wording: Wording) -> dict[int, Plan]:
    """Make a joint plan: `quorum.agents.skills.Speaker.propose`.

    Each block with a clear way gets either all the agents it lacks, the nearest ones, or none. The exploiter starts
    with the block that its team reaches soonest, the explorer with the heaviest. Of the remaining agents, those in
    front of a push make way; the next go where a team will be needed later; the rest join the nearest team. Random
    parts use any block with a clear way.

    Args:
        board: the state.
        request: the request.
        wording: vocabulary of the plans.
    """
    staffing = _Staffing(board, request, wording)
    staffing.open_faces()
    staffing.form_teams()
    staffing.make_way()
    staffing.stand_by()
    staffing.join()
    blocks = clear(board)
    for agent in request.drawn_at_random():
        staffing.plans[agent] = wording.delivery(request.chooser.any_of(blocks), "at random", PATIENCE)
    return staffing.plans


class _Staffing:
    """Assigns agents to blocks: it tracks the free agents and the plans of the others.

    Args:
        board: the state.
        request: the request.
        wording: vocabulary of the plans.
    """

    def __init__(self, board: SymbolicObservation, request: JointPlanRequest, wording: Wording) -> None:
        self.plans: dict[int, Plan] = {}
        self._wording = wording
        self._board = board
        self._role = request.role
        self._refused = request.refused
        self._shut: set[int] = set()
        self._ground = Board(board)
        self._free = list(request.asked)
        self._judged = {
            (agent, block.id): request.chooser.judge(way(board.agents[agent], block))
            for agent in request.asked
            for block in board.blocks
        }
        tasks = {agent: Task(**plan["task"]) for agent, plan in request.running.items() if "task" in plan}
        self._pushing: dict[int | None, list[int]] = defaultdict(list)
        for agent, task in tasks.items():
            if task.kind == DELIVER:
                self._pushing[block_of(task)].append(agent)
        self._waiting = Counter(block_of(task) for task in tasks.values() if task.kind == STAND_BY)

    def open_faces(self) -> None:
        """Make one of the agents that block free cells at a face leave; its block has to wait for that."""
        for block in clear(self._board):
            gap = self._shut_off(block)
            if gap is not None:
                self._shut.add(block.id)
                rows = [row for row, _ in block.faces.left.taken]
                ends = {(row, block.col - 1): abs(row - gap) for row in (min(rows), max(rows))}
                leaving = [agent for agent in self._free if self._board.agents[agent] in ends]
                if leaving:
                    self._leave(min(leaving, key=lambda agent: ends[self._board.agents[agent]]), block)

    def form_teams(self) -> None:
        """Find teams for blocks, one after another, until no block can have a whole one.

        A block waits for agents that are on their way to stand by at it: they are part of its team.
        """
        short = [block for block in clear(self._board) if block.id not in self._shut and not self._waiting[block.id]]
        while short := [block for block in short if 0 < self._lacking(block) <= len(self._free)]:
            block = min(short, key=self._rank)
            team = self._nearest(block, self._lacking(block))
            self._deliver(team, block, f"the {self._role} forms whole teams")

    def make_way(self) -> None:
        """Make agents in front of a push leave its rows."""
        for agent in tuple(self._free):
            row, col = self._board.agents[agent]
            for block in clear(self._board):
                ahead = block.row <= row < block.row + block.weight and block.col < col
                if ahead and not self._lacking(block):
                    self._leave(agent, block)
                    break

    def stand_by(self) -> None:
        """Send agents to the blocks that lack some, the next blocks first: the nearest agents, as many as are lacking.

        If a face has pockets, agents that arrive one by one would block the others; a team goes there together.
        """
        blocks = (block for block in self._board.blocks if not any(map(self._is_pocket, _face(block))))
        for block in sorted(blocks, key=lambda block: (len(block.ahead), block.distance, block.id)):
            team = self._nearest(block, max(self._lacking(block) - self._waiting[block.id], 0))
            self._take(team)
            for agent in team:
                if way(self._board.agents[agent], block) > 0:
                    task = Task(STAND_BY, f"block_{block.id}")
                    self.plans[agent] = Plan((self._wording.approach(block),), task, "for later")

    def join(self) -> None:
        """Let agents that are not needed push at the nearest block, where they block no one's way."""
        staffed = [block for block in clear(self._board) if not self._lacking(block)]
        for agent in tuple(self._free) if staffed else ():
            block = min(staffed, key=lambda block: (way(self._board.agents[agent], block), block.id))
            self._deliver([agent], block, "one more hand")

    def _deliver(self, team: list[int], block: SymbolicBlock, rationale: str) -> None:
        self._take(team)
        self._pushing[block.id] += team
        # Wait long enough for the first agent to be still there when the last one arrives, which may be under way.
        # Blocks can make ways longer than estimated: agents with refused plans wait as long as they may.
        refused = self._refused.intersection(self._pushing[block.id])
        patience = None if refused else PATIENCE + self._way(self._pushing[block.id], block)
        self.plans |= {agent: self._wording.delivery(block, rationale, patience) for agent in team}

    def _leave(self, agent: int, block: SymbolicBlock) -> None:
        """Move an agent out of the rows of a block, by the shorter way that is on the grid."""
        row = self._board.agents[agent][0]
        above, below = row - block.row + 1, block.row + block.weight - row
        up = row - above >= 0 and (above <= below or row + below >= self._board.side)
        self._take([agent])
        move = Move(direction=Direction.up, steps=above) if up else Move(direction=Direction.down, steps=below)
        self.plans[agent] = Plan((move,), None, f"make way for block {block.id}")

    def _is_pocket(self, cell: Cell) -> bool:
        """Return whether a wall or a block is behind a left-face cell, so that it is reachable only along the face."""
        return not self._ground.is_free((cell[0], cell[1] - 1))

    def _shut_off(self, block: SymbolicBlock) -> int | None:
        """Return the row of a free pocket of a left face that agents at the face cut off from the rest of the board."""
        free, taken = set(block.faces.left.free), set(block.faces.left.taken)
        for row, col in sorted(free):
            first, last = row, row
            while (first - 1, col) in free:
                first -= 1
            while (last + 1, col) in free:
                last += 1
            run = [(one, col) for one in range(first, last + 1)]
            ends = ((first - 1, col), (last + 1, col))
            shut = all(end in taken or not self._ground.is_free(end) for end in ends) and any(
                end in taken for end in ends
            )
            if shut and all(map(self._is_pocket, run)):
                return row
        return None

    def _rank(self, block: SymbolicBlock) -> tuple[float, int, int]:
        """Return a block's position in the order in which a critic forms teams."""
        if self._role == "explorer":
            return -block.weight, block.distance, block.id
        team = self._nearest(block, self._lacking(block))
        return max(self._judged[agent, block.id] for agent in team), block.distance, block.id

    def _lacking(self, block: SymbolicBlock) -> int:
        return max(block.weight - len(self._pushing[block.id]), 0)

    def _way(self, team: Iterable[int], block: SymbolicBlock) -> int:
        return max((way(self._board.agents[agent], block) for agent in team), default=0)

    def _nearest(self, block: SymbolicBlock, number: int) -> list[int]:
        return sorted(self._free, key=lambda agent: (self._judged[agent, block.id], agent))[:number]

    def _take(self, agents: Iterable[int]) -> None:
        taken = set(agents)
        self._free = [agent for agent in self._free if agent not in taken]


def _face(block: SymbolicBlock) -> tuple[Cell, ...]:
    """Return the cells of a block's left face, occupied or not."""
    return *block.faces.left.free, *block.faces.left.taken
