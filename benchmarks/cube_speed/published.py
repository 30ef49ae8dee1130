"""The published scaling study of the CUBE page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict


class Series(BaseModel):
    """A quantity by number of agents."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quantity: str
    """The measured quantity."""
    unit: Literal["s", "MB", "%"]
    """Unit of the values."""
    sizes: Sequence[int]
    """Numbers of agents."""
    values: Sequence[float]
    """The published value for each size."""
    last_digit: float = 0.0
    """Precision of the values; values below twice that say nothing about growth."""
    why: str = ""
    """Why even its growth is not comparable; empty if it is."""


def published_series() -> list[Series]:
    """Read the published quantities."""
    data = yaml.safe_load(Path(__file__).with_name("published.yaml").read_bytes())
    return [Series.model_validate(entry) for entry in data]
