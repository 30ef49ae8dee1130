"""Adapter that connects PettingZoo environments to the main loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from hashlib import sha256
from statistics import fmean
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from gymnasium.spaces import Discrete
from pydantic import BeforeValidator, Field, PositiveInt, PrivateAttr, ValidationInfo, field_serializer

from maeil.acting import Primitive, end_of
from maeil.actions import SymbolicAction
from maeil.component import RECORDED, Component, ComponentConfig, may_name_files
from maeil.outcomes import Outcome
from maeil.plans import Plan
from maeil.tasks import Tasks, TaskState, no_such_task
from maeil.world import Controller, Ids, Progress, Transition, World
from pettingzoo_env.description import Description, Grid, Parts, read_description
from pettingzoo_env.game import Game, find
from pettingzoo_env.spaces import action_of, exact, numbers, short, shown, split
from pettingzoo_env.symbolic.actions import Doing, Wait, abilities
from pettingzoo_env.symbolic.tasks import TaskBoard
from quorum_base.drawing import Canvas, Drawing, Mark, MarkKind, Shape
from quorum_base.environments.errors import WorldError
from quorum_base.registry import NAMED_MODULES

CELL = 25
"""Pixels of a picture per cell of its canvas."""
LARGEST = 720
"""Maximum length of a picture's longer edge, in pixels; larger pictures show every second or third pixel."""
TOOLS = ("pettingzoo.env_registry", "pettingzoo.utils")
"""Modules with functions that import what their arguments name; recorded runs must not call them."""
WRAPPED = ("parallel_wrapper_fn.<locals>.par_fn", "aec_wrapper_fn.<locals>.aec_fn")
"""Names of the wrapper functions in which modules wrap their environment makers."""
AGENT, THING = range(2)
LEGEND = (MarkKind("agent", "#3b6ea5", "#7fb2e5", Shape.DISC), MarkKind("thing", "#4c8c4a", "#6fbf73"))


def _described(value: Any, info: ValidationInfo) -> Any:
    return read_description(value) if isinstance(value, str) and may_name_files(info) else value


class PettingZooConfig(ComponentConfig):
    """Configuration of an environment of PettingZoo."""

    name: Literal["pettingzoo"]
    n: PositiveInt
    """Number of agents; must match the environment."""
    id: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*(:[A-Za-z_]\w*)?$")]
    """`MODULE:FUNCTION` that makes the environment; without a function `parallel_env`, else `env`."""
    kwargs: dict[str, Any]
    """Arguments of the function."""
    description: Annotated[Description | None, BeforeValidator(_described)]
    """The meaning of its numbers, or the YAML file that contains it; null: taken from the environment."""
    max_steps: PositiveInt
    """Steps after which an episode is truncated."""
    _recorded: bool = PrivateAttr(default=False)

    def model_post_init(self, context: Any, /) -> None:
        """Record whether the configuration was read from the folder of a run."""
        self._recorded = context is RECORDED

    @field_serializer("description")
    def _as_written(self, description: Description | None) -> Any:
        return description.model_dump(mode="json", exclude_defaults=True) if description is not None else None

    def modules(self) -> Sequence[str]:
        """Import the module of the environment, and return its name.

        Raises:
            WorldError: it is missing, or only the folder of a run names it.
        """
        module = self.id.partition(":")[0]
        if self._recorded and module not in NAMED_MODULES:
            raise WorldError(
                f"id: {self.id} is code that a run folder names. Quorum does not import such code by itself. "
                f"If you trust it, name it yourself: --plugin {module}"
            )
        make = find(self.id)
        home, wrapped = make.__module__, getattr(make, "__qualname__", "") in WRAPPED
        own = home.partition(".")[0] == module.partition(".")[0] and not home.startswith(TOOLS)
        if self._recorded and not (own or wrapped):
            raise WorldError(f"id: {self.id} is not from {module} but from {home}, and only a run folder names it")
        return (module,)


class _Beginning(NamedTuple):
    """Comparable observations after a reset, and whether a second reset has confirmed them."""

    seed: int
    seen: Sequence[Mapping[str, Any]]
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """An agent's observation.

    Attributes:
        step: steps taken so far.
        sees: the parts of its observation or, for a participant without a body, those of each agent.
        legal: its current choices, or those of each number or part of its action; None for all.
        reward: its reward since it last acted, including that step; None before its first action.
    """

    step: int
    sees: Mapping[str, Any]
    legal: Any = None
    reward: float | None = None

    def shown(self) -> Mapping[str, Any]:
        """Return the fields that have a value."""
        found = {"step": self.step, "sees": self.sees, "legal": self.legal, "reward": self.reward}
        return {key: value for key, value in found.items() if value is not None}

    def text(self) -> str:
        """Return the observation in words."""
        return "; ".join(f"{key}: {value}" for key, value in self.shown().items())


class PettingZooWorld(World):
    """An environment as a world of the main loop; implements `maeil.world.Limited`.

    Copying replays the same actions, because environments contain state that cannot be copied.

    Args:
        config: the environment and its meaning.
        game: the environment.

    Raises:
        ValueError: it cannot be made, or the description does not match it; the message names the key.
    """

    name = "pettingzoo"
    idle: SymbolicAction = Wait()

    def __init__(self, config: PettingZooConfig, game: Game) -> None:
        self.config = config
        self.description = config.description or Description()
        self._max_steps = config.max_steps
        self._begun: _Beginning | None = None
        self._begin(game)
        self.agents: tuple[str, ...] = game.names
        if config.n != len(self.agents):
            raise WorldError(f"n: {config.id} has {len(self.agents)} agents, not {config.n}: set n={len(self.agents)}")
        self.abilities, self.vocabulary = abilities(self.game, self.description)
        self._forms = [self.description.of(name).observation for name in self.agents]
        if self.description.score not in ("mean", "sum", *self.agents):
            known = ", ".join(("mean", "sum", *self.agents))
            raise WorldError(f"description.score: {self.description.score} is not one of {known}")
        for pattern, agent in self.description.agents.items():
            if all(self.description.of(name) is not agent for name in self.agents):
                raise WorldError(f"description.agents: {pattern} matches no agent of {', '.join(self.agents)}")

    def _begin(self, game: Game) -> None:
        self.game = game
        self.board = TaskBoard(self.description, game.names)

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Start an episode; the record contains a digest of the agents' observations.

        A start that two resets have confirmed, and from which no step was taken, is reused.

        Raises:
            ContractError: the start differs from an earlier one with this seed.
        """
        if self._begun is None or not self._begun.confirmed or self._begun.seed != seed or self.joints:
            self.game.reset(seed)
        self.seed = seed
        self.joints: list[list[Primitive]] = []
        self.returns = [0.0] * len(self.agents)
        self._gained: list[float | None] = [None] * len(self.agents)
        seen = self._look()
        self._compare(seed)
        self.board.begin()
        self.board.check(seen)
        self.board.look(seen)
        digest = sha256(repr(self.global_observation().sees).encode()).hexdigest()
        judged = {} if self.judged else {"judged": False}
        return {"environment": self.config.id, "agents": list(self.agents), "observations": digest, **judged}

    @property
    def judged(self) -> bool:
        """Whether the description defines the meaning of an episode's end."""
        return bool(self.description.tasks) or self.description.success is not None

    def _compare(self, seed: int) -> None:
        """Record the start of the episode, and check that it equals earlier ones with this seed."""
        seen = [{name: exact(array) for name, array in parts.items()} for parts in self._seen]
        before, self._begun = self._begun, _Beginning(seed, seen)
        if before is None or before.seed != seed:
            return
        for agent, one, other in zip(self.agents, before.seen, seen, strict=True):
            if differing := [name for name in {**one, **other} if one.get(name) != other.get(name)]:
                raise self.game.wrong_draws(f"two resets with seed {seed} give {agent} a different {differing[0]}")
        self._begun = _Beginning(seed, seen, confirmed=True)

    def close(self) -> None:
        """Close the environment."""
        self.game.close()

    def limit(self, max_steps: int) -> None:
        """Truncate episodes after `max_steps` steps."""
        self._max_steps = max_steps

    def acting(self) -> Sequence[int]:
        """Return the agents that act in the coming step."""
        return self.game.acting()

    def observe(self, agent: int) -> Seen:
        """Return an agent's observation."""
        legal = self.abilities[agent].choices(self.game.legal[agent])
        seen = shown(self._seen[agent], self._forms[agent])
        return Seen(len(self.joints), seen, legal, short(self._gained[agent]))

    def global_observation(self) -> Seen:
        """Return the observations of all agents."""
        own = {name: self.observe(agent) for agent, name in enumerate(self.agents)}
        legal = {name: {} if seen.legal is None else {"legal": seen.legal} for name, seen in own.items()}
        return Seen(len(self.joints), {name: {**seen.sees, **legal[name]} for name, seen in own.items()})

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Return errors for actions that are illegal now, or never in the agent's space."""
        own, legal, found = self.abilities[agent], self.game.legal[agent], []
        for number, action in enumerate(plan.actions):
            for value in own.values(action) if not isinstance(action, Wait) else ():
                found.append(own.refusal(value, legal if not number else None))
                legal = None
        if plan.task is not None and self.board.tasks and plan.task not in self.board.tasks:
            found.append(no_such_task(plan.task, self.board.targets()))
        return tuple(dict.fromkeys(reason for reason in found if reason))

    def tasks(self, agent: int | None, text: str = "") -> Tasks | None:  # noqa: ARG002 (they are the same for all)
        """Return the tasks; None if the description has none."""
        return self.board.targets() if self.description.tasks else None

    def ids(self, agent: int | None) -> Ids:
        """Return the possible first choices of each action."""
        if agent is None:
            return {}
        own = self.abilities[agent]
        choices = own.choices(self.game.legal[agent]) if isinstance(own.space, Discrete) else None
        found: dict[str, Any] = {
            name: [] for name in self.vocabulary.names if name not in self.vocabulary.of(agent).names
        }
        return found if choices is None else {**found, own.model.model_fields["action"].default: [{"choice": choices}]}

    def prompt_facts(self) -> Mapping[str, Any]:
        """Return the rules and the tasks."""
        rules = self.description.rules if self.description.rules is not None else self.game.documentation()
        tasks = {kind: own.text for kind, own in self.description.tasks.items()}
        return {"rules": rules.strip(), "turns": self.game.turns, "tasks": tasks, "environment": self.config.id}

    def start_action(self, agent: int, action: SymbolicAction) -> Controller:
        """Start an action."""
        return Doing(self.game, agent, self.abilities[agent], action)

    def step(self, joint: Sequence[Any]) -> Transition:
        """Take a step with the actions of all acting agents, or of the one whose turn it is."""
        acting = self.game.acting()
        actions = {agent: action_of(self.game.spaces[agent], joint[agent]) for agent in acting}
        rewards = self.game.step(actions)
        self.joints.append(list(joint))
        before = [0.0 if agent in acting else gained for agent, gained in enumerate(self._gained)]
        self._gained = [None if b is None else b + own for b, own in zip(before, rewards, strict=True)]
        self.returns = [total + own for total, own in zip(self.returns, rewards, strict=True)]
        attempts = self.board.look(self._look(), working=True)
        gone = [agent for agent in acting if not self.game.over and agent not in self.game.living()]
        outcomes = [{"what": "left", "agent": agent} for agent in gone]
        outcomes += [{"what": "done", "task": str(attempt.task)} for attempt in attempts]
        same = all(reward == rewards[0] for reward in rewards)
        mean = rewards[0] if same else fmean(rewards)
        return Transition(tuple(outcomes), mean, self._end(), attempts, rewards=None if same else tuple(rewards))

    def _end(self) -> Any:
        tasks, success = self.board.tasks, self.description.success
        done = len(self.board.done()) == len(tasks) > 0
        ended = self.game.over and not self.game.truncated
        if ended and not self.judged:
            return Outcome.ENDED
        won = ended and not tasks and success is not None and self.score() >= success
        late = self.game.over or len(self.joints) >= self._max_steps
        return end_of(success=done or won, failure=ended, truncated=late)

    def constraints(self, joint: Sequence[Any], plans: Sequence[Plan | None]) -> Sequence[TaskState]:  # noqa: ARG002
        """Return the described tasks that have changed."""
        return self.board.changes(plans)

    def distance(self, agent: int, other: int) -> None:
        """Return None: an environment does not report positions."""

    def score(self) -> float:
        """Return the score so far."""
        own = dict(zip(self.agents, self.returns, strict=True))
        return {**own, "mean": fmean(self.returns), "sum": sum(self.returns)}[self.description.score]

    def progress(self) -> Progress:
        """Return the number of described tasks that are done, 0 of 0 without a description, and the score."""
        return Progress(len(self.board.done()), len(self.board.tasks), self.score())

    def ansi(self) -> str:
        """Return each agent's observation, one line per agent."""
        return "\n".join(f"{name}: {self.observe(agent).text()}" for agent, name in enumerate(self.agents))

    def primitive_name(self, primitive: Any) -> str:
        """Return the name of a choice if all agents use the same; else its number or values."""
        names = {str(own.described.actions) for own in self.abilities}
        if isinstance(primitive, int) and len(names) == 1:
            return str(self.abilities[0].name(primitive))
        return str(primitive)

    def _look(self) -> list[Parts]:
        self._seen = []
        for name, *pair in zip(self.agents, self.game.observations, self._forms, strict=True):
            try:
                self._seen.append(split(*pair))
            except ValueError as error:
                raise WorldError(f"description.agents: the observation of {name}: {error}") from error
        return [*map(numbers, self._seen)]

    def __deepcopy__(self, memo: dict[int, Any]) -> PettingZooWorld:
        """Replay the same episode in another environment."""
        memo[id(self)] = other = copy(self)
        other._begun = None
        other._begin(Game(self.config.id, self.config.kwargs))
        memo[id(self.game)] = other.game
        other.reset(self.seed)
        for joint in self.joints:
            other.step(joint)
        return other


class _Rendered(PettingZooWorld):
    """A world that renders itself; implements `quorum_base.drawing.Pictured`."""

    pictured = True

    def canvas(self) -> Canvas:
        """Return a canvas in the shape of its pictures."""
        height, width, _ = self._picture().shape
        return Canvas(max(1, round(width / CELL)), max(1, round(height / CELL)), (), ruled=False)

    def draw(self) -> Drawing:
        """Return the rendered picture."""
        return Drawing(b"", {}, image=self._picture())

    def _picture(self) -> Any:
        picture = self.game.image()
        stride = -(-max(picture.shape) // LARGEST)
        return np.ascontiguousarray(picture[::stride, ::stride])


class _Gridded(PettingZooWorld):
    """A world whose description says how to draw it; implements `quorum_base.drawing.Drawable`."""

    @property
    def _grid(self) -> Grid:
        assert self.description.drawing is not None
        return self.description.drawing

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Start an episode, and check that everything drawn is observed."""
        begun, seen = super().reset(seed), [*map(numbers, self._seen)]
        for part in filter(None, (self._grid.agents, *self._grid.things)):
            if all(len(parts.get(part, ())) < 2 for parts in seen):
                known = ", ".join(dict.fromkeys(name for parts in seen for name, own in parts.items() if len(own) > 1))
                raise WorldError(
                    f"description.drawing: {part} is not a part with two numbers; such parts are {known or 'none'}"
                )
        return begun

    def canvas(self) -> Canvas:
        """Return the grid."""
        return Canvas(self._grid.columns, self._grid.rows, LEGEND)

    def draw(self) -> Drawing:
        """Draw agents and things at their observed positions; leave out positions outside the grid."""
        grid, marks = self._grid, dict[str, Mark]()
        things = [(thing, thing, Mark(THING, 0, 0, title=thing)) for thing in grid.things]
        for agent, (name, parts) in enumerate(zip(self.agents, map(numbers, self._seen), strict=True)):
            own = [(grid.agents, name, Mark(AGENT, 0, 0, label=str(agent), title=name, agent=agent))]
            for part, key, mark in [*own, *things]:
                if len(place := parts.get(part or "", ())) < 2:
                    continue
                x, y = ((p - o) / grid.cell for p, o in zip(place[:2], grid.origin, strict=True))
                x, y = (y, x) if grid.row_first else (x, y)
                if 0 <= x < grid.columns and 0 <= y < grid.rows:
                    marks.setdefault(key, replace(mark, x=x, y=y))
        return Drawing(b"", marks)


def build(config: PettingZooConfig, _context: None = None) -> PettingZooWorld:
    """Build the world: drawable if the environment or its description allows it.

    Raises:
        ValueError: it cannot be made; the message names the key.
    """
    config.modules()
    game, description = Game(config.id, config.kwargs), config.description or Description()
    kind: type[PettingZooWorld] = PettingZooWorld
    if game.renders or description.drawing is not None:
        kind = _Rendered if game.renders else _Gridded
    try:
        return kind(config, game)
    except BaseException:
        game.close()
        raise


component = Component(PettingZooConfig, build, modules=PettingZooConfig.modules)
