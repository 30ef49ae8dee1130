"""Tables of providers and models, from YAML files that state their sources and dates."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

T = TypeVar("T")


@cache
def _read(file: str) -> dict[str, Any]:
    content = Path(__file__).with_name(file).read_bytes()
    return yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # type: ignore[no-any-return]


def model_table(name: str, kind: type[T]) -> T:
    """Return a table of `models.yaml`, converted to a type."""
    return msgspec.convert(_read("models.yaml")[name], type=kind)


def price_file(kind: type[T]) -> T:
    """Return `prices.yaml`, converted to a type."""
    return msgspec.convert(_read("prices.yaml"), type=kind)


def wordings(name: str) -> Any:
    """Return server wordings from `wordings.yaml`: a regular expression, or several in a list or by name."""
    return _read("wordings.yaml")[name]
