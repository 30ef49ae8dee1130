"""The origin of a cell besides its configuration, such as the recorded run that a branch continues."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from quorum.configuration.registry import origins
from quorum_base.user_errors import UserError

ORIGIN: Final = "branch"
"""The key of an origin in the hash of its cell, in `meta.json`, and in the first event of the trace.

It is also the kind of origins that state none, because branches were the first origins.
"""
PARENT: Final = "parent"
"""Factor of every origin: name of the run that the cell continues."""
CHANGE: Final = "change"
"""Factor of every origin: what the cell changes in that run, or `NO_CHANGE`. Runs without an origin lack it."""
NO_CHANGE: Final = "none"
"""Value of `CHANGE` in a cell that continues a run unchanged."""
DRAW: Final = "draw"
"""Factor of every origin: the cell's sample number; sample 0 equals the run if there is no change."""

Scalar = str | int | float | bool | None
"""A value of a factor; a list is stored as JSON text."""


class Origin(ABC):
    """The origin of a cell: a recorded run, where the cell leaves it, and what it changes from then on.

    It identifies the cell, labels its folder, and adds columns to its row. A start (`quorum.episode.start`) plays what
    it describes. Every method depends only on recorded values, so a results folder can be read without that run.
    Register the class under its kind, in the group `origins` of a `components.json` or with an entry point of the group
    `quorum.origins`. `quorum/spi.py` has an example.
    """

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """The part that identifies the cell, JSON-ready: no folder names, and a unique representation."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Its part of the name of the cell's folder: `at12`."""

    @property
    @abstractmethod
    def factors(self) -> Mapping[str, Scalar]:
        """Its columns in tables of results, including `PARENT`, `CHANGE` and `DRAW`."""

    @property
    @abstractmethod
    def beginning(self) -> tuple[Scalar, ...]:
        """Key shared by cells with the same start: a comparison pairs within it."""

    @abstractmethod
    def unchanged(self) -> Origin:
        """Return the origin of draw 0 without a change: the run itself stands in for such a cell."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data, for `meta.json` and the trace; includes its `kind` unless that is `branch`."""

    @classmethod
    @abstractmethod
    def read(cls, plain: Mapping[str, Any]) -> Origin:
        """Parse the result of `plain`. The file is untrusted.

        Raises:
            ValueError: it is not an origin of this kind.
        """


def read_origin(plain: Any) -> Origin | None:
    """Parse a recorded origin; None if there is none.

    Raises:
        ValueError: it is damaged, or its kind is not installed.
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
