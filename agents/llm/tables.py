"""The tables of providers and their models, which `models.yaml` holds with their sources and dates."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

T = TypeVar("T")


@cache
def _tables() -> dict[str, Any]:
    content = Path(__file__).with_name("models.yaml").read_bytes()
    return yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # type: ignore[no-any-return]


def model_table(name: str, kind: type[T]) -> T:
    """Return a table, converted to a type."""
    return msgspec.convert(_tables()[name], type=kind)
