"""The description of an environment: what its numbers mean, as data. Nothing in it is evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from math import hypot
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, model_validator

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*$", max_length=60)]
"""Of an action, a part of an observation, a task."""
Parts = Mapping[str, tuple[float, ...]]
"""What an agent observes: the numbers of each part."""


class Described(BaseModel):
    """Base of the parts of a description."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AgentDescription(Described):
    """What the spaces of an agent mean."""

    actions: tuple[Name, ...] | None = None
    """Names of the choices of a `Discrete` space, in order; null: their numbers."""
    wait: Name | int | None = None
    """The choice of `wait`; null: the first that is legal, and zeros in spaces of numbers."""
    sequences: dict[Name, tuple[Name | int, ...]] = {}
    """More choices, each of which is carried out as these, one a step."""
    observation: dict[Name, PositiveInt | tuple[Name, ...]] = {}
    """Parts of the array that it observes, in order: how many numbers each has, or their names."""

    @model_validator(mode="after")
    def _names_differ(self) -> AgentDescription:
        names = [*(self.actions or ()), *self.sequences]
        if double := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two actions are called {double}")
        if empty := next((name for name, steps in self.sequences.items() if not steps), None):
            raise ValueError(f"the sequence {empty} is empty")
        return self


class Condition(Described):
    """A condition of what an agent observes: of a number, or of the length of a vector."""

    part: str
    """Name of the part; `{target}` stands for the target of the task."""
    number: str | int | None = None
    """The name or the index of one of its numbers; null: the Euclidean length of all."""
    equals: float | None = None
    at_most: float | None = None
    at_least: float | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> Condition:
        if self.equals is self.at_most is self.at_least is None:
            raise ValueError("give equals, at_most or at_least")
        return self

    def holds(self, value: float) -> bool:
        """Whether it holds of a value."""
        return (
            (self.equals is None or value == self.equals)
            and (self.at_most is None or value <= self.at_most)
            and (self.at_least is None or value >= self.at_least)
        )

    def value(self, parts: Parts, names: Mapping[str, Sequence[str]], target: str) -> float | None:
        """Return the value that it is about, in what an agent observes; None where the agent has no such part.

        Args:
            parts: what the agent observes.
            names: those of the numbers of its parts.
            target: of the task.
        """
        numbers = parts.get(part := self.part.replace("{target}", target))
        if numbers is None:
            return None
        if self.number is None:
            return numbers[0] if len(numbers) == 1 else hypot(*numbers)
        index = names.get(part, ()).index(self.number) if isinstance(self.number, str) else self.number
        return numbers[index]


class TaskDescription(Described):
    """A kind of task. It is done while its condition holds for anybody."""

    targets: Annotated[tuple[Name, ...], Field(min_length=1)]
    """What there is of it."""
    done_when: Condition
    """When one is done, by what any agent observes."""
    in_place_when: Condition | None = None
    """When an agent is in place for it, by what it observes; null: everywhere."""
    agents: PositiveInt = 1
    """How many agents it takes at once."""
    text: str = ""
    """What it is, for prompts."""


class Grid(Described):
    """How an environment that renders nothing is drawn: things at the places that observations say."""

    columns: Annotated[int, Field(ge=1, le=200)]
    rows: Annotated[int, Field(ge=1, le=200)]
    agents: str | None = None
    """The part of each agent's observation that says where it is: column and row, or row and column."""
    things: tuple[str, ...] = ()
    """Parts that say where things are, by what any agent observes."""
    row_first: bool = False
    """Whether rows come before columns."""
    origin: tuple[float, float] = (0, 0)
    """Place of the left upper corner, as parts say places."""
    cell: PositiveFloat = 1
    """Width of a cell in their unit."""


class Description(Described):
    """What an environment means."""

    rules: str | None = None
    """Its rules, for prompts; null: what its documentation says."""
    agents: dict[str, AgentDescription] = {}
    """By name or pattern (`speaker_*`): the first that fits an agent counts."""
    tasks: dict[Name, TaskDescription] = {}
    """What there is to do, by kind; with tasks, an episode is a success when all of them are done."""
    score: str = "mean"
    """What counts as the score: the sum over steps of the agents' `mean` reward, of their `sum`, or of an agent's."""
    success: Condition | None = None
    """When an episode that ends by itself is a success, of the part `score`; null: always."""
    drawing: Grid | None = None
    """How it is drawn where it renders nothing."""

    @model_validator(mode="after")
    def _success_is_of_the_score(self) -> Description:
        if self.success is not None and (self.success.part != "score" or self.success.number is not None):
            raise ValueError("success: its part is score, without number")
        if self.success is not None and self.tasks:
            raise ValueError("success: with tasks, a success is that all of them are done; leave it out")
        return self

    def of(self, agent: str) -> AgentDescription:
        """Return what is said of an agent."""
        return next((own for name, own in self.agents.items() if fnmatchcase(agent, name)), AgentDescription())


def read_description(path: str) -> Any:
    """Read a description from a file.

    Raises:
        ValueError: there is no such file, or it is not YAML.
    """
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ValueError(f"{path}: it cannot be read: {reason}") from error
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise ValueError(f"{path}: it is not YAML{where}: {getattr(error, 'problem', error)}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path}: it holds no description: give keys such as rules, agents and tasks")
    return found
