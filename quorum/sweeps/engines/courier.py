"""The interface of couriers, which deliver a sweep's requests: an engine with a courier sends none itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from quorum.agents.llm.delivery import Delivery
from quorum.episode.planned_cell import PlannedCell


class Courier(ABC):
    """Delivers the requests of all cells of a sweep at batch prices. Instances can be pickled."""

    @abstractmethod
    def check(self, folder: Path, cells: Iterable[PlannedCell]) -> None:
        """Check that the requests of cells can be delivered, before anything is sent.

        Args:
            folder: folder of the sweep; it need not exist.
            cells: cells of the plan.

        Raises:
            UserError: the requests cannot be delivered.
        """

    @abstractmethod
    def open(self, folder: Path) -> Delivery:
        """Return a worker's delivery for the sweep in `folder`.

        Raises:
            UserError: files that an earlier worker left there are damaged.
        """

    @abstractmethod
    def cancel(self, folder: Path, cells: Iterable[PlannedCell]) -> dict[str, Any]:
        """Cancel open requests at the providers; return JSON-ready counts.

        Raises:
            UserError: another command runs the sweep, or a provider does not answer.
        """
