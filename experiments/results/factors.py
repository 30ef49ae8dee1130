"""A configuration as flat factors."""

from __future__ import annotations

import json
from typing import Any

from quorum.experiments.results.rows import Scalar


def flatten(configuration: dict[str, Any]) -> dict[str, Scalar]:
    """Give the leaves of a configuration by dotted key; a list as its JSON text, an empty map not at all."""
    leaves: dict[str, Scalar] = {}
    _collect(configuration, "", leaves)
    return leaves


def _collect(values: dict[str, Any], prefix: str, leaves: dict[str, Scalar]) -> None:
    for key, value in values.items():
        if isinstance(value, dict):
            _collect(value, f"{prefix}{key}.", leaves)
        elif isinstance(value, list):
            leaves[prefix + key] = json.dumps(value, ensure_ascii=False)
        else:
            leaves[prefix + key] = value
