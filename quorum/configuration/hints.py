"""Hints for words that a configuration does not know: keys, options, and the words of other harnesses."""

from __future__ import annotations

import re
import shlex

from quorum.agents.llm.prices import services_of
from quorum.configuration.catalogue import BUILTIN_GROUPS, SWEEP_GROUPS, knobs, options
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.registry import ALL_REGISTRIES
from quorum_base.user_errors import UserError, choices_hint

_GROUP = "llm"
_MOST = 3
_MODEL = ("model", "models")
_NAMES = {"seeds": "seed", **dict.fromkeys(("num_agents", "n_agents", "team_size"), "n")}
"""Keys that have another name here."""
_REPEATS = ("episodes", "num_episodes", "n_episodes", "repeats", "trials")
"""Numbers of episodes: here, the boards of a sweep."""
_SPAN = re.compile(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*")
_MOST_LISTED = 1000
"""Maximum numbers to list for a mixture of ranges and numbers."""


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


def no_option(group: str, name: str, config_dir: ConfigDir = (), place: str = "") -> UserError:
    """Return the error for an unknown option of a group; it names near options, and the flag that may be missing.

    An option is also found by the names in its description, such as `topology=broadcast` for the broadcast chain.

    Args:
        group: the group.
        name: the unknown name.
        config_dir: see `options`.
        place: the key that has this value, if it is not the group.
    """
    known = sorted((option.name, option.description) for option in options(config_dir) if option.group == group)
    registered = {registry.group: registry.names() for registry in ALL_REGISTRIES}
    if name in registered.get(group, ()):
        own = f"It is registered, but its values are missing: write DIR/{group}/{name}.yaml and add --config-dir DIR."
    elif group == _GROUP:
        own = f"To name a model, write {_GROUP}=PROVIDER {_GROUP}.model={name}."
    elif group in registered:
        own = "To use your own, add --plugin MODULE or install its package."
    else:
        own = "To use your own, add --config-dir DIR."
    begin = f"{place}: there is no option {name!r} of {group}" if place else f"{group}: there is no option {name!r}"
    if words := usual_words(group, name):
        return UserError(begin, f"Write {words}. `quorum list {group}` shows the options.")
    hint = choices_hint(name, f"Options of {group}", [option for option, _ in known], dict(known))
    return UserError(begin, f"{hint} {own}")


def usual_words(key: str, value: str) -> str:
    """Return what to type for a key and a value that have other words here; empty if there is nothing to say.

    `model=gpt-4o` is `llm=openai llm.model=gpt-4o`, `seeds=0-9` is `seed=range(0,10)`, and `agents=debate` is
    `topology=debate`.

    Args:
        key: what the user typed as the key, with or without dashes; empty for a value without a key.
        value: its value.
    """
    name = key.lstrip("-").replace("-", "_")
    found = list(options())
    homes = [option.group for option in found if option.name == value]
    own = {*BUILTIN_GROUPS, *SWEEP_GROUPS, *(knob.key.partition(".")[0] for knob in knobs())}
    words = []
    if name in homes:
        words = [f"{name}={value}"]
    elif name in ("", *_MODEL, _GROUP, "agents") and (model := _known_model(value)):
        words = model
    elif name in _MODEL:
        words = [f"{_GROUP}=PROVIDER", f"{_GROUP}.model={value}"]
    elif homes and (name in ("", *BUILTIN_GROUPS) or name.partition(".")[0] not in own):
        words = [f"{homes[0]}={value}"]
    elif name == "agents" and span(value):
        words = [f"n={span(value)}"]
    elif name in _REPEATS and value.isdecimal() and int(value) > 1:
        words = [f"seed=range(0,{value})"]
    elif _NAMES.get(name, name).partition(".")[0] in own:
        words = [f"{_NAMES.get(name, name)}={span(value) or value}"]
    elif any(f"{_GROUP}.{name}" == knob.key for option in found if option.group == _GROUP for knob in option.typed):
        words = [f"{_GROUP}.{name}={value}"]
    return "" if words == [f"{key}={value}"] else shlex.join(words)


def _known_model(model: str) -> list[str]:
    """Return the arguments for a model: `PROVIDER/NAME`, or a name with a known price; empty if it is neither."""
    presets = [option.name for option in options() if option.group == _GROUP]
    if model.partition("/")[0] in presets:
        return model_words(model)
    return next(([f"{_GROUP}={one}", f"{_GROUP}.model={model}"] for one in presets if one in services_of(model)), [])


def model_words(model: str, config_dir: ConfigDir = ()) -> list[str]:
    """Return the arguments for `PROVIDER/NAME`: `llm=PROVIDER` and `llm.model=NAME`.

    Args:
        model: a provider, and the name of its model if it has several; names may contain slashes.
        config_dir: folders with more providers.

    Raises:
        UserError: there is no such provider.
    """
    presets = {option.name: option.description for option in options(config_dir) if option.group == _GROUP}
    provider, slash, name = model.partition("/")
    if provider not in presets:
        known = next((one for one in presets if one in services_of(model)), "")
        hint = f"Write --model {known or 'PROVIDER'}/{model}." if known or not slash else ""
        listing = "" if known else choices_hint(provider, "Providers", sorted(presets))
        raise UserError(f"--model {model}: {provider!r} is not a provider", f"{hint} {listing}".strip())
    return [f"{_GROUP}={provider}", *([f"{_GROUP}.model={quoted(name)}"] if slash else [])]


def quoted(value: str) -> str:
    """Quote a value for Hydra's grammar if it has other characters than names and addresses have."""
    if re.fullmatch(r"[A-Za-z][\w./:@+-]*", value):
        return value
    return '"{}"'.format(value.replace("\\", "\\\\").replace('"', '\\"'))


def span(text: str) -> str:
    """Return numbers and ranges such as `0-9,12` in the grammar of sweeps; empty if the text is something else."""
    parts = [_SPAN.fullmatch(part) for part in text.split(",")]
    ranges = [range(int(part[1]), int(part[2] or part[1]) + 1) for part in parts if part]
    if len(ranges) < len(parts) or not all(ranges):
        return ""
    if len(ranges) == 1 and len(ranges[0]) > 1:
        return f"range({ranges[0].start},{ranges[0].stop})"
    return ",".join(str(number) for part in ranges for number in part) if sum(map(len, ranges)) <= _MOST_LISTED else ""
