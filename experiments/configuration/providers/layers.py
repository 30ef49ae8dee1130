"""Values of one model over those of another: what an agent, a role or a fallback has in the place of the group's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

OWN = ("base_url", "api_key_env", "model", "prices", "service_tier")
"""Keys that belong to one provider: values with another provider do not inherit them."""
_WHO = ("name", *OWN)
"""Keys that say who answers."""
OF_THE_GROUP = ("agents", "roles")
"""Keys that stand in the group alone."""


def layered(
    values: Mapping[str, Any], layers: Sequence[Mapping[str, Any]], keys_of: Callable[[str], Mapping[str, Any]]
) -> dict[str, Any]:
    """Put values over those of the group `llm`, key by key, the last over all.

    Who answers is said in one place: by the last layer that names a model or a provider. So the address of a role's
    model is never asked for the model of an agent.

    Args:
        values: of the group.
        layers: what stands in their place.
        keys_of: returns the keys that a provider has, by its name.

    Returns:
        The values of one model, in which nobody else has values of their own.
    """
    decides = max((index for index, own in enumerate(layers) if "name" in own or "model" in own), default=-1)
    merged = dict(values)
    for index, layer in enumerate(layers):
        own = dict(layer)
        if index < decides:
            known = keys_of(merged["name"])
            own = {key: value for key, value in own.items() if key in known and key not in _WHO}
        merged = _over(merged, own, keys_of(own.get("name", merged["name"])))
    return {**merged, **{key: {} for key in OF_THE_GROUP if key in merged}}


def _over(values: Mapping[str, Any], own: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    other = own.get("name", values["name"]) != values["name"]
    inherited = {key: value for key, value in values.items() if not other or (key in known and key not in OWN)}
    if "prices" in known and "model" in own:
        inherited["prices"] = None  # they were those of another model
    return {**inherited, **own}
