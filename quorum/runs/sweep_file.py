"""The schema of `sweep.json`, the plan of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from quorum.storage.run_files import MIB, RunFiles
from quorum_base.user_errors import UserError

Value = str | int | float | bool | None | Sequence[int | float]
"""A value of a factor; or a published value of a metric: a mean, a mean and its standard deviation, or nothing."""


class Published(BaseModel):
    """A published table.

    Each row holds the values of the factors, which select the matching runs, and then the published value of each
    metric.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    source: str = Field(min_length=1)
    """The publication, and how the values were measured."""
    factors: Sequence[str] = Field(min_length=1)
    """Factors of a comparison by their full names: `arm`, `n`, `env.difficulty`."""
    metrics: Sequence[str] = Field(min_length=1)
    """Metrics by their full names: `outcome.success`."""
    trials: int | None = Field(None, gt=0)
    """Number of runs behind each row; None: not published."""
    of_successes: Sequence[str] = ()
    """Metrics whose means are over the successful runs only."""
    tolerance: float = Field(0.0, ge=0)
    """Reading tolerance of the numbers, as a share of each: 0.05 for values read off a plot."""
    least: float | None = 0.0
    """Smallest possible value of the metrics; None: none."""
    rows: Sequence[Sequence[Value]]
    """As many values as factors and metrics; a mean with its standard deviation is `[9.9, 2.74]`."""

    @model_validator(mode="after")
    def _fits(self) -> Published:
        width = len(self.factors) + len(self.metrics)
        for number, row in enumerate(self.rows):
            if len(row) != width:
                raise ValueError(f"row {number} has {len(row)} values, but there are {width} factors and metrics")
            for factor, value in zip(self.factors, row, strict=False):
                if isinstance(value, list | tuple):
                    raise ValueError(f"row {number}: {factor}: {value!r} cannot be the value of a factor")
            for metric, value in zip(self.metrics, row[len(self.factors) :], strict=True):
                if isinstance(value, str | bool) or (isinstance(value, Sequence) and len(value) != 2):
                    raise ValueError(f"row {number}: {metric}: {value!r} is not a mean, a [mean, deviation] or null")
        return self


PLAN = "sweep.json"
_LARGEST = 512 * MIB
SCHEMA = 1
"""The file version that is written and read."""


class DamagedPlan(UserError):
    """`sweep.json` is not valid."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class SweepCell(_Part):
    """One cell of a plan."""

    name: str
    """Name of its folder."""
    hash: str
    """Hash of its configuration."""
    arm: str | None = None
    """The arm that it belongs to."""


class SweepParent(_Part):
    """The recorded prefix of a run from which cells branch off."""

    run: str
    """Folder of the run, relative to the sweep's folder."""
    at: str
    """The instant: `12`, or `12:57` with the time of the cognitive clock."""
    prefix: str
    """Digest of the run's events before that instant."""


class Sweep(_Part):
    """A plan."""

    version: int = Field(alias="schema")
    """Version of the file's schema."""
    name: str
    """Name of the sweep."""
    experiment: str | None = None
    """The named experiment, if any."""
    arguments: Sequence[str] = ()
    """The arguments as given."""
    command: str = ""
    """The command that runs it again."""
    arms: Mapping[str, Sequence[str]] = {}
    """The arguments of each arm."""
    metrics: Sequence[str] = ()
    """Metrics that a comparison shows by default; empty: the usual ones."""
    published: Published | None = None
    """Comparable results published by others."""
    parents: Sequence[SweepParent] = ()
    """The runs from which its cells branch off, if they are branches."""
    cells: Sequence[SweepCell]
    """In planning order."""


class _Version(_Part):
    version: int = Field(alias="schema")


def read_sweep(folder: Path) -> Sweep | None:
    """Read the plan of a folder; None if there is none.

    Raises:
        DamagedPlan: it is damaged.
        UserError: it cannot be read (a `DamagedFile`), or is newer than this version.
    """
    file = folder / PLAN
    text = RunFiles(folder).read(PLAN, _LARGEST)
    if text is None:
        return None
    try:
        version = _Version.model_validate_json(text).version
        if version > SCHEMA:
            raise UserError(f"{file}: written by a newer version of Quorum (schema {version}; this one reads {SCHEMA})")
        return Sweep.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise DamagedPlan(
            f"{file}: damaged: {where}: {first['msg']}",
            "Run the sweep's command again, which rewrites the file. Or move the file away: the runs do not need it.",
        ) from error
