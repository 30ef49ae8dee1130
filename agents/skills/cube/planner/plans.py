"""Writes one agent's part in a joint plan as symbolic actions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from cube_env import Action, Face
from maeil.actions import SymbolicAction, Vocabulary
from maeil.plans import Plan, Task
from quorum.agents.skills.cube.planner.arrays import STAY
from quorum.agents.skills.cube.planner.rollout import Rollout

DELAY = 10
"""Steps that a mate may be late at a meeting before those who wait for it ask for another plan."""


@dataclass(frozen=True)
class Meeting:
    """How a team comes together at a block, in steps of its rollout.

    Attributes:
        count: agents that meet.
        aligned: when the agent in question stands in a gap-free line at the block.
        complete: when all of them do.
        push: when they begin to push.
    """

    count: int
    aligned: int
    complete: int
    push: int


class Writer:
    """Writes plans in the words of a vocabulary: a place to meet is named only where there is a word for it.

    Args:
        vocabulary: CUBE's or EmCoop's.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._full = "rendezvous" in vocabulary.names

    def plan(self, rollout: Rollout, ids: tuple[int, ...], agent: int, begin: int) -> Plan:
        """Write what an agent does up to the end of its next delivery, or of the rollout when it has none.

        Args:
            rollout: the joint plan.
            ids: the blocks' ids by their index in it.
            agent: whose part.
            begin: step of the rollout at which it begins.
        """
        pushes = rollout.pushes[:, agent].tolist()
        push = next((t for t in range(begin, rollout.steps) if pushes[t] >= 0), None)
        if push is None:
            return Plan(self._steps(rollout, agent, begin, rollout.steps), None, "no block needs me any more")
        block = pushes[push]
        end = next((t for t in range(push, rollout.steps) if pushes[t] not in (block, -1)), rollout.steps)
        end = 1 + max(t for t in range(push, end) if pushes[t] == block)
        meeting = _meeting(rollout, agent, push)
        actions: tuple[SymbolicAction, ...]
        if self._full and begin <= meeting.complete:
            aligned = max(meeting.aligned, begin)
            actions = (
                *self._steps(rollout, agent, begin, aligned),
                self._rendezvous(ids[block], meeting.count, meeting.complete - aligned + DELAY),
                *self._idle(push - meeting.complete),
            )
        else:
            actions = self._steps(rollout, agent, begin, push)
        for is_push, run in groupby(pushes[push:end], lambda pushed: pushed == block):
            length = len(list(run))
            actions += (self._push(ids[block], length),) if is_push else self._idle(length)
        rationale = f"{meeting.count} of us push block {ids[block]} from step {push - begin} from now on"
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
                direction = Action(primitive).name.lower()
                actions.append(self._vocabulary.parse({"action": "move", "direction": direction, "steps": length}))
        return tuple(actions)

    def _idle(self, steps: int) -> tuple[SymbolicAction, ...]:
        if steps == 0:
            return ()
        return (self._vocabulary.parse({"action": "idle" if self._full else "wait", "steps": steps}),)

    def _push(self, block: int, steps: int) -> SymbolicAction:
        action = "push_block" if self._full else "push"
        return self._vocabulary.parse({"action": action, "block": block, "steps": steps})

    def _rendezvous(self, block: int, count: int, timeout: int) -> SymbolicAction:
        data = {"action": "rendezvous", "block": block, "face": Face.left, "count": count, "timeout": timeout}
        return self._vocabulary.parse(data)


def _meeting(rollout: Rollout, agent: int, push: int) -> Meeting:
    team = [i for i, block in enumerate(rollout.pushes[push].tolist()) if block == rollout.pushes[push, agent]]
    arrivals = {i: _arrival(rollout, i, push) for i in team}
    row = rollout.agents[push, agent, 0]
    aligned = max(arrivals[i] for i in team if rollout.agents[push, i, 0] == row)
    return Meeting(len(team), aligned, max(arrivals.values()), push)


def _arrival(rollout: Rollout, agent: int, push: int) -> int:
    """Step from which on an agent stands where it begins to push."""
    while push > 0 and rollout.actions[push - 1, agent] == STAY:
        push -= 1
    return push
