"""Components: how a world, a team of minds, a topology, an extension or a language model is offered to be chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationInfo

from maeil.seeds import Seeds
from maeil.topology import Topology
from maeil.world import World

RECORDED: Mapping[str, bool] = {"recorded": True}
"""The pydantic context for values that were read from the folder of a run."""


def may_name_files(info: ValidationInfo) -> bool:
    """Whether a value may be the path of a file, which its validator reads.

    A value of a recorded run may not: it holds the content itself, and the folder may be untrusted.
    """
    return info.context is not RECORDED


class ComponentConfig(BaseModel):
    """Base of every component's configuration.

    Fields have no defaults: the values stand in the configuration files alone, so a missing, unknown or wrong key
    fails when it is read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Name under which the component is registered."""


@dataclass(frozen=True, slots=True)
class Usual:
    """Marks a key that came with a later version, by `Annotated`, and gives the value of the versions before it.

    While the key has this value it is no part of what names a cell, so that earlier cells keep their names.

    Attributes:
        value: as JSON has it.
    """

    value: object


@dataclass(frozen=True, slots=True)
class TopologyContext:
    """What a topology is built for.

    Attributes:
        agents: number of embodied agents.
        seeds: the place of its random streams.
    """

    agents: int
    seeds: Seeds = field(default_factory=lambda: Seeds(0, "topology"))


class NamesFile:
    """Marks a key of a mind or an extension that names a file, by `Annotated`.

    What the file holds is part of what names a cell (`Component.inputs`); where it is, is not.
    """


class Compatibility(StrEnum):
    """Which other minds the minds of a component can share a team with."""

    ANYBODY = "anybody"
    """Any: each of them decides for itself."""
    SAME_KIND = "same_kind"
    """Only minds of this component; their values may differ."""
    SAME_VALUES = "same_values"
    """Only minds of this component with the same values: one of them decides for the others."""


class Handover(StrEnum):
    """How a component takes over from another one in the middle of an episode."""

    FRESH = "fresh"
    """It starts there: everything it decides by is in its views."""
    SHADOW = "shadow"
    """It runs as a shadow from the start, and its answers are discarded until then. It asks no language model."""
    NEVER = "never"
    """It cannot: its state has grown from its own beginning."""


@dataclass(frozen=True, slots=True)
class TeamContext:
    """What a team of minds is built for.

    Attributes:
        world: the world that it acts in.
        topology: how it may talk; with a coordinator when `topology.coordinated`.
        seeds: the place of its random streams. The mind of participant i draws from `seeds.child(i)`: so what it draws
            does not depend on whose minds the others are.
        models: gives each participant, by name, the language model that it thinks with; minds that use none ignore it.
        memories: what the team kept from the episode before, by `maeil.memory.Remembers.memory_name`; empty
            where there was none. It comes from a file that may be untrusted: minds check it, and raise a `ValueError`
            if it is not what they have written.
        own: the participants, by index, whose minds are used; None: all. The others have minds of other components or
            of other values, in a mixed team (`Component.compatible`).
        thoughts: whether the model of a participant, by name, is to write its thoughts into its answers in a role,
            where the prompts leave that open: one that thinks by itself is not.
    """

    world: World
    topology: Topology
    seeds: Seeds
    models: Callable[[str], Any]
    memories: Mapping[str, Any] = field(default_factory=dict)
    own: frozenset[int] | None = None
    thoughts: Callable[[str, str], bool] = lambda _participant, _role: True

    @property
    def coordinates(self) -> bool:
        """Whether a coordinator's mind is needed, after those of the agents."""
        return self.topology.coordinated and (self.own is None or len(self.world.agents) in self.own)


def roles_of_topology(_config: Any) -> None:
    """Return None: models are asked in the turns of the topology, and in no other role."""


C = TypeVar("C", bound=BaseModel)
X = TypeVar("X")
B_co = TypeVar("B_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Component(Generic[C, X, B_co]):
    """A component that can be chosen in a configuration.

    | kind | context | what is built |
    |---|---|---|
    | world | None | `maeil.world.World` |
    | topology | `TopologyContext` | `maeil.topology.Topology` |
    | minds | `TeamContext` | a sequence of `maeil.mind.Mind`: of the agents by index, then of a coordinator |
    | provider of a language model | None | `quorum.agents.llm.protocol.Model` |
    | extension of the loop | `ExtensionContext` | `maeil.extension.Extension` |
    | engine of sweeps | None | `quorum.sweeps.engines.protocol.Engine` |
    | tracker of runs | None | `quorum.runs.tracking.Tracker` |

    Attributes:
        config: schema of its group's values.
        build: makes it from its values and its context. A `ValueError` is reported as a mistake in the values.
        uses_models: for minds: whether they think with the language models of their `TeamContext`.
        talks: for minds: whether the topology changes what they do.
        remembers: for minds: whether they keep a memory for the next episode, by `maeil.memory.Remembers`.
        compatible: for minds: which other minds they can share a team with.
        handover: for minds: how they take over in a branch of an episode. For topologies: `FRESH` if their turns follow
            from the state of the conversation alone, so that one can take over where a conversation begins.
        requires: for minds and topologies: returns the extensions without which they cannot work, with the values of
            each, by the values.
        inputs: returns digests of what affects runs besides the values, such as the texts of templates or a file that a
            value names, each under a name without the path of a machine, or, of such a file, under its key
            (`NamesFile`); given the values and the name of the world. They are part of the name of a cell.
            `quorum_base.digests` makes them. A `ValueError` is a mistake in the values.
        roles: returns roles by the values. For topologies: those that its turns name, with `maeil.mind.COORDINATOR`
            where it has one; None for none. For minds: those in which they ask language models; None for those of the
            topology.
        modules: imports the modules that the values name, and returns their names; given the values. What these are is
            part of the name of a cell. A `ValueError` is a mistake in a value, whose key it begins with: `id: ...`.
        draws: for minds: whether they draw at random by themselves, apart from what language models do.
    """

    config: type[C]
    build: Callable[[C, X], B_co]
    uses_models: bool = False
    talks: bool = True
    inputs: Callable[[C, str], Mapping[str, str]] = lambda _config, _world: {}
    roles: Callable[[C], Sequence[str] | None] = roles_of_topology
    modules: Callable[[C], Sequence[str]] = lambda _config: ()
    requires: Callable[[C], Mapping[str, Any]] = lambda _config: {}
    remembers: bool = False
    compatible: Compatibility = Compatibility.SAME_VALUES
    handover: Handover = Handover.NEVER
    draws: bool = False

    @property
    def answers(self) -> bool:
        """For minds: whether they ask a language model turn by turn, and so answer what extensions ask in turns."""
        return self.uses_models and self.roles is roles_of_topology

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            TypeError: one does not have its type.
        """
        if not (isinstance(self.config, type) and issubclass(self.config, BaseModel)):
            raise TypeError(
                f"Component(config, build): config is {self.config!r}; it must be a class of ComponentConfig"
            )
        for name in ("build", "inputs", "modules", "roles", "requires"):
            if not callable(getattr(self, name)):
                raise TypeError(f"Component(config, build): {name} is {getattr(self, name)!r}; it must be a function")
