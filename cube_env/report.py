"""What happened in one step: pushes, failed moves, deliveries, the reward and whether the episode ended."""

from __future__ import annotations

from dataclasses import dataclass

from cube_env.arrays import AGENT_ATTEMPT, AGENT_FAILURE, BLOCK_DELIVERED, BLOCK_STATUS, ActionArray
from cube_env.constants import Action, MoveFailure, PushOutcome
from cube_env.state import CubeState

_ACTIONS = tuple(Action)
_OUTCOMES = tuple(PushOutcome)
_FAILURES = tuple(MoveFailure)


@dataclass(frozen=True, slots=True)
class Push:
    """One attempt of at least one agent to push a block."""

    block: int
    """Id of the block that the agents' lines end at."""
    direction: Action
    agents: tuple[int, ...]
    """Indices of the agents of the lines, ascending."""
    force: int
    """Number of those agents."""
    required: int
    """Sum of the weights in the chain of blocks that would have to move."""
    outcome: PushOutcome


@dataclass(frozen=True, slots=True)
class FailedMove:
    """An agent that wanted to walk, was not moved by a push, and stayed."""

    agent: int
    """Index of the agent."""
    direction: Action
    reason: MoveFailure


class StepReport:
    """What one step did; it stays valid after later steps.

    The tuples are built when they are first read, so that a step whose report nobody reads pays for none of it.
    """

    __slots__ = (
        "_actions",
        "_agent_report",
        "_attempts",
        "_failed_moves",
        "_pushes",
        "delivered",
        "delivered_weight",
        "reward",
        "terminated",
        "truncated",
    )

    reward: float
    """Reward of every agent."""
    terminated: bool
    """No block is left."""
    truncated: bool
    """The step count has reached `max_steps`."""
    delivered: tuple[int, ...]
    """Ids of the blocks delivered in this step, ascending."""
    delivered_weight: int
    """Sum of their weights."""

    def __init__(
        self, state: CubeState, actions: ActionArray, *, step_cost: float, deliver_reward: float, max_steps: int
    ) -> None:
        step, live, weight, attempts, failed = state.world.counters.tolist()
        self.reward = deliver_reward * weight / len(actions) - step_cost
        self.terminated = live == 0
        self.truncated = step >= max_steps
        self.delivered_weight = weight
        self.delivered = ()
        if weight:
            statuses = state.world.block_report[:, BLOCK_STATUS].tolist()
            self.delivered = tuple(block for block, status in enumerate(statuses) if status == BLOCK_DELIVERED)
        # The state's arrays are overwritten by the next step.
        self._attempts = state.world.attempts[:attempts].copy() if attempts else None
        self._agent_report = state.world.agent_report.copy() if attempts or failed else None
        self._actions = actions
        self._pushes: tuple[Push, ...] | None = None if attempts else ()
        self._failed_moves: tuple[FailedMove, ...] | None = None if failed else ()

    @property
    def pushes(self) -> tuple[Push, ...]:
        """The push attempts, in the order in which they were decided."""
        if self._pushes is None:
            assert self._attempts is not None
            assert self._agent_report is not None
            agents: list[list[int]] = [[] for _ in self._attempts]
            for i, attempt in enumerate(self._agent_report[:, AGENT_ATTEMPT].tolist()):
                if attempt >= 0:
                    agents[attempt].append(i)
            self._pushes = tuple(
                Push(block, _ACTIONS[direction], tuple(members), force, required, _OUTCOMES[outcome])
                for (block, direction, force, required, outcome), members in zip(
                    self._attempts.tolist(), agents, strict=True
                )
            )
        return self._pushes

    @property
    def failed_moves(self) -> tuple[FailedMove, ...]:
        """The individual moves that failed, by ascending agent; those of failed pushes are among them."""
        if self._failed_moves is None:
            assert self._agent_report is not None
            actions = self._actions.tolist()
            self._failed_moves = tuple(
                FailedMove(i, _ACTIONS[actions[i]], _FAILURES[failure])
                for i, failure in enumerate(self._agent_report[:, AGENT_FAILURE].tolist())
                if failure >= 0
            )
        return self._failed_moves

    def _fields(self) -> tuple[object, ...]:
        return self.reward, self.terminated, self.truncated, self.delivered, self.pushes, self.failed_moves

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StepReport) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return (
            f"StepReport(reward={self.reward}, terminated={self.terminated}, truncated={self.truncated}, "
            f"delivered={self.delivered}, pushes={self.pushes}, failed_moves={self.failed_moves})"
        )
