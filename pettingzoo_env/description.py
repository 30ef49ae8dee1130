"""The description of an environment: what its numbers mean, as data. Nothing in it is evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from math import dist
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError, model_validator

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*$", max_length=60)]
"""Of an action, a part of an observation, a task."""
GUIDE = "docs/pettingzoo.md#describe-an-environment"
Parts = Mapping[str, tuple[float, ...]]
"""What an agent observes: the numbers of each part."""


class Described(BaseModel):
    """Base of the parts of a description."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AgentDescription(Described):
    """What the spaces of an agent mean."""

    actions: list[Name] | None = None
    """Names of the choices of a `Discrete` space, in order; null: their numbers."""
    wait: Name | int | None = None
    """The choice of `wait`; null: the first that is legal, and zeros in spaces of numbers."""
    sequences: dict[Name, Annotated[list[Name | int], Field(min_length=1)]] = {}
    """More choices, each of which is carried out as these, one a step."""
    observation: dict[Name, PositiveInt | list[Name]] = {}
    """Parts of the array that it observes, in order: how many numbers each has, or their names."""


class Measure(Described):
    """A number that an agent observes, or the length of a vector of several."""

    part: str
    """Name of the part; `{target}` stands for the target of the task."""
    minus: str | None = None
    """A part that is taken from it, number by number, such as the agent's own place; null: nothing."""
    numbers: list[str | int] | None = None
    """The names or indices of those of its numbers that count; null: all."""

    def value(self, parts: Parts, names: Mapping[str, Sequence[str]], target: str) -> float | None:
        """Return it in what an agent observes; None where the agent has no such part.

        Args:
            parts: what the agent observes.
            names: those of the numbers of its parts.
            target: of the task.

        Raises:
            ValueError: a part has no such number, or two parts have not as many.
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
            raise ValueError(f"{self.part} and {self.minus} have not as many numbers: say which with numbers")
        alone = len(vectors) == len(vectors[0]) == 1
        return vectors[0][0] if alone else dist(vectors[0], vectors[1] if vectors[1:] else [0.0] * len(vectors[0]))


class Condition(Measure):
    """A condition of a measure."""

    equals: float | None = None
    at_most: float | None = None
    at_least: float | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> Condition:
        if self.equals is self.at_most is self.at_least is None:
            raise ValueError("give equals, at_most or at_least")
        return self

    def holds(self, value: float | None) -> bool:
        """Return whether it holds of a value; of none it does not."""
        return (
            value is not None
            and (self.equals is None or value == self.equals)
            and (self.at_most is None or value <= self.at_most)
            and (self.at_least is None or value >= self.at_least)
        )


class TaskDescription(Described):
    """A kind of task. It is done while its condition holds for anybody."""

    targets: Annotated[list[Name], Field(min_length=1)]
    """What there is of it."""
    done_when: Condition
    """When one is done, by what any agent observes."""
    in_place_when: Condition | None = None
    """When an agent is in place for it, by what it observes; null: everywhere."""
    agents: PositiveInt | Measure = 1
    """How many agents it takes at once; with `weight`, the sum of their weights that it takes."""
    weight: Measure | None = None
    """What an agent counts for, by what it observes, such as its level; null: 1."""
    text: str = ""
    """What it is, for prompts."""


class Grid(Described):
    """How an environment that renders nothing is drawn: agents and things at the places that observations say."""

    columns: Annotated[int, Field(ge=1, le=200)]
    rows: Annotated[int, Field(ge=1, le=200)]
    agents: str | None = None
    """The part of each agent's observation that begins with its column and row; null: agents are not drawn."""
    things: list[str] = []
    """Parts that say where things are, by what any agent observes."""
    row_first: bool = False
    """Whether rows come before columns."""
    origin: Annotated[list[float], Field(min_length=2, max_length=2)] = [0, 0]
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
    success: float | None = None
    """The score from which on an episode that ends by itself is a success; null: nothing says it. With tasks, these
    decide."""
    drawing: Grid | None = None
    """How it is drawn where it renders nothing."""

    def of(self, agent: str) -> AgentDescription:
        """Return what is said of an agent."""
        return next((own for name, own in self.agents.items() if fnmatchcase(agent, name)), AgentDescription())


def read_description(path: str) -> Description:
    """Read a description from a YAML file.

    Raises:
        ValueError: there is no such file, or it holds none; the message names the keys.
    """
    try:
        found = yaml.safe_load(Path(path).expanduser().read_text(encoding="utf-8"))
        return Description.model_validate(found, strict=True)
    except ValidationError as error:
        raise ValueError("; ".join(map(_mistake, error.errors()))) from error
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise ValueError(f"it cannot be read: {' '.join(str(error).split())}") from error


def _mistake(error: Any) -> str:
    place, kind = ".".join(map(str, error["loc"])) or "the file", error["type"]
    words = {
        "missing": "the key is missing",
        "extra_forbidden": f"no such key: see {GUIDE}",
        "model_type": "it has to be a map",
    }
    return f"{place}: {words.get(kind, error['msg'].removeprefix('Value error, '))}"
