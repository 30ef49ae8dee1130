"""Components: worlds, teams of minds, topologies, extensions and language models that a configuration can choose."""

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
"""The pydantic context for validating values read from the folder of a run."""


def may_name_files(info: ValidationInfo) -> bool:
    """Whether a value may be the path of a file for its validator to read.

    Values of a recorded run may not: they contain the file's content, and the folder may be untrusted.
    """
    return info.context is not RECORDED


class ComponentConfig(BaseModel):
    """Base of every component's configuration.

    Fields have no defaults. All values are in the configuration files, so that missing, unknown and invalid keys fail
    on loading.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Name under which the component is registered."""

    @classmethod
    def implied(cls, _values: Mapping[str, Any]) -> Mapping[str, int]:
        """Return the shared keys that a world's values determine unless the user sets them: a board has its own `n`.

        Args:
            _values: the values before they are checked.
        """
        return {}


@dataclass(frozen=True, slots=True)
class Usual:
    """Marks a key that a later version added, with `Annotated`; its value reproduces the behaviour of older versions.

    A key with this value is excluded from the cell hash, so hashes of older cells stay valid.

    Attributes:
        value: the value as JSON data.
    """

    value: object


@dataclass(frozen=True, slots=True)
class TopologyContext:
    """The context in which a topology is built.

    Attributes:
        agents: number of embodied agents.
        seeds: the topology's random streams.
    """

    agents: int
    seeds: Seeds = field(default_factory=lambda: Seeds(0, "topology"))


class NamesFile:
    """Marks a key of a mind or an extension that names a file, with `Annotated`.

    The cell hash includes the file's content (`Component.inputs`), but not its path.
    """


class Compatibility(StrEnum):
    """Which other minds can share a team with the minds of a component."""

    ANYBODY = "anybody"
    """Any other minds: each mind decides for itself."""
    SAME_KIND = "same_kind"
    """Only minds of the same component; their values may differ."""
    SAME_VALUES = "same_values"
    """Only minds of the same component with the same values: one of them decides for the others."""


class Handover(StrEnum):
    """How a component takes over from another one in the middle of an episode."""

    FRESH = "fresh"
    """It starts at the handover, because its decisions depend on its views only."""
    SHADOW = "shadow"
    """It runs as a shadow from the start; its answers are discarded until the handover. It asks no language model."""
    NEVER = "never"
    """It cannot take over: its state depends on the whole episode."""


@dataclass(frozen=True, slots=True)
class TeamContext:
    """The context in which a team of minds is built.

    Attributes:
        world: the world in which the team acts.
        topology: the team's topology; there is a coordinator if `topology.coordinated`.
        seeds: the team's random streams. The mind of participant i uses `seeds.child(i)`, so its draws do not depend on
            the other minds.
        models: returns the language model of a participant, by name; minds without a model ignore it.
        memories: the team's memories from the previous episode, by `maeil.memory.Remembers.memory_name`; empty if there
            was none. They come from a file that may be untrusted: minds validate them, and raise a `ValueError` for
            data in a wrong format.
        own: indices of the participants that use these minds; None for all. In a mixed team, the others use minds of
            other components or with other values (`Component.compatible`).
        thoughts: whether to ask a participant's model for its reasoning, by name of the participant and role, if the
            prompts leave that open. Reasoning models are not asked.
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
        """Whether the team needs a coordinator's mind, after those of the agents."""
        return self.topology.coordinated and (self.own is None or len(self.world.agents) in self.own)


def roles_of_topology(_config: Any) -> None:
    """Return None: the mind asks models only in the turns of the topology, and has no roles."""


C = TypeVar("C", bound=BaseModel)
X = TypeVar("X")
B_co = TypeVar("B_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Component(Generic[C, X, B_co]):
    """A component that a configuration can choose.

    | kind | context | result of `build` |
    |---|---|---|
    | world | None | `maeil.world.World` |
    | topology | `TopologyContext` | `maeil.topology.Topology` |
    | minds | `TeamContext` | a sequence of `maeil.mind.Mind`: agents by index, then the coordinator |
    | provider of a language model | None | `quorum.agents.llm.protocol.Model` |
    | extension of the loop | `ExtensionContext` | `maeil.extension.Extension` |
    | engine of sweeps | None | `quorum.sweeps.engines.protocol.Engine` |
    | tracker of runs | None | `quorum.runs.tracking.Tracker` |

    Attributes:
        config: schema of the component's values.
        build: builds the component from its values and its context. A `ValueError` is reported as an error in the
            values.
        uses_models: for minds: whether they use the language models of their `TeamContext`.
        talks: for minds: whether the topology affects them.
        remembers: for minds: whether they keep a memory for the next episode (`maeil.memory.Remembers`).
        compatible: for minds: which other minds can share a team with them.
        handover: for minds: how they take over in a branch of an episode. For topologies: `FRESH` if their turns depend
            on the state of the conversation only, so that they can take over when a conversation starts.
        requires: for minds and topologies: returns the extensions that they require, by name, with their values; takes
            the component's values.
        inputs: returns digests of everything else that affects runs, such as the text of templates or a file that a
            value names; takes the values and the name of the world. The digests are part of the cell hash, so their
            names must not contain local paths; a file named by a value goes under its key (`NamesFile`).
            `quorum_base.digests` computes them. A `ValueError` is reported as an error in the values.
        roles: returns roles; takes the values. For topologies: the roles in their turns, and `maeil.mind.COORDINATOR`
            if there is one; None for none. For minds: the roles in which they ask language models; None for those of
            the topology.
        modules: imports the modules that the values name, and returns their names; takes the values. The content of the
            modules is part of the cell hash. A `ValueError` is an error in a value, and starts with its key: `id: ...`.
        draws: for minds: whether they make random choices of their own, apart from language models.
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
        """For minds: whether they ask a language model in every turn, and so can answer questions of extensions."""
        return self.uses_models and self.roles is roles_of_topology

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            TypeError: an argument has the wrong type.
        """
        if not (isinstance(self.config, type) and issubclass(self.config, BaseModel)):
            raise TypeError(
                f"Component(config, build): config is {self.config!r}; it must be a class of ComponentConfig"
            )
        for name in ("build", "inputs", "modules", "roles", "requires"):
            if not callable(getattr(self, name)):
                raise TypeError(f"Component(config, build): {name} is {getattr(self, name)!r}; it must be a function")
