"""Rollouts of plans on a copy of the board, to find what would fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cube_env.constants import Action
from cube_env.env import CubeEnv
from cube_env.layout import Layout
from cube_env.observation import SymbolicObservation
from cube_env.symbolic.actions import Navigate
from cube_env.symbolic.control import make_controller
from cube_env.symbolic.controller import BLOCK_GONE, CubeController
from cube_env.symbolic.episode_state import EpisodeState
from cube_env.symbolic.naming import block_of
from maeil.actions import ActionStatus, SymbolicAction


def roll_out(
    observation: SymbolicObservation, plans: Mapping[int, Sequence[SymbolicAction]], steps: int
) -> dict[int, str]:
    """Carry out plans from the board of an observation, with the rules and controllers of the world itself.

    An agent without a plan, or whose plan is over, stays where it is. All actions start afresh: one that is already
    under way gets its full time again.

    Args:
        observation: of any agent; it is not modified.
        plans: actions by agent; they name blocks of the board.
        steps: number of steps to look ahead.

    Returns:
        By agent, the first action that failed or gave up within these steps, and why. If another agent has delivered
        the block, that is not a failure.
    """
    blocks = [(block.weight, (block.row, block.col)) for block in observation.blocks]
    env = CubeEnv(
        layout=Layout(observation.side, observation.agents, blocks), max_steps=steps + 1, infos="none", copy=False
    )
    env.reset(seed=0)
    episode = EpisodeState(env.cube_state)
    number = {block.id: place for place, block in enumerate(observation.blocks)}
    waiting = {agent: [_renamed(action, number) for action in actions] for agent, actions in plans.items()}
    running: dict[int, CubeController] = {}
    failures: dict[int, str] = {}
    for step in range(steps + 1):
        _settle(episode, waiting, running, failures)
        if not running or step == steps:
            break
        joint = np.full(len(observation.agents), int(Action.STAY), dtype=np.int64)
        for agent, controller in running.items():
            joint[agent] = controller.act()
        report = env.step_array(joint)
        episode.changed(report.pushes)
        if report.terminated:
            break
    return failures


def _settle(
    episode: EpisodeState,
    waiting: dict[int, list[SymbolicAction]],
    running: dict[int, CubeController],
    failures: dict[int, str],
) -> None:
    """Start and end actions until nothing changes any more, as the main loop does."""
    changed = True
    while changed:
        changed = False
        for agent in sorted(waiting):
            if agent not in running and waiting[agent]:
                running[agent] = make_controller(episode, agent, waiting[agent][0])
        for agent, controller in list(running.items()):
            end = controller.status()
            if end is None:
                continue
            changed = True
            controller.close()
            del running[agent]
            action = waiting[agent].pop(0)
            if end.status is not ActionStatus.SUCCESS:
                waiting[agent].clear()
                if end != BLOCK_GONE:
                    failures[agent] = f"{action.action}: {end.reason}"


def _renamed(action: SymbolicAction, number: Mapping[int, int]) -> SymbolicAction:
    """Replace a block's id by its index among the remaining blocks; a missing block has no index and fails at once."""
    block = block_of(action)
    if block is None:
        return action
    key = "id" if isinstance(action, Navigate) else "block"
    return action.model_copy(update={key: number.get(block, len(number))})
