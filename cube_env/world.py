"""Adapter that connects CUBE to the main loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PositiveInt, ValidationInfo, field_validator

from cube_env.bound import lower_bound
from cube_env.constants import Action, Direction
from cube_env.env import CubeEnv
from cube_env.generator import layout_from
from cube_env.layout import Layout
from cube_env.rewards import reward_function
from cube_env.scenario import LEVELS, LevelName, Scenario, Weights, curriculum
from cube_env.state import Push, StepReport, render_ansi
from cube_env.symbolic.actions import CUBE_VOCABULARY, EMCOOP_VOCABULARY, Idle, Move, Wait
from cube_env.symbolic.control import make_controller
from cube_env.symbolic.controller import CubeController
from cube_env.symbolic.episode_state import EpisodeState
from cube_env.symbolic.naming import check_plan, known_ids, known_tasks
from cube_env.symbolic.picture import canvas, depict, draw
from cube_env.symbolic.shown import ShownObservation, TextLimits
from cube_env.symbolic.tasks import TaskBoard, open_tasks
from cube_env.views import action_masks, flat_observations, flat_size
from maeil.acting import end_of
from maeil.actions import SymbolicAction
from maeil.component import Component, ComponentConfig, Usual, may_name_files
from maeil.mind import Arrays
from maeil.plans import Plan
from maeil.tasks import OpenTask, Tasks, TaskState
from maeil.world import Controller, Ids, Progress, Transition, World
from quorum_base.drawing import Canvas, Depiction, Drawing, ObservationForm, Way
from quorum_base.environments.errors import WorldError
from quorum_base.painting.scale import TooManyCells, scale_of

LARGEST_SIDE = 1024
"""Largest grid a configuration may request; beyond it a single observation takes tens of megabytes."""


class CubeConfig(ComponentConfig):
    """Configuration of CUBE."""

    name: Literal["cube"]
    n: Annotated[int, Field(ge=1, le=LARGEST_SIDE)]
    """Number of agents; by default it also sets side and blocks, by the curriculum."""
    side: Annotated[int, Field(ge=4, le=LARGEST_SIDE)] | None
    """Cells along each edge; null: the curriculum's for `n`."""
    level: LevelName | None
    """Name of a set of blocks; null: none."""
    blocks: dict[PositiveInt, PositiveInt] | None
    """Number of blocks by weight; null: those of the level, else the curriculum's for `n`."""
    weights: Weights
    """Which weights the curriculum has, of those from `n // 2 + 1` down."""
    layout: str | None
    """A board as ASCII, the name of a library board, or the path of a file; null: drawn from the seed."""
    max_steps: PositiveInt
    """Steps after which an episode is truncated."""
    step_cost: float = Field(ge=0)
    """Cost of a step for every agent."""
    deliver_reward: float = Field(ge=0)
    """Reward per unit of delivered weight, shared by the agents."""
    reward: str
    """Name of a reward registered in `cube_env.rewards`."""
    vocabulary: Literal["cube", "emcoop"]
    """Symbolic actions that the agents may use."""
    allow_unsolvable: bool
    """Whether a board may hold a block heavier than the whole team."""
    text: TextLimits
    """How much of the board a prompt shows."""
    observation: Annotated[ObservationForm, Usual("text")]
    """Whether a prompt shows the board as text, as a picture, or both."""

    @classmethod
    def implied(cls, values: Mapping[str, Any]) -> Mapping[str, int]:
        """Return the number of agents on a given board."""
        try:
            return {"n": len(layout_from(values["layout"]).agents)} if values.get("layout") else {}
        except (WorldError, AttributeError, TypeError):
            return {}  # the checks of the values name what is wrong

    @field_validator("blocks")
    @classmethod
    def _are_those_of_the_level(
        cls, blocks: dict[PositiveInt, PositiveInt] | None, info: ValidationInfo
    ) -> dict[PositiveInt, PositiveInt] | None:
        """Expand the level into its blocks, so that the configuration contains them."""
        level = info.data.get("level")
        if level is not None and blocks not in (None, LEVELS[level]):
            raise ValueError(f"env.level={level} has its own blocks: set env.level=null to use env.blocks")
        return dict(LEVELS[level]) if level is not None else blocks

    @field_validator("layout")
    @classmethod
    def _is_board(cls, source: str | None, info: ValidationInfo) -> str | None:
        """Store the board itself, so that the configuration and its hash contain it wherever it came from."""
        if source is None:
            return None
        if info.data.get("level") is not None:
            raise ValueError(f"env.level={info.data['level']} has its own blocks: set env.level=null to use env.layout")
        board = layout_from(source) if may_name_files(info) else Layout.parse(source)
        return f"{board}\n"

    @field_validator("reward")
    @classmethod
    def _is_registered(cls, name: str) -> str:
        reward_function(name)
        return name


class CubeWorld(World):
    """CUBE as a world of the main loop.

    Implements `Changeable` and `GivesArrays` of `maeil.world`, and `Drawable` and `ShowsWays` of `quorum_base.drawing`.

    Args:
        config: the board and the rewards.

    Raises:
        WorldError: the board is impossible; the message says which part and why.
    """

    name = "cube"

    def __init__(self, config: CubeConfig, _context: None = None) -> None:
        self.env = CubeEnv(
            scenario=_scenario(config) if config.layout is None else None,
            layout=_layout(config) if config.layout is not None else None,
            max_steps=config.max_steps,
            step_cost=config.step_cost,
            deliver_reward=config.deliver_reward,
            infos="none",
            copy=False,
        )
        self.agents: tuple[str, ...] = tuple(self.env.possible_agents)
        is_emcoop = config.vocabulary == "emcoop"
        self.vocabulary = EMCOOP_VOCABULARY if is_emcoop else CUBE_VOCABULARY
        self.idle: SymbolicAction = Wait() if is_emcoop else Idle()
        self._facts = {
            "vocabulary": config.vocabulary,
            "max_steps": config.max_steps,
            "faces": config.text.faces,
            "max_agents": config.text.max_agents,
        }
        self._reward = reward_function(config.reward)
        self._text = config.text
        self.observation = config.observation
        if config.observation.has_picture:
            _check_legible(self.env.side)
        self._episode: EpisodeState
        self._tasks: TaskBoard
        self._pushes: tuple[Push, ...] = ()
        self._delivered = self._delivered_weight = 0
        self._allows_unsolvable = config.allow_unsolvable

    @property
    def blocks(self) -> int:
        """Number of blocks at the start of every episode."""
        return self.env.blocks

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Draw the board for a seed; return it with its lower bound on steps."""
        self.env.reset(seed=seed)
        state = self.env.cube_state
        self._episode = EpisodeState(state)
        self._tasks = TaskBoard(state)
        self._delivered = self._delivered_weight = 0
        self._pushes = ()
        agents: list[list[int]] = state.agents.tolist()
        blocks = [(weight, (row, col)) for row, col, weight, _ in state.block_table.tolist()]
        return {
            "side": state.side,
            "agents": agents,
            "blocks": [[weight, list(cell)] for weight, cell in blocks],
            "max_steps": self.env.max_steps,
            "lower_bound": lower_bound(Layout(state.side, agents, blocks)),
        }

    def limit(self, max_steps: int) -> None:
        """Truncate episodes after `max_steps` steps; implements `maeil.world.Limited`."""
        self.env.limit(max_steps)
        self._facts = {**self._facts, "max_steps": max_steps}

    def observe(self, agent: int) -> ShownObservation:
        """Return the symbolic observation of an agent; `env.text` sets what a prompt shows of the board."""
        seen = self.env.symbolic_observation(agent, self._episode.roster.history(agent))
        return ShownObservation.of(seen, self._text)

    def global_observation(self) -> ShownObservation:
        """Return the whole board, for a participant without a body."""
        return ShownObservation.of(self.env.symbolic_observation(None), self._text)

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Return errors for unknown names in a plan and for quorums larger than the team."""
        return check_plan(self._episode, agent, plan)

    def ids(self, agent: int | None) -> Ids:
        """Return the ids of the blocks on the board and the number of agents."""
        return known_ids(self._episode, agent)

    def tasks(self, agent: int | None, text: str = "") -> Tasks:  # noqa: ARG002 (all see the board)
        """Return the tasks of the blocks on the board."""
        return known_tasks(self._episode)

    def prompt_facts(self) -> Mapping[str, Any]:
        """Return the configuration's facts about actions, steps, and how much of the board a prompt shows."""
        return self._facts

    def array_sizes(self, agent: int) -> tuple[int, int]:  # noqa: ARG002 (all see the same)
        """Return the length of `cube_env.flat_observations` and the number of primitives."""
        return flat_size(len(self.agents), self.blocks), len(Action)

    def arrays(self, agent: int) -> Arrays:
        """Return an agent's row in `cube_env.flat_observations` and its mask."""
        world = self.env.cube_state.world
        return Arrays(flat_observations(world, self.env.max_steps)[agent], action_masks(world)[agent])

    def action_of(self, agent: int, index: int) -> SymbolicAction:  # noqa: ARG002 (all can do the same)
        """Return a step in a direction, or the idle action."""
        return Move(direction=Direction(_name(Action(index)))) if index != Action.STAY else self.idle

    def start_action(self, agent: int, action: SymbolicAction) -> CubeController:
        """Start a symbolic action."""
        return make_controller(self._episode, agent, action)

    def step(self, joint: Sequence[int]) -> Transition:
        """Advance by one step."""
        before = self.env.snapshot() if self._reward is not None else None
        primitives = np.array(joint, dtype=np.int64)
        report = self.env.step_array(primitives)
        self._pushes = report.pushes
        self._episode.changed(report.pushes)
        self._delivered += len(report.delivered)
        self._delivered_weight += report.delivered_weight
        reward = report.reward
        if self._reward is not None:
            assert before is not None
            reward = self._reward(before, self.env.snapshot(), report)
        attempts = self._tasks.attempts(report, primitives, self._episode.pushing)
        end = end_of(success=report.terminated, truncated=report.truncated)
        return Transition(tuple(_outcomes(report)), reward, end, attempts)

    def change(self, changes: Mapping[str, Any]) -> None:
        """Move, add or remove agents and blocks; see `cube_env.alteration`.

        A removed block is not delivered; it is no longer a goal.

        Raises:
            WorldError: the changes are malformed or the resulting board is impossible; the message names the place.
        """
        if self.env.change(changes, None if self._allows_unsolvable else len(self.agents)):
            self._episode.altered()
            self._tasks.grow()
            self._pushes = ()

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        """Return the tasks whose constraints have changed; see `cube_env.constraints`."""
        return self._tasks.changes(np.array(joint, dtype=np.int64), self._episode.pushing, plans)

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> Sequence[OpenTask]:
        """Return the relevant pushes; see `cube_env.symbolic.tasks`."""
        return open_tasks(self.env.cube_state, plans, text)

    def distance(self, agent: int, other: int) -> float:
        """Return the Manhattan distance between two agents."""
        cells = self.env.cube_state.agents
        return float(abs(cells[agent] - cells[other]).sum())

    def progress(self) -> Progress:
        """Return how many blocks are delivered; the score is their weight."""
        blocks = self._delivered + self.env.cube_state.live
        return Progress(self._delivered, blocks, float(self._delivered_weight))

    def ansi(self) -> str:
        """Draw the board as text."""
        return render_ansi(self.env.snapshot())

    def canvas(self) -> Canvas:
        """Return the frame of the board."""
        return canvas(self.env.side)

    def draw(self) -> Drawing:
        """Draw the board, with the pushes of the step that led to it."""
        return draw(self.env.snapshot(), range(len(self.agents)), self._pushes)

    def depict(self, agent: int | None) -> Depiction:
        """Draw what an agent observes: the board, with the agents that the prompt shows."""
        return depict(self.global_observation() if agent is None else self.observe(agent))

    def way(self, controller: Controller) -> Way | None:
        """Return where a running action leads; see `quorum_base.drawing.ShowsWays`."""
        assert isinstance(controller, CubeController)
        return controller.way()

    def primitive_name(self, primitive: int) -> str:
        """Return the name of a primitive."""
        return _name(Action(primitive))


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
    usual = curriculum(config.n, config.weights)
    if config.blocks is not None:
        _check_unused_weights(config, "env.blocks")
    blocks = config.blocks if config.blocks is not None else usual.blocks
    _check_weights("blocks", blocks, config)
    return Scenario(
        side=config.side if config.side is not None else usual.side,
        agents=config.n,
        blocks=blocks,
    )


def _check_unused_weights(config: CubeConfig, given: str) -> None:
    if config.weights != "halving":
        raise WorldError(f"weights: only for the curriculum, but {given} sets the blocks: leave one of them out")


def _check_weights(key: str, weights: Iterable[int], config: CubeConfig) -> None:
    """Reject a board that no team can solve, unless the configuration allows it."""
    heaviest = max(weights, default=0)
    if heaviest > config.n and not config.allow_unsolvable:
        raise WorldError(
            f"{key}: a block of weight {heaviest} needs {heaviest} agents at once, but n is {config.n}: "
            f"set n={heaviest}, or env.allow_unsolvable=true for a board that cannot be solved"
        )


def _check_legible(side: int) -> None:
    """Reject a picture whose cells would be illegible."""
    try:
        scale_of(side, side, lines=2)
    except TooManyCells as error:
        raise WorldError(f"observation: {error}; set env.observation=text, or a smaller side") from error


def _layout(config: CubeConfig) -> Layout:
    assert config.layout is not None
    _check_unused_weights(config, "env.layout")
    if config.side is not None or config.blocks is not None:
        raise WorldError("layout: an explicit layout has its own side and blocks: leave env.side and env.blocks null")
    layout = layout_from(config.layout)
    if len(layout.agents) != config.n:
        raise WorldError(
            f"layout: the board has {len(layout.agents)} agents, but n is {config.n}: set n={len(layout.agents)}"
        )
    _check_weights("layout", (weight for weight, _ in layout.blocks), config)
    return layout


component = Component(CubeConfig, CubeWorld)
