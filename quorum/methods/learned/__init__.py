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
"""Maximum size of an edge file, in characters: enough for 256 agents that all write to each other."""


class LearnedConfig(ComponentConfig):
    """Parameters of `learned`."""

    name: Literal["learned"]
    rounds: PositiveInt
    """Number of rounds in which all agents speak at once before they plan."""
    edges: list[tuple[NonNegativeInt, NonNegativeInt]]
    """Pairs of agent indices, sender first, or the path of a file that holds them."""

    @field_validator("edges", mode="before")
    @classmethod
    def _are_pairs(cls, value: Any, info: ValidationInfo) -> Any:
        """Replace a file path by its edges, so that the configuration and its hash contain the edges themselves."""
        found = read_edges(Path(value)) if isinstance(value, str) and may_name_files(info) else value
        return [tuple(edge) if isinstance(edge, list) else edge for edge in found] if isinstance(found, list) else found


def read_edges(file: Path) -> Any:
    """Read the key `edges` of a YAML file, such as one written by `examples/agent_prune.py`.

    Raises:
        ValueError: the file is missing or holds no edges.
    """
    try:
        with file.open(encoding="utf-8") as opened:
            text = opened.read(_LONGEST + 1)
        # The YAML parser is slow, so skip it for files that cannot hold edges.
        data = yaml.safe_load(text) if "edges" in text and len(text) <= _LONGEST else None
    except (OSError, ValueError, yaml.YAMLError) as error:
        why = error.strerror if isinstance(error, OSError) else f"not a YAML file ({type(error).__name__})"
        raise ValueError(f"{file}: {why}; give a YAML file with a key `edges`") from error
    if len(text) > _LONGEST:
        raise ValueError(f"{file}: it is longer than {_LONGEST:,} characters, the limit for a file with edges")
    if not isinstance(data, dict) or "edges" not in data:
        raise ValueError(f"{file}: it has no key `edges`, a list of pairs such as [[0, 1], [2, 0]]")
    return data["edges"]


class Learned(AlongEdges):
    """Rounds in which all agents that need a plan write at once along their edges; then all decide.

    Edges are directed: a recipient cannot necessarily reply to the sender.
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
        """Return the recipients of each agent."""
        found: list[set[int]] = [set() for _ in range(conversation.agents)]
        for a, b in self._edges:
            found[a].add(b)
        return [sorted(others) for others in found]


component = Component(LearnedConfig, Learned, handover=Handover.FRESH)
