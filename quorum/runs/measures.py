"""Measures: properties of runs that `quorum results` computes on demand, beyond the metrics of a trace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from maeil.metrics import Value
from quorum.runs.derived import Records


class Measure(ABC):
    """A property of runs computed on demand, for example by playing them again.

    The group `measures` of a `components.json`, or an entry point of the group `quorum.measures`, names a function. Its
    keyword arguments become options of `quorum results`, and its docstring is part of the help. It returns a measure,
    or None without these options. The help of the command imports it, so it should import its dependencies only when
    called.

    Example:
        ```python
        def luck(*, luck: Annotated[bool, typer.Option("--luck", help="Measure luck.")] = False) -> Any:
            return Luck() if luck else None
        ```
    """

    estimates: bool = False
    """Whether the user asks only for an estimate of what it takes."""

    @abstractmethod
    def check(self, per: str | None, *, write: bool) -> None:
        """Check the options of the verb before anything is computed.

        Args:
            per: the table of `--per`; None for none.
            write: whether the metrics are written next to the traces.

        Raises:
            UserError: they do not fit the measure.
        """

    @abstractmethod
    def metrics(self, run: Path) -> Mapping[str, Value]:
        """Return metrics of a run.

        Raises:
            UserError: they cannot be computed.
        """

    @abstractmethod
    def joined(self, run: Path, per: str, rows: Records) -> Records:
        """Return the rows of the table `per` of a run, with columns of the measure added.

        Raises:
            UserError: see `metrics`.
        """

    def estimate(self, runs: Iterable[Path]) -> Mapping[str, Any]:
        """Return an estimate of what the measure takes for some runs, JSON-ready.

        Raises:
            UserError: see `metrics`.
        """
        raise NotImplementedError
