"""Hints for a key, such as a model's name, that the chosen language model provider does not have."""

from __future__ import annotations

from quorum.agents.llm.prices import services_of
from quorum.configuration.catalogue import options

_GROUP = "llm"
_MOST = 3


def provider_hint(key: str, value: object) -> str:
    """Return the presets that have a key and know the model, if the value names one; empty if none has it.

    Args:
        key: full key, such as `llm.model` or `llm.agents.agent_0.model`.
        value: its value, or a list of several.
    """
    place, _, name = key.rpartition(".")
    if key.partition(".")[0] != _GROUP:
        return ""
    presets = {option.name: option.knobs for option in options() if option.group == _GROUP}
    having = [preset for preset, knobs in presets.items() if any(knob.key == name for knob in knobs)]
    models = value if isinstance(value, list) else [value]
    known = [preset for preset in having if name == "model" and any(preset in services_of(str(one)) for one in models)]
    setting = place if place == _GROUP else f"{place}.preset"
    if len(chosen := known or having) > _MOST:
        return f"Set the provider, too: {setting}=NAME. `quorum list {_GROUP}` shows those with the key {name}."
    words = " or ".join(f"{setting}={preset}" for preset in chosen)
    return f"Set the provider, too: {words}." if chosen else ""
