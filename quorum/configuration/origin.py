"""What a cell goes back to besides its configuration, such as the recorded run that a branch continues."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from quorum.configuration.registry import origins
from quorum_base.user_errors import UserError

ORIGIN: Final = "branch"
"""The key of an origin in the hash of its cell, in `meta.json`, and in the first event of the trace.

It is also the kind of those that do not state one: a branch was the first origin that there was.
"""
PARENT: Final = "parent"
"""Factor of every origin: name of the run that the cell continues."""
CHANGE: Final = "change"
"""Factor of every origin: what the cell changes in that run, or `NO_CHANGE`. Runs without an origin lack it."""
NO_CHANGE: Final = "none"
"""Value of `CHANGE` in a cell that continues a run as it was."""
DRAW: Final = "draw"
"""Factor of every origin: which of several samples the cell is; 0 is the one that equals the run without a change."""

Scalar = str | int | float | bool | None
"""A value of a factor; a list is its JSON text."""


class Origin(ABC):
    """What a cell goes back to: a recorded run, where the cell leaves it, and what it changes from then on.

    It names the cell, labels its folder, and gives its row columns. A start (`quorum.episode.start`) plays
    what it describes. Every method follows from the recorded values alone, so that a results folder can be read without
    that run. Its class is offered under its kind, in the group `origins` of a `components.json` or by an entry point
    of the group `quorum.origins`. `quorum/spi.py` has an example.
    """

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """What of it names the cell, JSON-ready: no names of folders, and no two ways to write one thing."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Its part of the name of the cell's folder: `at12`."""

    @property
    @abstractmethod
    def factors(self) -> Mapping[str, Scalar]:
        """Its columns in tables of results, among them `PARENT`, `CHANGE` and `DRAW`."""

    @property
    @abstractmethod
    def beginning(self) -> tuple[Scalar, ...]:
        """What is equal for cells that share their start: a comparison pairs within it."""

    @abstractmethod
    def unchanged(self) -> Origin:
        """Return the origin of draw 0 without a change: the run itself stands in for such a cell."""

    @abstractmethod
    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data, for `meta.json` and the trace; with its `kind`, unless that is `branch`."""

    @classmethod
    @abstractmethod
    def read(cls, plain: Mapping[str, Any]) -> Origin:
        """Read what `plain` returned. The file is untrusted.

        Raises:
            ValueError: it is no such origin.
        """


def read_origin(plain: Any) -> Origin | None:
    """Read a recorded origin; None for none.

    Raises:
        ValueError: it is damaged, or of a kind that is not installed.
    """
    if plain is None:
        return None
    if not isinstance(plain, Mapping):
        raise ValueError("it should be an object")
    try:
        kind: type[Origin] = origins.get(str(plain.get("kind", ORIGIN)))
    except UserError as error:
        raise ValueError(str(error)) from error
    return kind.read(plain)
