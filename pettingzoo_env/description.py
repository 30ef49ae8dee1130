"""The description of an environment: the meaning of its numbers, as data that is never evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from math import dist
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError, model_validator

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*$", max_length=60)]
"""Name of an action, a part of an observation, or a task."""
GUIDE = "docs/pettingzoo.md#describe-an-environment"
Parts = Mapping[str, tuple[float, ...]]
"""An agent's observation: the numbers of each part."""


class Described(BaseModel):
    """Base of the parts of a description."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AgentDescription(Described):
    """The meaning of an agent's spaces."""

    actions: list[Name] | None = None
    """Names of the choices of a `Discrete` space, in order; null: their numbers."""
    wait: Name | int | None = None
    """The choice for `wait`; null: the first legal one, and zeros in numeric spaces."""
    sequences: dict[Name, Annotated[list[Name | int], Field(min_length=1)]] = {}
    """Additional choices, each carried out as a sequence of these, one per step."""
    observation: dict[Name, PositiveInt | list[Name]] = {}
    """Parts of the observed array, in order: the number of values of each part, or their names."""


class Measure(Described):
    """A number that an agent observes, or the length of a vector."""

    part: str
    """Name of the part; `{target}` stands for the target of the task."""
    minus: str | None = None
    """A part to subtract, number by number, such as the agent's own position; null: none."""
    numbers: list[str | int] | None = None
    """Names or indices of the numbers to use; null: all."""

    def value(self, parts: Parts, names: Mapping[str, Sequence[str]], target: str) -> float | None:
        """Return the value in an agent's observation; None if the agent has no such part.

        Args:
            parts: the agent's observation.
            names: names of the numbers of its parts.
            target: target of the task.

        Raises:
            ValueError: a part has no such number, or two parts differ in length.
        """
        vectors = []
        for part in (self.part, *([self.minus] if self.minus is not None else [])):
            name = part.replace("{target}", target)
            if (found := parts.get(name)) is None:
                return None
            named: dict[str | int, float] = dict(enumerate(found))
            named |= zip(names.get(name, ()), found, strict=False)
            chosen = self.numbers if self.numbers is not None else range(len(found))
            if wrong := [number for number in chosen if number not in named]:
                raise ValueError(f"{name} has no number {wrong[0]}; its numbers are {', '.join(map(str, named))}")
            vectors.append([named[number] for number in chosen])
        if len({*map(len, vectors)}) > 1:
            raise ValueError(f"{self.part} and {self.minus} differ in length: choose with `numbers`")
        alone = len(vectors) == len(vectors[0]) == 1
        return vectors[0][0] if alone else dist(vectors[0], vectors[1] if vectors[1:] else [0.0] * len(vectors[0]))


class Condition(Measure):
    """A condition on a measure."""

    equals: float | None = None
    at_most: float | None = None
    at_least: float | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> Condition:
        if self.equals is self.at_most is self.at_least is None:
            raise ValueError("give equals, at_most or at_least")
        return self

    def holds(self, value: float | None) -> bool:
        """Return whether the condition holds for a value; it does not hold for None."""
        return (
            value is not None
            and (self.equals is None or value == self.equals)
            and (self.at_most is None or value <= self.at_most)
            and (self.at_least is None or value >= self.at_least)
        )


class TaskDescription(Described):
    """A kind of task. A task is done while its condition holds for any agent."""

    targets: Annotated[list[Name], Field(min_length=1)]
    """Targets of this kind."""
    done_when: Condition
    """Condition for the task to be done, on any agent's observation."""
    in_place_when: Condition | None = None
    """Condition for an agent to be in place, on its observation; null: everywhere."""
    agents: PositiveInt | Measure = 1
    """Number of agents required at once; with `weight`, the required sum of their weights."""
    weight: Measure | None = None
    """Weight of an agent, from its observation, such as its level; null: 1."""
    text: str = ""
    """Description for prompts."""


class Grid(Described):
    """How to draw an environment that renders nothing: agents and things at their observed positions."""

    columns: Annotated[int, Field(ge=1, le=200)]
    rows: Annotated[int, Field(ge=1, le=200)]
    agents: str | None = None
    """The part of each agent's observation that starts with its column and row; null: agents are not drawn."""
    things: list[str] = []
    """Parts with the positions of things, in any agent's observation."""
    row_first: bool = False
    """Whether rows come before columns."""
    origin: Annotated[list[float], Field(min_length=2, max_length=2)] = [0, 0]
    """Position of the top-left corner, in the units of the parts."""
    cell: PositiveFloat = 1
    """Width of a cell, in the units of the parts."""


class Description(Described):
    """The meaning of an environment."""

    rules: str | None = None
    """Rules of the environment, for prompts; null: its documentation."""
    agents: dict[str, AgentDescription] = {}
    """Agents by name or pattern (`speaker_*`); the first match counts."""
    tasks: dict[Name, TaskDescription] = {}
    """Tasks by kind; with tasks, an episode succeeds once all of them are done."""
    score: str = "mean"
    """Score: the sum over steps of the agents' `mean` reward, of their `sum`, or of a named agent's reward."""
    success: float | None = None
    """The minimum score with which an episode that ends by itself is a success; null: no such rule. If there are tasks,
    they decide."""
    drawing: Grid | None = None
    """How to draw an environment that renders nothing."""

    def of(self, agent: str) -> AgentDescription:
        """Return the description of an agent."""
        return next((own for name, own in self.agents.items() if fnmatchcase(agent, name)), AgentDescription())


def read_description(path: str) -> Description:
    """Read a description from a YAML file.

    Raises:
        ValueError: the file is missing or is not a description; the message names the keys.
    """
    try:
        found = yaml.safe_load(Path(path).expanduser().read_text(encoding="utf-8"))
        return Description.model_validate(found, strict=True)
    except ValidationError as error:
        raise ValueError("; ".join(map(_mistake, error.errors()))) from error
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise ValueError(f"the file cannot be read: {' '.join(str(error).split())}") from error


def _mistake(error: Any) -> str:
    place, kind = ".".join(map(str, error["loc"])) or "the file", error["type"]
    words = {
        "missing": "the key is missing",
        "extra_forbidden": f"no such key: see {GUIDE}",
        "model_type": "this must be a map",
    }
    return f"{place}: {words.get(kind, error['msg'].removeprefix('Value error, '))}"
