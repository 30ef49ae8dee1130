"""Talk along the edges of any graph: fixed ones by name or as a list, or a dynamic one of who is near whom.

Those of `learned` are directed: `quorum fit topology` has learned them from episodes (AgentPrune, arXiv 2410.02506).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, ValidationInfo, field_validator

from maeil.component import Component, ComponentConfig, Handover, TopologyContext, may_name_files
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology, turns_with
from quorum.topologies.edges import Edge, check_edges, near, neighbours, ring, small_world, tree


class GraphConfig(ComponentConfig):
    """Parameters of `graph`."""

    name: Literal["graph"]
    shape: Literal["ring", "star", "tree", "small_world", "edges", "near"]
    """Which graph; every edge goes both ways."""
    rounds: PositiveInt
    """How often all speak at once before all plan."""
    edges: list[tuple[NonNegativeInt, NonNegativeInt]]
    """Pairs of agent indices, for `edges`."""
    branching: PositiveInt
    """Children of each agent, for `tree`; agent 0 is the root."""
    neighbours: PositiveInt
    """Neighbours of each agent before rewiring, for `small_world`; half of them on either side of the ring."""
    rewiring: Annotated[float, Field(ge=0, le=1)]
    """Probability that an edge is rewired, for `small_world`."""
    rewiring_seed: NonNegativeInt
    """Seed of the rewiring, for `small_world`."""
    radius: NonNegativeFloat
    """Largest distance of agents that can talk, in the world's measure, for `near`."""


class AlongEdges(Topology):
    """Rounds in which all who need a plan speak at once, each to whom it can; then they and those they woke decide.

    Args:
        rounds: how often they speak.
        edges: those that the configuration lists.
        context: the team.

    Raises:
        ValueError: an edge does not join two of the agents.
    """

    def __init__(self, rounds: int, edges: Sequence[Edge], context: TopologyContext | None) -> None:
        if context is not None:
            check_edges(edges, context.agents)
        self.rounds: int = rounds

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turns of all speakers of the round, or a turn to plan for everybody."""
        if not conversation.quiet:
            return []
        spoken = turns_with(Act.SPEAK, conversation)
        for done in range(self.rounds):
            if speakers := [a for a in conversation.opened_by if spoken[a] <= done and conversation.may_speak(a)]:
                reach = self.reach(conversation)
                talkers = [Turn(a, frozenset({Act.SPEAK}), tuple(reach[a])) for a in speakers if reach[a]]
                if talkers:
                    return talkers
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]

    @abstractmethod
    def reach(self, conversation: ConversationState) -> Sequence[Sequence[int]]:
        """Return whom each agent can write to, ascending."""


class Graph(AlongEdges):
    """Talk along the edges of a graph; each goes both ways."""

    name = "graph"
    words = "Each agent can write only to its neighbours. Pass on what other agents should know."

    def __init__(self, config: GraphConfig, context: TopologyContext | None = None) -> None:
        super().__init__(config.rounds, config.edges, context)
        self._config = config

    def reach(self, conversation: ConversationState) -> Sequence[Sequence[int]]:
        """Return the neighbours of each agent."""
        return neighbours(self._edges(conversation), conversation.agents)

    def _edges(self, conversation: ConversationState) -> Iterable[Edge]:
        n, config = conversation.agents, self._config
        match config.shape:
            case "ring":
                return ring(range(n))
            case "star":
                return [(0, a) for a in range(1, n)]
            case "tree":
                return tree(n, config.branching)
            case "small_world":
                return small_world(n, config.neighbours, config.rewiring, config.rewiring_seed)
            case "edges":
                return config.edges
            case "near":
                return near(range(n), conversation, config.radius)


_LONGEST = 1_000_000
"""Characters of a file with edges, at most: 256 agents who all write to each other."""


class LearnedConfig(ComponentConfig):
    """Parameters of `learned`."""

    name: Literal["learned"]
    rounds: PositiveInt
    """How often all speak at once before all plan."""
    edges: list[tuple[NonNegativeInt, NonNegativeInt]]
    """Who may write to whom, as pairs of agent indices; or the path of the file that holds them."""

    @field_validator("edges", mode="before")
    @classmethod
    def _are_pairs(cls, value: Any, info: ValidationInfo) -> Any:
        """Keep the edges themselves, so that the configuration and its hash hold them wherever they came from."""
        found = read_edges(Path(value)) if isinstance(value, str) and may_name_files(info) else value
        return [tuple(edge) if isinstance(edge, list) else edge for edge in found] if isinstance(found, list) else found


def read_edges(file: Path) -> Any:
    """Read the edges of a file that `quorum fit topology` has written: what its key `edges` holds.

    Raises:
        ValueError: there is no such file, or it holds no edges.
    """
    try:
        with file.open(encoding="utf-8") as opened:
            text = opened.read(_LONGEST + 1)
        # It is parsed slowly: other files are not.
        data = yaml.safe_load(text) if "edges" in text and len(text) <= _LONGEST else None
    except (OSError, ValueError, yaml.YAMLError) as error:
        why = error.strerror if isinstance(error, OSError) else f"no YAML ({type(error).__name__})"
        raise ValueError(f"{file}: {why}; `quorum fit topology` writes such files") from error
    if len(text) > _LONGEST:
        raise ValueError(f"{file}: it is longer than {_LONGEST:,} characters, and no file with edges is")
    if not isinstance(data, dict) or "edges" not in data:
        raise ValueError(f"{file}: it has no key `edges`; `quorum fit topology` writes such files")
    return data["edges"]


class Learned(AlongEdges):
    """Rounds in which all who need a plan speak at once to those whom their edges lead to; then all decide.

    Edges are directed: who may write to another is not always written to by it.
    """

    name = "learned"
    words = (
        "Each agent can write only to some of the others, and they may not be able to answer. Pass on what more agents "
        "should know."
    )

    def __init__(self, config: LearnedConfig, context: TopologyContext | None = None) -> None:
        super().__init__(config.rounds, config.edges, context)
        self._edges = config.edges

    def reach(self, conversation: ConversationState) -> Sequence[Sequence[int]]:
        """Return whom each agent can write to."""
        found: list[set[int]] = [set() for _ in range(conversation.agents)]
        for a, b in self._edges:
            found[a].add(b)
        return [sorted(others) for others in found]


component = Component(GraphConfig, Graph, handover=Handover.FRESH)
learned = Component(LearnedConfig, Learned, handover=Handover.FRESH)
