"""Composes configurations that differ in a few values once, then fills in the values.

Hydra composes once for each distinct set of group choices. Interpolations are resolved once for each distinct set of
referenced values, in a few milliseconds. Other values are assigned directly.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf

from quorum.configuration.leaves import texts
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


class UnknownKey(Exception):
    """A value is given for a key that the template lacks."""


class Template:
    """A composed configuration with unresolved interpolations, into which values are filled.

    Args:
        configuration: the configuration composed by Hydra.
    """

    def __init__(self, configuration: DictConfig) -> None:
        self._configuration = configuration
        self._pristine = OmegaConf.to_container(configuration, resolve=False)
        self._references = list(_references(self._pristine))
        self._seen: dict[str, bool] = {}
        self._resolved: dict[tuple[tuple[Any, ...], ...], dict[str, Any]] = {}

    def resolve(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the resolved configuration with changed values of known keys. Results may share parts.

        Raises:
            UnknownKey: the template lacks one of the keys.
            OmegaConfBaseException: an interpolation cannot be resolved, or a value is missing.
        """
        known = self.known(values)
        if known not in self._resolved:
            if len(self._resolved) >= _MOST_RESOLVED:
                self._resolved.clear()
            changed = deepcopy(self._configuration)
            for key, value in values.items():
                self._check(key)
                OmegaConf.update(changed, key, value)
            self._resolved[known] = resolved(changed)
        plain = self._resolved[known]
        for key, value in values.items():
            if not self._is_seen(key):
                plain = _with(plain, key.split("."), value)
        return plain

    def known(self, values: Mapping[str, Any]) -> tuple[tuple[Any, ...], ...]:
        """Return the keys, and those of the values that an interpolation could reference."""
        return tuple((key, *((type(value), value) if self._is_seen(key) else ())) for key, value in values.items())

    def _check(self, key: str) -> None:
        node: Any = self._pristine
        for part in key.split("."):
            if not isinstance(node, Mapping) or part not in node:
                raise UnknownKey(key)
            node = node[part]

    def _is_seen(self, key: str) -> bool:
        """Whether an interpolation could reference the value of a key."""
        if key not in self._seen:
            self._seen[key] = any(reference is None or _related(reference, key) for reference in self._references)
        return self._seen[key]


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


def _with(plain: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a copy with one value changed."""
    if len(path) == 1:
        return {**plain, path[0]: value}
    return {**plain, path[0]: _with(plain[path[0]], path[1:], value)}


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
