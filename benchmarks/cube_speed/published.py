"""The scaling study of the CUBE page, as it was published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict


class Series(BaseModel):
    """A quantity against n."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quantity: str
    """What was measured."""
    unit: Literal["s", "MB", "%"]
    """Of the values."""
    sizes: Sequence[int]
    """Numbers of agents."""
    values: Sequence[float]
    """The published value at each."""
    last_digit: float = 0.0
    """Precision of the values; those below twice that say nothing about growth."""
    why: str = ""
    """Why even its growth is not comparable; empty: it is."""


def published_series() -> list[Series]:
    """Read the published quantities."""
    data = yaml.safe_load(Path(__file__).with_name("published.yaml").read_bytes())
    return [Series.model_validate(entry) for entry in data]
