"""Adapter that connects level-based foraging to the main loop, using `ForagingEnv` of the package `lbforaging`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PositiveInt

from lbf_env.observation import ForagingObservation, distance, food_cell, food_name, named_foods, neighbours
from lbf_env.symbolic import picture
from lbf_env.symbolic.control import (
    LOAD,
    NONE,
    PRIMITIVES,
    VOCABULARY,
    Forage,
    GoTo,
    Load,
    Wait,
    task_of,
)
from lbf_env.symbolic.tasks import loaders, open_tasks, states
from maeil.acting import end_of
from maeil.actions import SymbolicAction
from maeil.component import Component, ComponentConfig
from maeil.controllers import Repeat
from maeil.mind import Arrays
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, OpenTask, Tasks, TaskState, no_such_task
from maeil.world import Controller, Ids, Progress, Transition, World
from quorum_base.drawing import Canvas, Drawing, Way
from quorum_base.environments.errors import PlacementError, WorldError

INSTALL = "pip install 'quorum-harness[lbf]'"
"""Command that installs the package."""


class ForagingConfig(ComponentConfig):
    """Configuration of level-based foraging; comments in the configuration file give the package's own names."""

    name: Literal["foraging"]
    n: PositiveInt
    """Number of agents."""
    side: Annotated[int, Field(ge=5, le=100)]
    """Number of rows and of columns."""
    foods: PositiveInt
    """Maximum number of foods; foods that do not fit are left out."""
    max_level: PositiveInt
    """Highest level of an agent; the lowest is 1."""
    max_food_level: PositiveInt | None
    """Highest level of a food; null: the sum of the three lowest levels of the team."""
    coop: bool
    """Whether every food has the highest level, so that agents must cooperate."""
    sight: PositiveInt | None
    """Rows and columns to each side that an agent sees; null: all."""
    penalty: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Penalty for each agent that takes part in a failed attempt to load."""
    max_steps: PositiveInt
    """Steps after which an episode is truncated."""


class ForagingWorld(World):
    """Level-based foraging as a world of the main loop.

    Implements `Limited` and `GivesArrays` of `maeil.world`, and `Drawable` and `ShowsWays` of `quorum_base.drawing`.
    Primitives are the numbers of the package's actions.

    Args:
        config: field, levels and sight.

    Raises:
        WorldError: the package is not installed, or the field is too small for the team.
    """

    name = "foraging"
    vocabulary = VOCABULARY

    def __init__(self, config: ForagingConfig, _context: None = None) -> None:
        try:
            from lbforaging.foraging import ForagingEnv  # noqa: PLC0415 (an extra)
        except ModuleNotFoundError as error:
            raise WorldError(f"env=foraging needs the package lbforaging: {INSTALL}") from error
        if 2 * config.n > config.side**2:
            raise WorldError(f"n: {config.n} agents would fill more than half of the cells: lower n or raise env.side")
        self._sight = config.sight if config.sight is not None else config.side
        self.env = ForagingEnv(
            players=config.n,
            min_player_level=1,
            max_player_level=config.max_level,
            min_food_level=1,
            max_food_level=config.max_food_level,
            field_size=(config.side, config.side),
            max_num_food=config.foods,
            sight=self._sight,
            max_episode_steps=config.max_steps,
            force_coop=config.coop,
            penalty=config.penalty,
        )
        self.agents = tuple(f"agent_{agent}" for agent in range(config.n))
        self.idle: SymbolicAction = Wait()
        self._facts = {"side": config.side, "sight": config.sight, "penalty": config.penalty}

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Generate the field for a seed, as the package does in a new environment.

        Raises:
            PlacementError: no food fits the field.
        """
        for player in self.env.players:
            player.position = None  # otherwise the package avoids the last episode's cells
        self._arrays, _ = self.env.reset(seed=seed)
        self._look()
        self._spawned = len(self._field.foods)
        self._score = 0.0
        self._known: dict[Task, TaskState] = {}
        if not self._spawned:
            raise PlacementError(f"seed {seed}: no food fits between the agents: lower n or raise env.side")
        field = self._field
        return {"side": field.side, "foods": field.foods, "agents": field.agents, "max_steps": field.max_steps}

    def limit(self, max_steps: int) -> None:
        """Truncate episodes after `max_steps` steps; implements `maeil.world.Limited`."""
        self.env._max_episode_steps = max_steps
        self._look()

    def observe(self, agent: int) -> ForagingObservation:
        """Return the part of the field in the agent's array of the package."""
        field = self._field
        corner = [max(part - self._sight, 0) for part in field.cells[agent]]
        rows = self._arrays[agent].reshape(-1, 3).astype(int)
        shown = {tuple(row) for row in (rows[rows[:, 0] >= 0] + [*corner, 0]).tolist()}
        there = {(row, col) for row, col, _ in shown}
        return ForagingObservation(
            self.agents[agent],
            field.side,
            self._sight,
            tuple(food for food in field.foods if food in shown),
            tuple(one for one in field.agents if one[1:3] in there),
            field.step,
            field.max_steps,
        )

    def global_observation(self) -> ForagingObservation:
        """Return the whole field, for a participant without a body."""
        return self._field

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Return errors for cells of a plan off the field, blocked by food or, to the agent's knowledge, empty."""
        field, found = self._field, []
        for action in plan.actions:
            if isinstance(action, GoTo | Load):
                cell = action.row, action.col
                if max(cell) >= field.side:
                    found.append(f"{action}: rows and columns go from 0 to {field.side - 1}")
                elif isinstance(action, GoTo) and cell in field.food_levels:
                    found.append(f"{action}: {food_name(cell)} is there, which nobody can walk over: load it")
                elif isinstance(action, Load) and not field.may_hold_food(cell, agent):
                    found.append(f"{action}: there is no food in this cell")
        if plan.task is not None:
            aim = food_cell(plan.task.target)
            if plan.task != (task_of(aim) if aim else None) or not (aim and field.may_hold_food(aim, agent)):
                found.append(no_such_task(plan.task, self.tasks(agent)))
        return tuple(found)

    def ids(self, agent: int | None) -> Ids:
        """Return the cells of the field and of the foods; if the agent does not see all cells, all for `load`."""
        places = range(self._field.side)
        blind = agent is not None and self._sight < self._field.side
        foods: list[dict[str, Sequence[int]]] = [{"row": [row], "col": [col]} for row, col, _ in self._field.foods]
        return {"go_to": [{"row": places, "col": places}], "load": [{"row": places, "col": places}] if blind else foods}

    def tasks(self, agent: int | None, text: str = "") -> Tasks:
        """Return the foods in sight and those named in a text."""
        seen = self._field if agent is None else self.observe(agent)
        named = (cell for cell in named_foods(text) if self._field.may_hold_food(cell, agent))
        return {"load": [food_name(cell) for cell in dict.fromkeys((*seen.food_levels, *named))]}

    def prompt_facts(self) -> Mapping[str, Any]:
        """Return the size of the field, the agents' sight, and the cost of a failed attempt to load."""
        return self._facts

    def array_sizes(self, agent: int) -> tuple[int, int]:
        """Return the length of the package's observation and the number of its actions."""
        return self.env.observation_space[agent].shape[0], len(PRIMITIVES)

    def arrays(self, agent: int) -> Arrays:
        """Return the package's observation, and a mask of the actions it considers valid."""
        mask = np.zeros(len(PRIMITIVES), dtype=np.int8)
        mask[[action.value for action in self.env._valid_actions[self.env.players[agent]]]] = 1
        return Arrays(self._arrays[agent].copy(), mask)

    def action_of(self, agent: int, index: int) -> SymbolicAction:
        """Return a walk to the next cell, an attempt to load the food that the package would load, or a wait.

        Unlike the package's action, the walk goes around an agent in the way.
        """
        near = neighbours(self._field.cells[agent])
        if index == LOAD:
            row, col = next(cell for cell in near if cell in self._field.food_levels)
            return Load(row=row, col=col, patience=1)
        return GoTo(row=near[index - 1][0], col=near[index - 1][1], patience=0) if index != NONE else self.idle

    def start_action(self, agent: int, action: SymbolicAction) -> Controller:
        """Start a symbolic action."""
        if isinstance(action, Wait):
            return Repeat(NONE, action.steps)
        assert isinstance(action, GoTo | Load)
        return Forage(self.global_observation, agent, action)

    def step(self, joint: Sequence[int]) -> Transition:
        """Advance by one step of the package."""
        before = self._field
        self._arrays, rewards, *_ = self.env.step(joint)
        self._look()
        left, cells = self._field.food_levels, self._field.cells
        groups = {food: loaders(before, joint, food) for food in before.food_levels}
        attempts = tuple(Attempt(task_of(food), group, food not in left) for food, group in groups.items() if group)
        outcomes: list[Mapping[str, Any]] = [
            {"what": "loaded" if each.succeeded else "too_weak", "food": each.task.target, "agents": each.agents}
            for each in attempts
        ]
        walking = (agent for agent, primitive in enumerate(joint) if 0 < primitive < len(PRIMITIVES) - 1)
        outcomes += [{"what": "stayed", "agent": one} for one in walking if cells[one] == before.cells[one]]
        each_reward = tuple(float(reward) for reward in rewards)
        self._score += fsum(each_reward)
        return Transition(
            tuple(outcomes),
            fsum(each_reward) / len(each_reward),
            end_of(success=not left, truncated=self._field.step >= self._field.max_steps),
            attempts,
            rewards=each_reward,
        )

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        """Return the foods whose constraints have changed; see `lbf_env.symbolic.tasks`."""
        now = {state.task: state for state in states(self._field, joint, plans)}
        over = [TaskState(task, 0, 0, 0, 0, 0, dependency=True) for task in self._known if task not in now]
        changed = [state for task, state in now.items() if state != self._known.get(task)]
        self._known = now
        return (*changed, *over)

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> Sequence[OpenTask]:
        """Return the relevant foods; see `lbf_env.symbolic.tasks`."""
        return open_tasks(self._field, plans, text)

    def distance(self, agent: int, other: int) -> float:
        """Return the Manhattan distance between two agents, in cells."""
        return distance(self._field.cells[agent], self._field.cells[other])

    def progress(self) -> Progress:
        """Return how many foods are loaded; the score is the sum of all rewards, at most 1."""
        return Progress(self._spawned - len(self._field.foods), self._spawned, self._score)

    def ansi(self) -> str:
        """Draw the field as text."""
        return picture.ansi(self._field)

    def canvas(self) -> Canvas:
        """Return the frame of the field."""
        return Canvas(self._field.side, self._field.side, picture.KINDS)

    def draw(self) -> Drawing:
        """Draw the field."""
        return picture.draw(self._field)

    def way(self, controller: Controller) -> Way | None:
        """Return the way of a walk."""
        return controller.way() if isinstance(controller, Forage) else None

    def primitive_name(self, primitive: int) -> str:
        """Return the name of a primitive."""
        return PRIMITIVES[primitive]

    def _look(self) -> None:
        """Convert the current field into plain numbers."""
        env = self.env
        foods = tuple((row, col, int(env.field[row, col])) for row, col in np.argwhere(env.field).tolist())
        agents = tuple(
            (agent, int(player.position[0]), int(player.position[1]), int(player.level))
            for agent, player in enumerate(env.players)
        )
        steps = env.current_step, env._max_episode_steps
        self._field = ForagingObservation("", env.rows, self._sight, foods, agents, *steps)


component = Component(ForagingConfig, ForagingWorld)
