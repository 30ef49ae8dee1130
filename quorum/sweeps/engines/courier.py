"""The contract of what delivers the requests of a sweep: an engine that has a courier sends no request by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from quorum.agents.llm.delivery import Delivery
from quorum.episode.planned_cell import PlannedCell


class Courier(ABC):
    """Delivers the requests of all cells of a sweep at the price of batches. It can be pickled."""

    @abstractmethod
    def check(self, folder: Path, cells: Iterable[PlannedCell]) -> None:
        """Require that the requests of cells can be delivered, before anything is sent.

        Args:
            folder: of the sweep, which need not exist.
            cells: of its plan.

        Raises:
            UserError: they cannot.
        """

    @abstractmethod
    def open(self, folder: Path) -> Delivery:
        """Return the delivery of a worker of the sweep in a folder.

        Raises:
            UserError: what an earlier worker left there is damaged.
        """

    @abstractmethod
    def cancel(self, folder: Path, cells: Iterable[PlannedCell]) -> dict[str, Any]:
        """End what is open at the providers; return JSON-ready data that says how much that was.

        Raises:
            UserError: another command runs the sweep, or a provider does not answer.
        """
