"""Adapter that connects the open world to the main loop."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from enum import IntEnum
from math import fsum
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationInfo, field_validator

from crafter_env.constants import COLLECT, Achievement, Action, Cell, Entity, Item, Material, Result
from crafter_env.env import CrafterEnv
from crafter_env.kernels.arrays import ALIVE, GAINED, RESULT, ByteArray, IntArray
from crafter_env.kernels.rules import MAX_STEPS, encode_rules
from crafter_env.kernels.sight import CAPABILITIES, note_changes
from crafter_env.layout import Layout
from crafter_env.observation import OPEN, CrafterObservation
from crafter_env.profiles import CollectRule, Level, Luck, Profile, Spawn, YieldRule, find_level, find_profile
from crafter_env.render import render_ansi
from crafter_env.state import Outcome, read_outcome
from crafter_env.symbolic.actions import VOCABULARY, Noop
from crafter_env.symbolic.control import make_controller
from crafter_env.symbolic.controller import CrafterController, decode
from crafter_env.symbolic.episode_state import EpisodeState
from crafter_env.symbolic.naming import check_plan, known_ids, known_tasks
from crafter_env.symbolic.observer import Observer, facts_of
from crafter_env.symbolic.picture import canvas, depict, draw, primitive_name
from crafter_env.symbolic.tasks import TaskBoard, open_tasks
from maeil.acting import end_of
from maeil.actions import SymbolicAction
from maeil.component import Component, ComponentConfig, Usual, may_name_files
from maeil.plans import Plan
from maeil.tasks import CapabilityChange, OpenTask, Tasks, TaskState
from maeil.world import Controller, Ids, Progress, Transition, World
from quorum_base.drawing import Canvas, Depiction, Drawing, ObservationForm, Way
from quorum_base.environments.errors import WorldError
from quorum_base.painting.scale import MOST_LINES, TooManyCells, scale_of

_LONGEST = 10_000_000
"""Maximum number of characters read from a map file."""
_GOAL = re.compile(r"(collect|craft):([a-z_]+)")
_ENUMS: Mapping[str, type[IntEnum]] = {"collect": CollectRule, "luck": Luck, "spawn": Spawn, "yields": YieldRule}
_SWITCHES = tuple(field.name for field in fields(Profile) if field.name not in ("name", "level"))
_THRESHOLDS = tuple(field.name for field in fields(Level) if field.name != "name")
_MOBS_ONLY = (
    Achievement.collect_sapling,
    Achievement.defeat_skeleton,
    Achievement.defeat_zombie,
    Achievement.eat_plant,
    Achievement.place_plant,
)
_UNLIMITED = ("update_radius", "share_radius")
"""Switches that accept null, which means no limit."""
# Names by number: looking up the name of an enumeration member takes several times as long.
_RESULTS, _ACTIONS, _ITEMS = (tuple(kind.__members__) for kind in (Result, Action, Item))
_TARGETS = (*Material.__members__, *(name for name, entity in Entity.__members__.items() if entity))
_QUIET = frozenset({Result.nothing, Result.moved, Result.asleep, Result.dead})
"""Results without a record of their own."""


class TextConfig(BaseModel):
    """How much of the world an observation shows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_agents: PositiveInt | None
    """Teammates shown to an agent, nearest first; the rest are only counted. None: all."""


class CrafterConfig(ComponentConfig):
    """Configuration of the open world."""

    name: Literal["crafter"]
    n: Annotated[int, Field(ge=1, le=1024)]
    """Number of agents."""
    profile: str
    """Name of a set of rules: `crafter`, `coop`, `coop2`."""
    level: str | None
    """How many agents must cooperate: a name in `LEVELS`; null: the profile's own."""
    switches: dict[str, bool | int | str | None] | None
    """Rules that differ from the profile's, by the names of `crafter_env.Profile`; null: none."""
    thresholds: dict[str, PositiveInt] | None
    """Numbers that differ from the level's, by the names of `crafter_env.Level`; null: none."""
    goal: str
    """`open`, or the achievement that ends the episode: `collect:iron`, `craft:iron_pickaxe` and similar."""
    layout: str | None
    """A map as ASCII, or the path of a map file; null: generated from the seed."""
    oracle_map: bool
    """Whether the agents know the whole map instead of only what they have seen."""
    known_only: bool
    """Whether plans may name only cells that their agent has seen, and teammates only while they are in view."""
    text: TextConfig
    """How much of the world an observation shows."""
    max_steps: PositiveInt
    """Steps after which an episode is truncated."""
    observation: Annotated[ObservationForm, Usual("text")]
    """Whether a prompt shows what an agent has seen as text, as a picture, or both."""

    @field_validator("layout")
    @classmethod
    def _is_map(cls, source: str | None, info: ValidationInfo) -> str | None:
        """Store the map itself, so that the configuration and its hash contain it wherever it came from."""
        if source is None or "\n" in source.strip() or not may_name_files(info):
            parsed = source
        else:
            try:
                with Path(source).open(encoding="utf-8") as opened:
                    parsed = opened.read(_LONGEST)
            except (OSError, UnicodeError) as error:
                raise ValueError(f"{source!r} is neither an ASCII map nor a readable file") from error
        if parsed is not None:
            Layout.parse(parsed)
        return parsed

    @field_validator("goal")
    @classmethod
    def _is_goal(cls, goal: str) -> str:
        achievement(goal)
        return goal


class CrafterWorld(World):
    """The open world as a world of the main loop.

    Implements `DrawsLots` and `Changeable` of `maeil.world`, and `Drawable` and `ShowsWays` of `quorum_base.drawing`.

    Primitives are `Action` values; `symbolic.controller` encodes a `share`.

    Args:
        config: rules, team and goal.

    Raises:
        WorldError: the parts are incompatible; the message says which part and why.
    """

    name = "crafter"
    vocabulary = VOCABULARY

    def __init__(self, config: CrafterConfig, _context: None = None) -> None:
        layout = Layout.parse(config.layout) if config.layout is not None else None
        if layout is not None and len(layout.agents) != config.n:
            found = len(layout.agents)
            raise WorldError(f"layout: the map has {found} agents, but n is {config.n}: set n={found}")
        profile = _switched(find_profile(config.profile), config.switches or {})
        level = _adjusted(find_level(config.level, profile), config.thresholds or {})
        self.goal = achievement(config.goal)
        self.env = CrafterEnv(
            n=config.n if layout is None else None,
            profile=profile,
            level=level,
            max_steps=config.max_steps,
            goal=self.goal,
            layout=layout,
            render_mode="ansi",
            infos="none",
            copy=False,
        )
        self.shares_luck = profile.luck is Luck.keyed
        self.agents: tuple[str, ...] = tuple(self.env.possible_agents)
        self.idle: SymbolicAction = Noop()
        self._text = config.text
        self.observation = config.observation
        if config.observation.has_picture:
            _check_legible(self.env.size)
        self._facts = {
            "goal": self.goal.name if self.goal is not None else OPEN,
            "max_steps": config.max_steps,
            "size": list(self.env.size),
            "oracle_map": config.oracle_map,
            "known_only": config.known_only,
            "max_agents": config.text.max_agents,
            **facts_of(profile, level),
        }
        self._knowledge = {"oracle_map": config.oracle_map, "known_only": config.known_only}
        self._rules = encode_rules(profile, level, config.n, self.env.size, config.max_steps, self.goal)
        self._points = np.zeros(len(Achievement))
        for material, recipe in COLLECT.items():
            self._points[recipe.achievement] = level.score(material, config.n)
        self._possible = len(Achievement) - (0 if profile.mobs else len(_MOBS_ONLY))
        self._episode: EpisodeState
        self._tasks: TaskBoard
        self._observer: Observer
        self._alive: list[int]
        self._held: ByteArray
        self._changed: IntArray
        self._counted: IntArray
        self._progress: Progress

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Generate the world for a seed."""
        self.env.reset(seed=seed)
        state = self.env.crafter_state
        env = self.env
        self._episode = EpisodeState(state, self._rules, env.profile, env.level, **self._knowledge)
        self._tasks = TaskBoard(self._episode)
        goal = self.goal.name if self.goal is not None else OPEN
        self._observer = Observer(self._episode, self.agents, env.max_steps, goal, self._text.max_agents)
        self._alive = [1] * len(self.agents)
        self._held = np.zeros((len(self.agents), CAPABILITIES), dtype=np.uint8)
        self._changed = np.zeros((len(self.agents) * CAPABILITIES, 3), dtype=np.int64)
        self._counted = np.zeros(len(Achievement), dtype=np.int64)
        self._progress = self._count()
        return {
            "profile": env.profile.name,
            "level": env.level.name,
            "goal": goal,
            "size": list(state.size),
            "agents": state.positions.tolist(),
            "max_steps": env.max_steps,
            "map": render_ansi(state),
        }

    def limit(self, max_steps: int) -> None:
        """Truncate episodes after `max_steps` steps; implements `maeil.world.Limited`."""
        self.env.limit(max_steps)
        self._facts = {**self._facts, "max_steps": max_steps}
        self._rules[MAX_STEPS] = max_steps
        if self.env.agents:
            self._observer.limit(max_steps)

    def draw_from(self, seed: int) -> None:
        """Draw from a stream with this seed from now on; implements `maeil.world.DrawsLots`."""
        state = np.random.RandomState(seed).get_state(legacy=False)["state"]
        generator = self.env.crafter_state.world.generator
        generator[:-1], generator[-1] = state["key"], state["pos"]

    def observe(self, agent: int) -> CrafterObservation:
        """Return the symbolic observation of an agent, from its view and memory."""
        return self._observer.observe(agent, self._progress.score)

    def global_observation(self) -> CrafterObservation:
        """Return the whole world, for a participant without a body."""
        return self._observer.global_observation(self._progress.score)

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Return errors for impossible names in a plan; with `known_only`, also for names its agent has never seen."""
        return check_plan(self._episode, agent, plan)

    def ids(self, agent: int | None) -> Ids:
        """Return the teammates and cells that actions may name."""
        return known_ids(self._episode, agent)

    def tasks(self, agent: int | None, text: str = "") -> Tasks:
        """Return the tasks known to an agent and those named in a text."""
        return known_tasks(self._episode, agent, text)

    def prompt_facts(self) -> Mapping[str, Any]:
        """Return the goal, what agents may name and see, and the rules; see `crafter_env.symbolic.observer`."""
        return self._facts

    def start_action(self, agent: int, action: SymbolicAction) -> CrafterController:
        """Start a symbolic action."""
        return make_controller(self._episode, agent, action)

    def step(self, joint: Sequence[int]) -> Transition:
        """Advance by one step. If all agents are dead, the team has failed."""
        alive, tries = self._alive, self._tasks.tries(joint)
        ends = self.env.step_array(decode(joint, sharing=self.env.profile.sharing))
        self._episode.changed()
        agents = self.env.crafter_state.world.agents
        self._alive = agents[:, ALIVE].tolist()
        changes = self._note_changes()
        reached = self.goal is not None and self._progress.reached > 0
        return Transition(
            tuple(self._outcomes(alive)),
            fsum(ends.rewards.tolist()) / len(alive),
            end_of(success=reached, failure=1 not in self._alive, truncated=True in ends.truncations.tolist()),
            self._tasks.judged(tries),
            changes,
        )

    def change(self, changes: Mapping[str, Any]) -> None:
        """Move agents, set their needs and inventories, and set materials of cells; see `crafter_env.alteration`.

        The agents' map memories stay, except for what they see now. The next step reports items gained or lost by the
        change.

        Raises:
            WorldError: the changes are malformed or the resulting state is impossible; the message names the place.
        """
        if self.env.change(changes):
            self._episode.changed()

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        """Return the tasks whose constraints have changed; see `crafter_env.constraints`."""
        return self._tasks.changes(joint, plans)

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> Sequence[OpenTask]:
        """Return what to collect and to craft now; see `crafter_env.symbolic.tasks`."""
        return open_tasks(self._episode, plans, text)

    def distance(self, agent: int, other: int) -> float:
        """Return the Manhattan distance between two agents."""
        cells = self.env.crafter_state.positions
        return float(abs(cells[agent] - cells[other]).sum())

    def progress(self) -> Progress:
        """Return the team's progress: the goal or, in an open episode, the achievements that any agent has reached."""
        return self._progress

    def ansi(self) -> str:
        """Draw the world as text."""
        return render_ansi(self.env.crafter_state)

    def canvas(self) -> Canvas:
        """Return the frame of the map."""
        return canvas(self.env.crafter_state)

    def draw(self) -> Drawing:
        """Draw the whole map, with each agent's inventory."""
        return draw(self.env.crafter_state)

    def way(self, controller: Controller) -> Way | None:
        """Return where a running action leads, as far as its agent knows."""
        assert isinstance(controller, CrafterController)
        return controller.way()

    def depict(self, agent: int | None) -> Depiction:
        """Draw what an agent observes: the map in its memory, and the agents and creatures in view."""
        if agent is None:
            return depict(self.global_observation(), self.env.crafter_state.materials)
        return depict(self.observe(agent), self._episode.memory[agent])

    def primitive_name(self, primitive: int) -> str:
        """Return the name of a primitive."""
        return primitive_name(primitive, len(self.agents))

    def _note_changes(self) -> tuple[CapabilityChange, ...]:
        """Update the progress; return the changes of what agents hold."""
        agents = self.env.crafter_state.world.agents
        found, progressed = note_changes(agents, self._counted, self._held, self._changed)
        if progressed:
            self._progress = self._count()
        if not found:
            return ()
        return tuple(
            CapabilityChange(agent, Item(item).name, bool(gained))
            for agent, item, gained in self._changed[:found].tolist()
        )

    def _count(self) -> Progress:
        score = float(self._points @ self._counted)
        if self.goal is not None:
            return Progress(int(self._counted[self.goal] > 0), 1, score)
        return Progress(int((self._counted > 0).sum()), self._possible, score)

    def _outcomes(self, before: Sequence[int]) -> list[Mapping[str, Any]]:
        rows = self.env.crafter_state.world.agents[:, GAINED:].tolist()
        records = [
            _record(agent, read_outcome(row))
            for agent, row in enumerate(rows)
            if before[agent] and row[RESULT - GAINED] not in _QUIET
        ]
        records += [
            {"what": "death", "agent": agent} for agent, lived in enumerate(before) if lived and not self._alive[agent]
        ]
        return records


def _record(agent: int, outcome: Outcome) -> Mapping[str, Any]:
    """Return the fields of an outcome that have a value."""
    record = {
        "what": _RESULTS[outcome.result],
        "agent": agent,
        "action": _ACTIONS[outcome.action],
        "target": _TARGETS[outcome.target] if outcome.target is not None else None,
        "cell": outcome.cell,
        "required": outcome.required,
        "present": outcome.present,
        "capable": outcome.capable,
        "item": _ITEMS[outcome.item] if outcome.item is not None else None,
        "amount": outcome.amount,
        "other": outcome.other,
        "gained": {_ITEMS[item]: units for item, units in outcome.gained.items()} or None,
    }
    return {key: value for key, value in record.items() if value is not None}


def achievement(goal: str) -> Achievement | None:
    """Return the achievement of a goal; None for an open episode.

    Raises:
        ValueError: it is not a goal.
    """
    if goal == OPEN:
        return None
    found = _GOAL.fullmatch(goal)
    name = f"{'make' if found[1] == 'craft' else 'collect'}_{found[2]}" if found else ""
    if name not in Achievement.__members__:
        goals = [f"collect:{a.name.removeprefix('collect_')}" for a in Achievement if a.name.startswith("collect_")]
        goals += [f"craft:{a.name.removeprefix('make_')}" for a in Achievement if a.name.startswith("make_")]
        raise ValueError(f"{goal!r} is not a goal; the goals are {', '.join([OPEN, *goals])}")
    return Achievement[name]


def _check_legible(size: Cell) -> None:
    """Reject a map whose cells would be illegible in a picture of the whole map."""
    try:
        scale_of(*size, MOST_LINES)
    except TooManyCells as error:
        raise WorldError(f"observation: {error}; set env.observation=text, or a smaller map") from error


def _switched(profile: Profile, switches: Mapping[str, bool | int | str | None]) -> Profile:
    """Return a profile with some rules changed; rules with named values accept the names."""
    values: dict[str, Any] = {}
    for name, value in switches.items():
        if name not in _SWITCHES:
            raise WorldError(f"switches: unknown rule {name!r}; the rules are {', '.join(_SWITCHES)}")
        values[name] = value
        if name in _ENUMS:
            choices = _ENUMS[name].__members__
            if value not in choices:
                raise WorldError(f"switches: {name} = {value!r}: choose one of {', '.join(choices)}")
            values[name] = choices[str(value)]
        elif isinstance(value, str) or isinstance(value, bool) is not isinstance(getattr(profile, name), bool):
            kind = "true or false" if isinstance(getattr(profile, name), bool) else "a number"
            raise WorldError(f"switches: {name} = {value!r}: must be {kind}")
        elif value is None and name not in _UNLIMITED:
            raise WorldError(f"switches: {name} cannot be null")
    return replace(profile, **values)


def _adjusted(level: Level, thresholds: Mapping[str, int]) -> Level:
    """Return a level with some numbers changed."""
    for name in thresholds:
        if name not in _THRESHOLDS:
            raise WorldError(f"thresholds: unknown threshold {name!r}; the thresholds are {', '.join(_THRESHOLDS)}")
    changes: dict[str, Any] = dict(thresholds)
    return replace(level, **changes)


component = Component(CrafterConfig, CrafterWorld)
