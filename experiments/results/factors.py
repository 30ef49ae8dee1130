"""A configuration as flat factors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from experiments.results.rows import Scalar


def flatten(configuration: Mapping[str, Any]) -> dict[str, Scalar]:
    """Give the leaves of a configuration by dotted key; a list as its JSON text, an empty map not at all."""
    return dict(_leaves(configuration, ""))


def _leaves(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Scalar]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            yield f"{prefix}{key}", json.dumps(value, ensure_ascii=False)
        else:
            yield f"{prefix}{key}", value
