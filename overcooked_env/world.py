"""Adapter that connects Overcooked to the main loop, using `OvercookedGridworld` of the package `overcooked-ai`."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from itertools import chain
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PositiveInt

from maeil.acting import end_of
from maeil.actions import SymbolicAction
from maeil.component import Component, ComponentConfig
from maeil.controllers import Repeat
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, OpenTask, Tasks, TaskState, no_such_task
from maeil.world import Controller, Ids, Progress, Transition, World
from overcooked_env.observation import (
    COUNTER,
    DIRECTIONS,
    DISPENSERS,
    FLOOR,
    POT,
    SERVING,
    KitchenObservation,
    places,
    pot_name,
    reachable,
)
from overcooked_env.symbolic import picture
from overcooked_env.symbolic.control import (
    INTERACT,
    PRIMITIVES,
    STAY,
    VOCABULARY,
    Errand,
    Wait,
    Work,
    misfit,
    task_of,
)
from overcooked_env.symbolic.tasks import open_tasks, states, takers
from quorum_base.drawing import Canvas, Drawing, Way
from quorum_base.environments.errors import WorldError
from quorum_base.environments.grid import Cell, distance
from quorum_base.user_errors import choices_hint

INSTALL = "pip install 'quorum-harness[overcooked]'"
"""Command that installs the package."""
_AT = {"fill": POT, "cook": POT, "scoop": POT, "serve": SERVING, "put_down": COUNTER, "go_to": FLOOR}
"""The letter of the cells where each action is done."""


class OvercookedConfig(ComponentConfig):
    """Configuration of Overcooked."""

    name: Literal["overcooked"]
    n: PositiveInt
    """Number of agents; must match the layout."""
    layout: Annotated[str, Field(pattern=r"^\w+$")]
    """Name of a layout of the package."""
    drawn_starts: bool
    """Whether a seed draws where agents start; otherwise they always start as in the layout."""
    soups: PositiveInt | None
    """Number of ordered soups that ends an episode; null: as many as agents can serve in `max_steps`."""
    max_steps: PositiveInt
    """Steps after which an episode is truncated."""


def load_package() -> ModuleType:
    """Import `overcooked_ai_py.mdp.overcooked_mdp` without the output and warnings of its old `gym`.

    Raises:
        WorldError: the package is not installed.
    """
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            from overcooked_ai_py.mdp import actions, overcooked_mdp  # noqa: F401, PLC0415 (an extra)
        except ModuleNotFoundError as error:
            raise WorldError(f"env=overcooked needs the package overcooked-ai: {INSTALL}") from error
    found: ModuleType = overcooked_mdp
    return found


class OvercookedWorld(World):
    """Overcooked as a world of the main loop.

    Implements `Limited` of `maeil.world`, and `Drawable` and `ShowsWays` of `quorum_base.drawing`. Primitives are the
    numbers of the package's actions.

    Args:
        config: layout, starts and goal.

    Raises:
        WorldError: the package is not installed, or the layout is unknown or for another number of agents.
    """

    name = "overcooked"
    vocabulary = VOCABULARY

    def __init__(self, config: OvercookedConfig, _context: None = None) -> None:
        self._package = load_package()
        layouts = Path(self._package.__file__ or "").parents[1] / "data" / "layouts"
        names = sorted(file.stem for file in layouts.glob("*.layout"))
        if config.layout not in names:
            hint = choices_hint(config.layout, "Layouts", names)
            raise WorldError(f"layout: there is no '{config.layout}'. {hint}")
        self.mdp = self._package.OvercookedGridworld.from_layout_name(config.layout)
        if config.n != self.mdp.num_players:
            fits = self.mdp.num_players
            raise WorldError(f"n: the layout {config.layout} is for {fits} agents: set n={fits}")
        self._drawn = config.drawn_starts
        self._goal = config.soups or 0
        self._max_steps = config.max_steps
        self._grid = tuple("".join(line) for line in self.mdp.terrain_mtx)
        self.state = self.mdp.get_standard_start_state()
        self._orders = self._read_orders()
        if not all(isfinite(reward) for _, reward, _ in self._orders):
            raise WorldError(f"layout: {config.layout} has rewards that are not finite: choose another layout")
        self.agents = tuple(f"agent_{agent}" for agent in range(config.n))
        self.idle: SymbolicAction = Wait()
        self._facts = {"soups": config.soups, "tomatoes": bool(places(self._grid, DISPENSERS["tomato"]))}

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Start as in the layout, or in an empty kitchen with random starts.

        Each random start is in the same connected part of the floor as a start of the layout, so that a kitchen that
        requires a team still does. The assignment of agents to parts is random, too.
        """
        self._use_recipes()
        self.state = self.mdp.get_standard_start_state()
        if self._drawn:
            rng, taken = np.random.default_rng(seed), list[Cell]()
            for col, row in rng.permutation(self.mdp.start_player_positions).tolist():
                part = reachable(self._grid, (row, col))
                free = [cell for cell in places(self._grid, FLOOR) if cell in part and cell not in taken]
                taken.append(free[int(rng.integers(len(free)))])
            self.state = self._package.OvercookedState.from_player_positions(
                [(col, row) for row, col in taken], self.mdp.start_bonus_orders, self.mdp.start_all_orders
            )
        self._delivered, self._score = 0, 0.0
        self._known: dict[Task, TaskState] = {}
        self._look()
        return {"grid": self._grid, "agents": self._seen.agents, "orders": self._orders, "max_steps": self._max_steps}

    def limit(self, max_steps: int) -> None:
        """Truncate episodes after `max_steps` steps; implements `maeil.world.Limited`."""
        self._max_steps = max_steps
        self._look()

    def observe(self, agent: int) -> KitchenObservation:
        """Return the kitchen, which agents see completely."""
        return replace(self._seen, agent=self.agents[agent])

    def global_observation(self) -> KitchenObservation:
        """Return the kitchen, for a participant without a body."""
        return self._seen

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Return errors for an unsuitable held item at the first action and for actions out of reach."""
        found, may = [], self.ids(agent)
        first, hand = next(iter(plan.actions), None), self._seen.held[agent]
        if isinstance(first, Work) and (reason := misfit(first, hand)):
            found.append(f"{first}: {reason}: the agent holds {hand or 'nothing'}")
        for action in plan.actions:
            given, choices = action.arguments(), may.get(action.action, [{}])
            if not any(all(given[key] in values for key, values in choice.items()) for choice in choices):
                few = ", ".join(str([*chain(*choice.values())]) for choice in choices[:6]) or "none"
                found.append(f"{action}: not possible there; {action.action} in reach: {few}")
        if plan.task is not None and plan.task.target not in self.tasks(agent).get(plan.task.kind, ()):
            found.append(no_such_task(plan.task, self.tasks(agent)))
        return tuple(found)

    def ids(self, agent: int | None) -> Ids:
        """Return the cells within an agent's reach, by action, and the items it can ever fetch.

        Other agents can put anything on a counter. A participant without a body gets the union over all agents.
        """
        reach = {cell for one in range(len(self.agents)) if agent in (None, one) for cell in self._seen.reach(one)}
        cells = {name: [cell for cell in places(self._grid, letter) if cell in reach] for name, letter in _AT.items()}
        sources = {item: places(self._grid, letter) for item, letter in DISPENSERS.items()}
        items = [item for item, found in sources.items() if found and (cells["put_down"] or reach.intersection(found))]
        named: dict[str, Sequence[Mapping[str, Sequence[Any]]]] = {
            name: [{"row": [row], "col": [col]} for row, col in found] for name, found in cells.items()
        }
        soup = ["soup"] if cells["put_down"] else []
        return {**named, "fetch": [{"item": [*items, *soup]}], "serve": [{}] if cells["serve"] else []}

    def tasks(self, agent: int | None, text: str = "") -> Tasks:  # noqa: ARG002
        """Return the soup of each pot, including for agents that cannot reach it, because they bring ingredients."""
        return {"soup": [pot_name(pot) for pot in self._seen.contents]}

    def prompt_facts(self) -> Mapping[str, Any]:
        """Return the number of soups to serve, and whether there are tomatoes."""
        return self._facts

    def start_action(self, agent: int, action: SymbolicAction) -> Controller:
        """Start a symbolic action."""
        if isinstance(action, Wait):
            return Repeat(STAY, action.steps)
        assert isinstance(action, Work)
        return Errand(self.global_observation, agent, action)

    def step(self, joint: Sequence[int]) -> Transition:
        """Advance by one step of the package."""
        before = self._seen
        numbers = self._package.Action.INDEX_TO_ACTION
        self._use_recipes()
        self.state, info = self.mdp.get_state_transition(self.state, [numbers[primitive] for primitive in joint])
        rewards = [float(reward) for reward in info["sparse_reward_by_agent"]]
        self._delivered += sum(reward > 0 for reward in rewards)
        self._score += sum(rewards)
        self._look()
        groups = {pot: takers(before, joint, pot) for pot in before.contents}
        attempts = tuple(Attempt(task_of(pot), g, before.contents[pot][1] == 0) for pot, g in groups.items() if g)
        return Transition(
            tuple(self._happened(before, joint, rewards)),
            sum(rewards),
            end_of(success=0 < self._goal <= self._delivered, truncated=self.state.timestep >= self._max_steps),
            attempts,
        )

    def _happened(self, before: KitchenObservation, joint: Sequence[int], rewards: Sequence[float]) -> list[Any]:
        """Return what each agent did, or failed to do, in a step."""
        found: list[Mapping[str, Any]] = []
        for agent, primitive in enumerate(joint):
            was, item, at = before.held[agent], self._seen.held[agent], before.facing[agent]
            letter = self._grid[at[0]][at[1]]
            if primitive == INTERACT and was != item:
                served = letter == SERVING
                what = "served" if served else "took" if not was or (letter == POT and item) else "put"
                record = {"what": what, "agent": agent, "item": was if what != "took" else item, "cell": at}
                found.append({**record, "reward": rewards[agent]} if served else record)
            elif primitive == INTERACT:
                lit = letter == POT and not was and before.contents[at][1] is None and before.contents[at][0]
                found.append({"what": "cooked" if lit else "in_vain", "agent": agent, "cell": at})
            elif primitive < STAY and before.cells[agent] == self._seen.cells[agent]:
                ahead = self._seen.facing[agent]
                if self._grid[ahead[0]][ahead[1]] == FLOOR:
                    found.append({"what": "stayed", "agent": agent})
        return found

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        """Return the soups whose constraints have changed; see `overcooked_env.symbolic.tasks`."""
        now = {state.task: state for state in states(self._seen, joint, plans)}
        changed = [state for task, state in now.items() if state != self._known.get(task)]
        self._known = now
        return changed

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> Sequence[OpenTask]:  # noqa: ARG002
        """Return the relevant soups; see `overcooked_env.symbolic.tasks`."""
        return open_tasks(self._seen, plans)

    def distance(self, agent: int, other: int) -> float:
        """Return the Manhattan distance between two agents, in cells."""
        return distance(self._seen.cells[agent], self._seen.cells[other])

    def progress(self) -> Progress:
        """Return how many ordered soups are served; the score is the sum of the package's sparse rewards."""
        return Progress(min(self._delivered, self._goal), self._goal, self._score)

    def ansi(self) -> str:
        """Draw the kitchen as text."""
        return picture.ansi(self._seen)

    def canvas(self) -> Canvas:
        """Return the frame of the kitchen."""
        return Canvas(len(self._grid[0]), len(self._grid), picture.KINDS)

    def draw(self) -> Drawing:
        """Draw the kitchen."""
        return picture.draw(self._seen)

    def way(self, controller: Controller) -> Way | None:
        """Return the way of a walk."""
        return controller.way() if isinstance(controller, Errand) else None

    def primitive_name(self, primitive: int) -> str:
        """Return the name of a primitive."""
        return PRIMITIVES[primitive]

    def _use_recipes(self) -> None:
        """Set the package's recipes to those of this layout; they are global, and the last created layout sets them."""
        if self._package.Recipe.configuration is not self.mdp.recipe_config:
            self._package.Recipe.configure(self.mdp.recipe_config)

    def _read_orders(self) -> tuple[tuple[str, float, int], ...]:
        """Return ingredients, reward and cooking steps of each order."""
        recipes = self.state.all_orders
        value = self.mdp.get_recipe_value
        return tuple(("+".join(one.ingredients), float(value(self.state, one)), int(one.time)) for one in recipes)

    def _look(self) -> None:
        """Convert the current kitchen into plain numbers and names."""
        self._use_recipes()
        agents = []
        for agent, player in enumerate(self.state.players):
            (col, row), turned = player.position, self._package.Direction.DIRECTION_TO_INDEX[player.orientation]
            agents.append((agent, row, col, DIRECTIONS[turned], _name(player.held_object)))
        objects = {(row, col): one for (col, row), one in self.state.objects.items()}
        pots = []
        for cell in places(self._grid, POT):
            soup = objects.pop(cell, None)
            left = None if soup is None or soup.is_idle else int(soup.cook_time_remaining)
            pots.append((*cell, "+".join(sorted(soup.ingredients)) if soup else "", left))
        counters = tuple((*cell, _name(one)) for cell, one in sorted(objects.items()))
        steps = self.state.timestep, self._max_steps
        self._seen = KitchenObservation(
            "", self._grid, self._orders, tuple(agents), tuple(pots), counters, self._delivered, self._goal, *steps
        )


def _name(item: Any) -> str:
    """Return the name of an object of the package; empty if there is none."""
    if item is None:
        return ""
    return f"soup of {'+'.join(sorted(item.ingredients))}" if item.name == "soup" else str(item.name)


component = Component(OvercookedConfig, OvercookedWorld)
