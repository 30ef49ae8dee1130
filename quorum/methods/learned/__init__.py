"""Talk along directed edges that `examples/agent_prune.py` learns from episodes (AgentPrune, arXiv 2410.02506)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import NonNegativeInt, PositiveInt, ValidationInfo, field_validator

from maeil.component import Component, ComponentConfig, Handover, TopologyContext, may_name_files
from maeil.topology import ConversationState
from quorum.topologies.graph import AlongEdges

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
    """Read the key `edges` of a YAML file, such as `examples/agent_prune.py` writes.

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
        raise ValueError(f"{file}: {why}; edges are in a YAML file with a key `edges`") from error
    if len(text) > _LONGEST:
        raise ValueError(f"{file}: it is longer than {_LONGEST:,} characters, and no file with edges is")
    if not isinstance(data, dict) or "edges" not in data:
        raise ValueError(f"{file}: it has no key `edges`, a list of pairs such as [[0, 1], [2, 0]]")
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


component = Component(LearnedConfig, Learned, handover=Handover.FRESH)
