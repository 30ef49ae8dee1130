"""CUBE joined to the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, PositiveInt

from cube_env.constants import Action
from cube_env.curriculum import Scenario, curriculum
from cube_env.env import CubeEnv
from cube_env.errors import CubeError
from cube_env.layout import Layout
from cube_env.observation import HistoryEntry, SymbolicObservation
from cube_env.render import render_ansi
from cube_env.report import StepReport
from cube_env.symbolic.actions import CUBE_VOCABULARY, Idle, Rendezvous
from cube_env.symbolic.controllers import control
from cube_env.symbolic.ground import Ground
from cube_env.symbolic.history import HISTORY_LENGTH, RecordedController
from maeil.actions import SymbolicAction
from maeil.component import Component, ComponentConfig
from maeil.plans import Plan
from maeil.world import Progress, Transition


class CubeConfig(ComponentConfig):
    """Configuration of CUBE."""

    name: Literal["cube"]
    n: PositiveInt
    """Number of agents; without the following it also names side and blocks, by the curriculum."""
    side: PositiveInt | None
    """Cells along each edge; null: the curriculum's for `n`."""
    blocks: dict[PositiveInt, PositiveInt] | None
    """Number of blocks by weight; null: the curriculum's for `n`."""
    layout: str | None
    """An explicit board as ASCII, or the path of a file that holds one; null: drawn from the seed."""
    max_steps: PositiveInt
    """Steps after which an episode is truncated."""
    step_cost: float = Field(ge=0)
    """What each step costs every agent."""
    deliver_reward: float = Field(ge=0)
    """Reward for each unit of delivered weight, shared by the agents."""


class CubeWorld:
    """CUBE as the loop sees it; fulfils `maeil.world.World`.

    Args:
        config: the board and the rewards.

    Raises:
        CubeError: the board is impossible; the message says which part and why.
    """

    name = "cube"
    vocabulary = CUBE_VOCABULARY
    idle = Idle()

    def __init__(self, config: CubeConfig) -> None:
        layout = _layout(config) if config.layout is not None else None
        rewards: dict[str, Any] = {"step_cost": config.step_cost, "deliver_reward": config.deliver_reward}
        if layout is not None:
            self.env = CubeEnv(layout=layout, max_steps=config.max_steps, **rewards)
        else:
            self.env = CubeEnv(scenario=_scenario(config), max_steps=config.max_steps, **rewards)
        self.agents: tuple[str, ...] = tuple(self.env.possible_agents)
        self._ground: Ground
        self._histories: list[deque[HistoryEntry]]
        self._delivered_weight = 0

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Draw the board of a seed."""
        self.env.reset(seed=seed)
        state = self.env.cube_state
        self._ground = Ground(state)
        self._histories = [deque(maxlen=HISTORY_LENGTH) for _ in self.agents]
        self._delivered_weight = 0
        return {
            "side": state.side,
            "agents": state.agents.tolist(),
            "blocks": [[weight, [row, col]] for row, col, weight, _ in state.block_table.tolist()],
            "max_steps": self.env.max_steps,
        }

    def observe(self, agent: int) -> SymbolicObservation:
        """Give the symbolic observation of an agent."""
        return self.env.symbolic_observation(agent, tuple(self._histories[agent]))

    def problems(self, agent: int, plan: Plan) -> tuple[str, ...]:  # noqa: ARG002 (all agents can do the same)
        """Tell which blocks of a plan do not exist or are delivered, and which quorum is larger than the team."""
        found = []
        blocks = self.env.cube_state.block_table
        for action in plan.actions:
            block = getattr(action, "block", None)
            if block is not None and block >= len(blocks):
                found.append(f"{action}: there is no block {block}; ids go from 0 to {len(blocks) - 1}")
            elif block is not None and not self._ground.is_live(block):
                found.append(f"{action}: block {block} is delivered")
            if isinstance(action, Rendezvous) and action.count > len(self.agents):
                found.append(f"{action}: count {action.count} is more than the {len(self.agents)} agents of the team")
        return tuple(found)

    def ground(self, agent: int, action: SymbolicAction) -> RecordedController:
        """Start a symbolic action."""
        return RecordedController(control(self._ground, agent, action), action, self._histories[agent])

    def step(self, joint: Sequence[int]) -> Transition:
        """Advance by one step."""
        report = self.env.step_array(np.array(joint, dtype=np.int64))
        self._ground.changed()
        self._delivered_weight += report.delivered_weight
        return Transition(tuple(_outcomes(report)), report.reward, report.terminated, report.truncated)

    def distance(self, agent: int, other: int) -> float:
        """Give the Manhattan distance between two agents."""
        cells = self.env.cube_state.agents
        return float(abs(cells[agent] - cells[other]).sum())

    def progress(self) -> Progress:
        """Tell how many blocks are delivered; the score is their weight."""
        state = self.env.cube_state
        blocks = len(state.block_table)
        return Progress(blocks - state.live, blocks, float(self._delivered_weight))

    def ansi(self) -> str:
        """Draw the board as text."""
        return render_ansi(self.env.side, self.env.snapshot())


def _outcomes(report: StepReport) -> list[Mapping[str, Any]]:
    outcomes: list[Mapping[str, Any]] = [
        {
            "what": "push",
            "block": push.block,
            "direction": _name(push.direction),
            "agents": push.agents,
            "force": push.force,
            "required": push.required,
            "outcome": push.outcome.name,
        }
        for push in report.pushes
    ]
    if report.delivered:
        outcomes.append({"what": "delivery", "blocks": report.delivered})
    if report.failed_moves:
        moves = [(move.agent, _name(move.direction), move.reason.name) for move in report.failed_moves]
        outcomes.append({"what": "failed_moves", "moves": moves})
    return outcomes


def _name(direction: Action) -> str:
    return direction.name.lower()


def _scenario(config: CubeConfig) -> Scenario:
    usual = curriculum(config.n)
    return Scenario(
        side=config.side if config.side is not None else usual.side,
        agents=config.n,
        blocks=config.blocks if config.blocks is not None else usual.blocks,
    )


def _layout(config: CubeConfig) -> Layout:
    assert config.layout is not None
    if config.side is not None or config.blocks is not None:
        raise CubeError("layout: an explicit layout has its own side and blocks: leave env.side and env.blocks at null")
    text = config.layout
    if "\n" not in text.strip():
        try:
            text = Path(text).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CubeError(f"layout: cannot read {config.layout}: {error}") from error
    layout = Layout.parse(text)
    if len(layout.agents) != config.n:
        raise CubeError(
            f"layout: the board has {len(layout.agents)} agents and n is {config.n}: set n={len(layout.agents)}"
        )
    return layout


component = Component(CubeConfig, CubeWorld)
