"""What varies between the cells of a sweep, in a word each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quorum.experiments.configuration.team_label import team_label

GROUPS = ("env", "agents", "topology", "llm")
"""Groups whose options are told by their names; of language models, the model is."""


def names(configuration: Mapping[str, Any]) -> dict[str, str]:
    """Return the components of a cell by their groups.

    Args:
        configuration: of the cell, as plain data.
    """
    found = {group: str(configuration[group]["name"]) for group in GROUPS}
    found["agents"] = team_label(configuration["agents"])
    return found | {"llm": str(configuration["llm"].get("model") or found["llm"])}


def varied(configurations: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the groups of which there are several components, with the components in order."""
    found: dict[str, dict[str, None]] = {group: {} for group in GROUPS}
    for configuration in configurations:
        for group, name in names(configuration).items():
            found[group][name] = None
    return {group: tuple(several) for group, several in found.items() if len(several) > 1}
