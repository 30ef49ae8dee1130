"""Presets inside of values: `{preset: groq, model: NAME}` has the values of `llm=groq` that are its own.

A preset stands for the values of its file, without those that every provider has (`shared/calls`): these come from the
group, as for all that stands in its place. Another provider by its name (`{name: anthropic, model: NAME}`) has what it
does not say from the preset of that name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, ListConfig, OmegaConf, open_dict

from maeil.user_errors import UserError, choices_hint
from quorum.experiments.configuration.catalogue import options
from quorum.experiments.configuration.option_values import option_values

PRESET = "preset"
_GROUP = "llm"
_SHARED = "shared/"


def expand_presets(template: DictConfig, folders: tuple[Path, ...]) -> None:
    """Put the values of presets in the place of their names, wherever values of a model stand in `llm`.

    Args:
        template: a composed configuration; it is changed.
        folders: with the files of the options, the first of a name counting.

    Raises:
        UserError: there is no such preset.
    """
    llm = OmegaConf.select(template, _GROUP)
    if not isinstance(llm, DictConfig):
        return
    known = [option.name for option in options(folders[0]) if option.group == _GROUP]
    for where, values, usual in list(_places(llm)):
        name = values.get(PRESET)
        if name is None:
            name = values.get("name")
            if name not in known or name == usual:
                continue
        elif name not in known:
            hint = choices_hint(str(name), "Presets", known)
            raise UserError(f"{_GROUP}.{where}.{PRESET}: there is no preset {name!r}", hint)
        own = OmegaConf.to_container(values, throw_on_missing=False)
        assert isinstance(own, dict)
        own.pop(PRESET, None)
        with open_dict(values):
            values.clear()
            values.update({**option_values(_GROUP, str(name), folders, without=_SHARED), **own})


def _places(llm: DictConfig) -> Iterator[tuple[str, DictConfig, Any]]:
    """Yield where values of a model stand in the place of others, with these values and the provider of the others."""
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
