"""Nested values. Minds of single participants: `agents.members.agent_2=planner`, `agents.leader={...}`.

The name of an `agents` option stands for the values in its file. A map may give that name as `name`, and its other keys
override these values. A map without a name overrides the values of the group itself. `prompts` may be the name of a
`prompts` option.

Values of models may name a preset: `{preset: groq, model: NAME}` has the values of `llm=groq` except those that every
provider has (`shared/calls`), which come from the group. Another provider named directly
(`{name: anthropic, model: NAME}`) takes missing values from the preset of that name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, ListConfig, OmegaConf, open_dict

from quorum.configuration.catalogue import option_names
from quorum.configuration.hints import no_option
from quorum.configuration.option_files import option_values
from quorum.configuration.registry import minds
from quorum.configuration.secrets import refuse_environment
from quorum.configuration.team_label import LEADER
from quorum_base.user_errors import UserError, choices_hint

GROUP, MEMBERS = "agents", "members"
_PROMPTS = "prompts"


def expand(template: DictConfig, folders: tuple[Path, ...]) -> None:
    """Replace the names of presets and minds by their values.

    Args:
        template: a composed configuration, modified in place. Interpolations stay unresolved.
        folders: folders with option files; the first with a name takes precedence.

    Raises:
        UserError: there is no such preset or mind, or one of its values is read from the environment.
    """
    _expand_presets(template, folders)
    agents = OmegaConf.select(template, GROUP)
    for place, among, key in list(_places(agents)) if isinstance(agents, DictConfig) else ():
        own = OmegaConf.to_container(among, resolve=False, throw_on_missing=False)
        assert isinstance(own, dict)
        values = _values(own[key], place, template, folders)
        refuse_environment({place: values})
        with open_dict(among):
            among[key] = values


def is_mind(key: str) -> bool:
    """Whether a key holds the values of one participant's mind."""
    above, _, name = key.rpartition(".")
    return above == f"{GROUP}.{MEMBERS}" or (above, name) == (GROUP, LEADER)


def _places(agents: DictConfig) -> Iterator[tuple[str, DictConfig, Any]]:
    """Yield the locations of minds' values: the dotted key, the container, and the key in it."""
    members = agents.get(MEMBERS)
    if isinstance(members, DictConfig):
        yield from ((f"{GROUP}.{MEMBERS}.{name!s}", members, name) for name in members)
    if LEADER in agents:
        yield f"{GROUP}.{LEADER}", agents, LEADER


def _values(said: Any, place: str, template: DictConfig, folders: tuple[Path, ...]) -> Any:
    own = {"name": said} if isinstance(said, str) else said
    if not isinstance(own, Mapping):
        return said  # the schema rejects it
    name = own.get("name")
    if name is None:
        names = (str(key) for key in template[GROUP] if key not in (MEMBERS, LEADER))
        base: Mapping[str, Any] = {key: f"${{{GROUP}.{key}}}" for key in names}
        return _layered(base, own, place, template, folders)
    if name in minds.names() and name not in option_names(GROUP, folders):
        return own  # a plugin's mind without a file must have all its values here
    rest = {key: value for key, value in own.items() if key != "name"}
    return _layered(_option(GROUP, str(name), place, folders), rest, place, template, folders)


def _option(group: str, name: str, place: str, folders: tuple[Path, ...]) -> Mapping[str, Any]:
    if name not in option_names(group, folders):
        raise no_option(group, name, folders, place)
    return option_values(group, name, folders)


def _layered(
    base: Mapping[str, Any], own: Mapping[str, Any], place: str, template: DictConfig, folders: tuple[Path, ...]
) -> dict[str, Any]:
    """Merge values over a base, map by map; expand a reference to a map into references to its keys."""
    found = dict(base)
    for key, value in own.items():
        below = found.get(key)
        if key == _PROMPTS and isinstance(value, str):
            found[key] = dict(_option(_PROMPTS, value, f"{place}.{key}", folders))
        elif isinstance(value, Mapping):
            below = _spread(below, template) if isinstance(below, str) else below
            below = below if isinstance(below, Mapping) else {}
            found[key] = _layered(below, value, f"{place}.{key}", template, folders)
        else:
            found[key] = value
    return found


def _spread(reference: str, template: DictConfig) -> Mapping[str, Any] | None:
    """Return references to the keys of the map that a text refers to; None if the text is not a reference."""
    if not (reference.startswith("${") and reference.endswith("}")):
        return None
    key = reference[2:-1]
    found = OmegaConf.select(template, key)
    return {name: f"${{{key}.{name}}}" for name in map(str, found)} if isinstance(found, DictConfig) else None


PRESET = "preset"
_MODELS = "llm"
_SHARED = "shared/"


def _expand_presets(template: DictConfig, folders: tuple[Path, ...]) -> None:
    """Replace the names of presets by their values, wherever `llm` holds values of a model."""
    llm = OmegaConf.select(template, _MODELS)
    if not isinstance(llm, DictConfig):
        return
    known = option_names(_MODELS, folders)
    for where, values, usual in list(_model_places(llm)):
        name = values.get(PRESET)
        if name is None:
            name = values.get("name")
            if name not in known or name == usual:
                continue
        elif name not in known:
            hint = choices_hint(str(name), "Presets", known)
            raise UserError(f"{_MODELS}.{where}.{PRESET}: there is no preset {name!r}", hint)
        own = OmegaConf.to_container(values, throw_on_missing=False)
        assert isinstance(own, dict)
        own.pop(PRESET, None)
        with open_dict(values):
            values.clear()
            values.update({**option_values(_MODELS, str(name), folders, without=_SHARED), **own})


def _model_places(llm: DictConfig) -> Iterator[tuple[str, DictConfig, Any]]:
    """Yield the locations in `llm` of values that override others, with these values and the others' provider."""
    usual = llm.get("name")
    for group in ("agents", "roles"):
        found = llm.get(group)
        for key in map(str, found if isinstance(found, DictConfig) else ()):
            own = found[key]
            if isinstance(own, DictConfig):
                yield f"{group}.{key}", own, usual
                yield from _fallbacks(own, f"{group}.{key}.", own.get("name", usual))
    yield from _fallbacks(llm, "", usual)


def _fallbacks(values: DictConfig, where: str, usual: Any) -> Iterator[tuple[str, DictConfig, Any]]:
    found = values.get("fallback")
    for index, entry in enumerate(found if isinstance(found, ListConfig) else ()):
        if isinstance(entry, DictConfig):
            yield f"{where}fallback.{index}", entry, usual
