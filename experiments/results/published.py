"""Results that others have published, to stand beside one's own."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, model_validator

Value = str | int | float | bool | None | Sequence[int | float]
"""A value of a factor; or what was published of a metric: a mean, a mean and its standard deviation, or nothing."""


class Published(BaseModel):
    """A published table.

    Each row holds the values of the factors, which name the runs that it stands beside, and then what was published of
    each metric there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    source: str = Field(min_length=1)
    """Where it stands, and how it was measured."""
    factors: Sequence[str] = Field(min_length=1)
    """Factors of a comparison by their full names: `arm`, `n`, `env.difficulty`."""
    metrics: Sequence[str] = Field(min_length=1)
    """By their full names: `outcome.success`."""
    rows: Sequence[Sequence[Value]]
    """As many values as factors and metrics; a mean with its standard deviation is `[9.9, 2.74]`."""

    @model_validator(mode="after")
    def _fits(self) -> Published:
        width = len(self.factors) + len(self.metrics)
        for number, row in enumerate(self.rows):
            if len(row) != width:
                raise ValueError(f"row {number} holds {len(row)} values, and there are {width} factors and metrics")
            for factor, value in zip(self.factors, row, strict=False):
                if isinstance(value, list | tuple):
                    raise ValueError(f"row {number}: {factor}: {value!r} is no value of a factor")
            for metric, value in zip(self.metrics, row[len(self.factors) :], strict=True):
                if isinstance(value, str | bool) or (isinstance(value, Sequence) and len(value) != 2):
                    raise ValueError(
                        f"row {number}: {metric}: {value!r} is no mean, no [mean, deviation], and not null"
                    )
        return self
