"""The gates of CUBE: teams must be able to move their blocks, meet, and leave every block deliverable.

LLaMAC (arXiv 2311.13884) names the two gates; docs/llamac.md defines the rules and their meanings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, takewhile
from pathlib import Path

from cube_env import (
    Cell,
    Face,
    Idle,
    Move,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    Wait,
    WaitAgents,
    YieldBlock,
    roll_out,
)
from maeil.mind import Observation
from quorum.agents.coordination.joint import Joint, Rejection, Sight, called
from quorum.agents.skills.contract import read_rules
from quorum.agents.skills.cube.plans import STEP
from quorum.agents.skills.cube.pushes import Board, Key, PushTask, Sweep, aim_of, groups, jobs, moves, overlap, place_of


def unavailable(board: Board, agent: int, joint: Joint) -> Rejection | None:
    """Return the problem of an agent's first action, if any: it is not legal now, or leads nowhere."""
    cell, action = board.agents[agent], joint.plans[agent].actions[0]
    match action:
        case MoveToBlock() | Navigate() if (aim := aim_of(action)) is not None and aim[0] in board.blocks:
            others = {board.agents[other]: plan for other, plan in joint.plans.items() if other != agent}
            still = [other for other, plan in others.items() if not moves(plan)]
            there = [other for other in others if board.is_aligned(other, *aim)]
            ways = board.ways(*aim, [*still, *there]) or board.ways(*aim, still)
            if not board.is_aligned(cell, *aim) and cell not in ways:
                return Rejection("C-PATH", (agent,), f"no way leads to {place_of(aim)}: others stand in it")
            return None
        case Rendezvous(block=block, face=face) | YieldBlock(block=block, face=face) if block in board.blocks:
            legal = board.is_aligned(cell, block, face)
        case PushBlock(block=block) | PushTowards(block=block) if block in board.blocks:
            legal = bool(board.faces_at(cell, block))
        case Move(direction=direction):
            legal = board.is_free((cell[0] + STEP[direction][0], cell[1] + STEP[direction][1]))
        case Idle() | Wait() | WaitAgents():
            legal = True
        case Navigate():
            legal = aim_of(action) is None
        case _:
            legal = False
    return None if legal else Rejection("C-AVAIL", (agent,), f"{action} cannot be done from {cell}")


def missing_partners(board: Board, job: PushTask, joint: Joint) -> str:
    """Return why an agent at a face waits in vain; empty if it does not."""
    assert job.face is not None
    place = job.block, job.face
    partners = [other for other in groups(board, joint.plans).get(place, ()) if other.agent != job.agent]
    present = sum(board.is_aligned(cell, *place) for cell in board.agents)
    late = [
        other.agent
        for other in partners
        if not board.is_aligned(board.agents[other.agent], *place)
        and (other.arrival is None or other.arrival > job.patience)
    ]
    coming = sum(not board.is_aligned(board.agents[other.agent], *place) for other in partners) - len(late)
    if present + coming >= job.count:
        return ""
    return f"{job.count} agents are to meet at {place_of(place)}: {present} are there, and {coming} come in time"


def idle_in_need(board: Board, agent: int, joint: Joint) -> Rejection | None:
    """Return the problem of a plan without a push: it is useless if a team needs its agent.

    Going to a face and making way are useful.
    """
    plan, cell = joint.plans[agent], board.agents[agent]
    if any(isinstance(action, MoveToBlock | Navigate | YieldBlock) for action in plan.actions):
        return None
    if moves(plan) and any(block.row <= cell[0] < block.row + block.weight for block in board.blocks.values()):
        return None  # it leaves rows in which blocks will be pushed
    staff = {block: len(group) for (block, _), group in groups(board, joint.plans).items()}
    idle = sum(not groups(board, {other: plan}) for other, plan in joint.plans.items())
    for block in sorted(board.blocks.values(), key=lambda block: (block.distance, block.id)):
        present = sum(board.is_aligned(other, block.id, Face.left) for other in board.agents)
        lacking = block.weight - max(staff.get(block.id, 0), present)
        if not block.ahead and 0 < lacking <= idle:
            text = f"{called([agent])} waits, and block_{block.id} of weight {block.weight} lacks {lacking} agents"
            return Rejection("C-IDLE", (agent,), text)
    return None


class CubeGates:
    """Implements `quorum.agents.skills.Gates` for CUBE, in both of its vocabularies.

    The agents that push one block from one face in a joint plan form a group, including agents with running plans. A
    group with running plans only is not judged, because no agent in it is being planned for.

    Args:
        rollout: steps for which to roll out a joint plan that breaks no other rule; 0: no rollout.
    """

    rules = read_rules(Path(__file__).with_name("rules.yaml"))

    def __init__(self, rollout: int = 0) -> None:
        self._rollout = rollout
        if not rollout:
            self.rules = {code: rule for code, rule in self.rules.items() if code != "V-SIM"}

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Judge each group up to its first violation, then the groups against each other."""
        board = Board(sight.global_observation)
        broken = list(_split_plans(board, joint))
        if broken:
            return broken
        found = groups(board, joint.all)
        judged = {key: group for key, group in found.items() if any(job.agent in joint.plans for job in group)}
        sweeps: dict[Key, Sweep] = {}
        for key, group in judged.items():
            standing = _standing(board, group, joint)
            rejection = _staged(board, key, group, standing) or _in_time(board, key, group)
            if rejection is None:
                sweeps[key] = _sweep(board, key, found)
                rejection = _swept(key, group, sweeps[key], standing)
            if rejection is not None:
                broken.append(rejection)
        sweeps |= {key: _sweep(board, key, found) for key in found.keys() - judged.keys()}
        broken += [*_opposed(found, judged), *_colliding(sweeps, found, judged)]
        return broken or self._roll_out(board, joint)

    def _roll_out(self, board: Board, joint: Joint) -> list[Rejection]:
        """Find problems that no rule foresees: collisions, and meetings that fail."""
        if not self._rollout:
            return []
        plans = {agent: plan.actions for agent, plan in joint.all.items()}
        failures = roll_out(board.seen, plans, self._rollout)
        return [
            Rejection("V-SIM", (agent,), f"{called([agent])} would fail within {self._rollout} steps: {failure}")
            for agent, failure in sorted(failures.items())
            if agent in joint.plans
        ]

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> Rejection | None:
        """Judge the start of an agent's plan, and its use."""
        board, plan = Board(observation), joint.plans[agent]
        problem = unavailable(board, agent, joint)
        if problem is not None:
            return problem
        pushes = jobs(board, agent, plan)
        if not pushes:
            return idle_in_need(board, agent, joint)
        job = pushes[0]
        if isinstance(plan.actions[0], Rendezvous | PushTowards) and (missing := missing_partners(board, job, joint)):
            return Rejection("C-WAIT", (agent,), missing)
        if job.face is not Face.left and not any(job.block in block.ahead for block in board.blocks.values()):
            text = f"block_{job.block} gets no nearer to the goal from its {job.face} face, and is in no other's way"
            return Rejection("C-PROG", (agent,), text)
        return None


def _split_plans(board: Board, joint: Joint) -> Iterator[Rejection]:
    """Yield plans that push several blocks, or push from no face."""
    for agent, plan in sorted(joint.plans.items()):
        pushes = jobs(board, agent, plan)
        if len({(job.block, job.face) for job in pushes}) > 1:
            found = " and ".join(f"block_{job.block} from the {job.face} face" for job in pushes)
            yield Rejection("V-TASK", (agent,), f"{called([agent])} pushes {found} in one plan; plan one push")
        elif pushes and pushes[0].face is None:
            text = f"{called([agent])} pushes block_{pushes[0].block}, and goes to none of its faces before"
            yield Rejection("V-SLOT", (agent,), text)


def _standing(board: Board, group: list[PushTask], joint: Joint) -> dict[Cell, int]:
    """Return the agents outside a group that stay where they are, by cell."""
    members, plans = {job.agent for job in group}, joint.all
    return {
        cell: agent
        for agent, cell in enumerate(board.agents)
        if agent not in members and not (agent in plans and moves(plans[agent]))
    }


def _staged(board: Board, key: Key, group: list[PushTask], standing: Mapping[Cell, int]) -> Rejection | None:
    """Check that a group has room at its face, a way to it, and enough force."""
    agents, place = _members(group), place_of(key)
    lanes = board.lanes(*key)
    for lane in lanes:
        idle = next((place for place, cell in enumerate(lane) if cell in standing), len(lane))
        behind = [job.agent for job in group if board.agents[job.agent] in lane[idle:]]
        if caught := [agent for agent in behind if board.is_aligned(board.agents[agent], *key)]:
            text = f"{place}: {called(caught)} are in a line behind {called([standing[lane[idle]]])}, who does not push"
            return Rejection("V-WAY", tuple(sorted({*caught, standing[lane[idle]]})), text)
    room = sum(len(list(takewhile(lambda cell: cell not in standing, lane))) for lane in lanes)
    together = min(len(group), _needed(board, key, group))
    if room < together:
        return Rejection("V-SLOT", agents, f"{place} has room for {room} agents, and it takes {together}")
    cut_off = [job.agent for job in group if job.arrival is None]
    if cut_off:
        return Rejection("V-REACH", tuple(cut_off), f"no way leads {called(cut_off)} to {place}")
    force = board.force(*key)
    if len(group) < force:
        return Rejection("V-QUORUM", agents, f"{place} takes {force} agents to push, and {len(group)} are assigned")
    return None


def _needed(board: Board, key: Key, group: list[PushTask]) -> int:
    """Return how many members of a group must be at the face at once; the others follow the block."""
    return max(board.force(*key), *(job.count for job in group))


def _complete(board: Board, key: Key, group: list[PushTask]) -> int:
    """Return the steps until enough members of a group are there."""
    return sorted(job.arrival or 0 for job in group)[min(len(group), _needed(board, key, group)) - 1]


def _in_time(board: Board, key: Key, group: list[PushTask]) -> Rejection | None:
    """Check that the members of a group wait until enough of them are there, and for no one else."""
    last = _complete(board, key, group)
    hasty = [job.agent for job in group if (job.arrival or 0) + job.patience < last]
    if hasty:
        text = f"{called(hasty)} have given up at {place_of(key)} when the last that it takes comes, in {last} steps"
        return Rejection("V-SYNC", tuple(hasty), text)
    present = sum(board.is_aligned(cell, *key) for cell in board.agents)
    waiting = [job.agent for job in group if job.count > max(len(group), present)]
    if waiting:
        text = f"{called(waiting)} wait at {place_of(key)} for more agents than the {len(group)} that come"
        return Rejection("V-SYNC", tuple(waiting), text)
    return None


def _swept(key: Key, group: list[PushTask], sweep: Sweep, standing: Mapping[Cell, int]) -> Rejection | None:
    """Check that a push gets through, and what it leaves behind."""
    agents, place = _members(group), place_of(key)
    if sweep.obstacle:
        return Rejection("V-DEST", agents, f"{place}: the push gets stuck: {sweep.obstacle} {list(sweep.others)}")
    trapped = [block for block, (_, col, _) in sweep.squares.items() if col == 0]
    if trapped:
        return Rejection("V-TRAP", agents, f"{place}: it would leave blocks {trapped} in column 0 for ever")
    ahead = sorted(agent for cell, agent in standing.items() if cell in sweep.entered)
    if ahead:
        text = f"{place}: {called(ahead)} stand in its way and do not move"
        return Rejection("V-WAY", tuple(sorted({*agents, *ahead})), text)
    return None


def _opposed(found: Mapping[Key, list[PushTask]], judged: Mapping[Key, list[PushTask]]) -> Iterator[Rejection]:
    """Yield pairs of groups that push one block from two faces."""
    for one, other in combinations(sorted(found), 2):
        if one[0] == other[0] and (one in judged or other in judged):
            agents = _members([*found[one], *found[other]])
            yield Rejection("V-OPP", agents, f"block_{one[0]} is pushed from its {one[1]} and its {other[1]} face")


def _sweep(board: Board, key: Key, found: Mapping[Key, list[PushTask]]) -> Sweep:
    """Simulate a group's push as if the other groups had already moved their blocks away."""
    group = found[key]
    begin = _complete(board, key, group)
    others = {block for block, _ in found if block != key[0]}
    return board.sweep(*key, max(job.cells(begin) for job in group), len(group), others)


def _colliding(
    sweeps: Mapping[Key, Sweep], found: Mapping[Key, list[PushTask]], judged: Mapping[Key, list[PushTask]]
) -> Iterator[Rejection]:
    """Yield pairs of groups whose blocks end up in the same cells."""
    for one, other in combinations(sorted(sweeps), 2):
        if not (one in judged or other in judged):
            continue
        if one[0] != other[0] and any(
            block != rival and overlap(square, place)
            for block, square in sweeps[one].squares.items()
            for rival, place in sweeps[other].squares.items()
        ):
            agents = _members([*found[one], *found[other]])
            yield Rejection("V-DEST", agents, f"blocks {one[0]} and {other[0]} would end up in the same cells")


def _members(group: list[PushTask]) -> tuple[int, ...]:
    return tuple(sorted({job.agent for job in group}))
