"""Measures: what `quorum results` finds out about a run in addition to what its trace holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from maeil.metrics import Value
from quorum.runs.derived import Records


class Measure(ABC):
    """What is found out about runs on demand, by playing them again for example.

    The group `measures` of a `components.json`, or an entry point of the group `quorum.measures`, names a function. Its
    keyword arguments are options of `quorum results`, its docstring explains them there, and it returns a measure, or
    None without these options. It is imported for the help of the command, so it imports what it needs when it is
    called.

    Example:
        ```python
        def luck(*, luck: Annotated[bool, typer.Option("--luck", help="Measure luck.")] = False) -> Any:
            return Luck() if luck else None
        ```
    """

    estimates: bool = False
    """Whether the user asks for an estimate of what it takes, and for nothing else."""

    @abstractmethod
    def check(self, per: str | None, *, write: bool) -> None:
        """Check the options of the verb before anything is computed.

        Args:
            per: the table of `--per`; None for none.
            write: whether the metrics are written next to the traces.

        Raises:
            UserError: they do not go with the measure.
        """

    @abstractmethod
    def metrics(self, run: Path) -> Mapping[str, Value]:
        """Return metrics of a run.

        Raises:
            UserError: they cannot be found out.
        """

    @abstractmethod
    def joined(self, run: Path, per: str, rows: Records) -> Records:
        """Return the rows of the table `per` of a run with columns of the measure.

        Raises:
            UserError: as `metrics`.
        """

    def estimate(self, runs: Iterable[Path]) -> Mapping[str, Any]:
        """Return what it would take of some runs, JSON-ready.

        Raises:
            UserError: as `metrics`.
        """
        raise NotImplementedError
