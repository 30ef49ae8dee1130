"""Composes configurations that differ in a few values once, then fills in the values.

Hydra composes once for each distinct set of group choices. Interpolations are resolved once for each distinct set of
referenced values, in a few milliseconds. Other values are set directly.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from quorum.configuration.leaves import dotted, texts
from quorum.configuration.secrets import refuse_secrets

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

_OPEN_MAPS = (
    "env.kwargs",
    "agents.members", "agents.leader",
    "llm.agents", "llm.roles", "llm.deadlines", "llm.extra_body", "llm.extra_headers",
)  # fmt: skip
"""Maps with user-defined keys: an argument may add a key without Hydra's `+`."""
_READ_WHEN_COMPOSED = ("llm.name",)
"""Keys whose values affect how presets are put into a template."""
_MOST_RESOLVED = 1024
"""Maximum resolved configurations that a template caches."""
_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_KEY = re.compile(r"[\w.\[\]]+")


class Template:
    """A composed configuration with unresolved interpolations, into which values are filled.

    Args:
        configuration: the configuration composed by Hydra.
    """

    def __init__(self, configuration: DictConfig) -> None:
        self._configuration = configuration
        self._resolved: dict[tuple[object, ...], dict[str, Any]] = {}
        plain = OmegaConf.to_container(configuration, resolve=False)
        references = list(_references(plain))
        missing = {key for key, text in texts(plain) if text == "???"}
        self.independent = frozenset(
            key
            for key in dotted(plain)
            if key not in missing and not any(found is None or _related(found, key) for found in references)
        )
        """The keys with a value that no interpolation could reference. They can be set after it is resolved."""

    def resolve(self, overrides: Sequence[Override]) -> dict[str, Any]:
        """Return the resolved configuration with changed values. It is kept: do not modify it.

        Args:
            overrides: values that `split` calls assigned.

        Raises:
            OmegaConfBaseException: there is no such key, an interpolation cannot be resolved, or a value is missing.
        """
        found = typed_values(overrides)
        if found not in self._resolved:
            if len(self._resolved) >= _MOST_RESOLVED:
                self._resolved.clear()
            changed = deepcopy(self._configuration)
            for override in overrides:
                OmegaConf.update(changed, override.key_or_group, override.value())
            self._resolved[found] = resolved(changed)
        return self._resolved[found]


def lines(overrides: Sequence[Override]) -> tuple[str, ...]:
    """Return the overrides as they are written."""
    return tuple(override.input_line or "" for override in overrides)


def typed_values(overrides: Sequence[Override]) -> tuple[object, ...]:
    """Return the keys, types and values. Hydra writes the number 2 and the text 2 of a sweep in the same way."""
    return tuple((override.key_or_group, type(override.value()), override.value()) for override in overrides)


def _references(value: Any) -> Iterator[str | None]:
    """Return the keys that interpolations reference; None for an interpolation that is not just a key."""
    for _, text in texts(value):
        for reference in _REFERENCE.findall(text):
            absolute = _KEY.fullmatch(reference) and not reference.startswith(".")
            yield reference if absolute else None
        if "${" in _REFERENCE.sub("", text):
            yield None


def _related(one: str, other: str) -> bool:
    """Whether one key equals the other or is inside it."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def with_value(plain: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a copy with one value changed, which shares all other values."""
    below = value if len(path) == 1 else with_value(plain[path[0]], path[1:], value)
    return {**plain, path[0]: below}


def split(overrides: Sequence[Override], groups: Container[str]) -> tuple[Sequence[Override], Sequence[Override]]:
    """Separate what Hydra must compose (groups, new keys, maps, lists, interpolations) from plain values of known keys.

    If a plain value and a composed override set related keys, their order matters, so Hydra composes all of them.

    Args:
        overrides: overrides with one value each.
        groups: the available groups.
    """
    composed: list[Override] = []
    assigned: list[Override] = []
    for override in overrides:
        (assigned if _is_assigned(override, groups) else composed).append(override)
    keys = [override.key_or_group for override in composed if override.key_or_group not in groups]
    if any(_related(key, override.key_or_group) for key in keys for override in assigned):
        return overrides, ()
    return composed, assigned


def _is_assigned(override: Override, groups: Container[str]) -> bool:
    if override.is_add() or override.is_force_add() or override.is_delete():
        return False
    key = override.key_or_group
    if key in groups or key in _READ_WHEN_COMPOSED or is_open(key):
        return False
    value = override.value()
    if isinstance(value, str):
        return "${" not in value and value != "???"
    return value is None or isinstance(value, int | float)


def is_open(key: str) -> bool:
    """Whether a key is a map with user-defined keys, or inside one."""
    return f"{key}.".startswith(tuple(f"{name}." for name in _OPEN_MAPS))


def resolved(template: DictConfig, *, partial: bool = False) -> dict[str, Any]:
    """Resolve a composed configuration into plain data.

    Args:
        template: the configuration.
        partial: whether values may be missing; they are then `???`.

    Raises:
        UserError: a value is an API key.
    """
    plain = OmegaConf.to_container(template, resolve=True, throw_on_missing=not partial)
    refuse_secrets(plain)
    return {str(key): value for key, value in plain.items()} if isinstance(plain, dict) else {}
