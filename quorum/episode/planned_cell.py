"""A cell as stored in the plan of a sweep."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from quorum.configuration.cell import Cell, line_of
from quorum.configuration.inputs import Inputs
from quorum.configuration.origin import Origin
from quorum.configuration.schema import validate
from quorum.episode.expected import Rest
from quorum.episode.start import BEGINNING, Start

Shared = MutableMapping[type, Any]
"""Data that the cells of one process read only once, such as recorded runs, by the class that holds it."""


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A compact cell, so that a plan can hold a million.

    Attributes:
        name: name of its folder.
        hash: hash of its configuration's identity.
        kind: see `Cell.kind`.
        arm: the experiment arm that it belongs to, if any.
        uses_models: whether its minds use language models.
        configuration: the resolved configuration as JSON.
        inputs: digests of further inputs that affect the result; cells planned together share them.
        episode: number in a line of episodes.
        line: key shared by the cells of one line, each of which starts with the memory of the previous one; empty if
            the team keeps no memory.
        follows: name of the previous cell in its line; empty for the first, and for cells outside lines.
        origin: the recorded run that it continues; None: none.
    """

    name: str
    hash: str
    kind: str
    arm: str | None
    uses_models: bool
    configuration: bytes = field(repr=False)
    inputs: Inputs = field(repr=False)
    episode: int = 0
    line: str = ""
    follows: str = ""
    origin: Origin | None = None

    @classmethod
    def of(cls, cell: Cell, arm: str | None = None) -> PlannedCell:
        """Convert a cell for a plan."""
        c = cell.configuration
        line = line_of(cell.plain, cell.inputs) if c.remembers else ""
        plain = bytes(memoryview(orjson.dumps(cell.plain)))  # a copy: orjson keeps 16 KiB for what it returns
        return cls(
            cell.name, cell.hash, cell.kind, arm, c.uses_models, plain, cell.inputs, episode=c.episode, line=line
        )

    @property
    def rest(self) -> Rest | None:
        """What the recorded run that it continues took from there on; None if it continues none."""
        return None

    def cell(self) -> Cell:
        """Return the full cell."""
        configuration = validate(orjson.loads(self.configuration), recorded=self.origin is not None)
        return Cell(configuration, self.inputs, self.origin)

    def start(self, shared: Shared) -> Start:  # noqa: ARG002
        """Return the start of its episode, for a single use.

        Args:
            shared: data that the cells of this process read once.

        Raises:
            UserError: the run that it continues is gone, or has changed since the cell was planned.
        """
        return BEGINNING
