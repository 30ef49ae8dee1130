"""A cell as a plan holds it and a worker is given it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import orjson

from quorum.experiments.configuration.cell import Cell


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell in so few bytes that a plan can hold a million.

    Attributes:
        name: of its folder.
        hash: of its configuration's identity.
        kind: equal for cells that differ in nothing but the seed, and so are expected to cost the same.
        arm: the arm of the experiment that it belongs to, if any.
        uses_models: whether its minds think with language models.
        configuration: the resolved configuration as JSON.
    """

    name: str
    hash: str
    kind: str
    arm: str | None
    uses_models: bool
    configuration: bytes = field(repr=False)

    @classmethod
    def of(cls, cell: Cell, arm: str | None = None) -> PlannedCell:
        """Keep what a plan needs of a cell."""
        kind = hashlib.sha256(orjson.dumps({**cell.plain, "seed": None})).hexdigest()
        return cls(cell.name, cell.hash, kind, arm, cell.configuration.uses_models, orjson.dumps(cell.plain))

    def cell(self) -> Cell:
        """Return the cell itself."""
        return Cell.of(orjson.loads(self.configuration))
