"""A cell as the plan of a sweep holds it."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from quorum.configuration.cell import Cell, line_of
from quorum.configuration.inputs import Inputs, recorded
from quorum.configuration.origin import Origin
from quorum.configuration.schema import validate
from quorum.episode.expected import Rest
from quorum.episode.start import BEGINNING, Start

Shared = MutableMapping[type, Any]
"""What the cells of one process read once, such as recorded runs, by the class that holds it."""


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell in so few bytes that a plan can hold a million.

    Attributes:
        name: of its folder.
        hash: of its configuration's identity.
        kind: as `Cell.kind`.
        arm: the arm of the experiment that it belongs to, if any.
        uses_models: whether its minds think with language models.
        configuration: the resolved configuration as JSON.
        inputs: digests of what also decides; cells that are planned together share them.
        episode: number in a line of episodes.
        line: equal for the cells of one line, each of which begins with the memory of the one before; empty where the
            team takes none along.
        follows: name of the cell before it in its line; empty for the first, and for cells of no line.
        origin: what it goes back to; None: nothing.
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
        """Keep what a plan needs of a cell."""
        c = cell.configuration
        line = line_of(cell.plain, cell.inputs) if c.remembers else ""
        plain = bytes(memoryview(orjson.dumps(cell.plain)))  # a copy: orjson keeps 16 KiB for what it returns
        return cls(
            cell.name, cell.hash, cell.kind, arm, c.uses_models, plain, cell.inputs, episode=c.episode, line=line
        )

    @property
    def rest(self) -> Rest | None:
        """What the recorded run that it continues took from there on; None: it continues none."""
        return None

    def cell(self) -> Cell:
        """Return the cell itself."""
        configuration = validate(orjson.loads(self.configuration), recorded=self.origin is not None)
        return Cell(configuration, configuration.plain(), recorded(self.inputs)(configuration), self.origin)

    def start(self, shared: Shared) -> Start:  # noqa: ARG002
        """Return the start of its episode, for one episode.

        Args:
            shared: what the cells of this process read once.

        Raises:
            UserError: the run that it continues is gone, or has changed since the cell was planned.
        """
        return BEGINNING
