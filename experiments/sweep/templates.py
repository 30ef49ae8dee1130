"""Many configurations that differ in a few values: composed once, then changed value by value.

To compose takes 30 ms, to resolve a configuration 1.4 ms, to put a value into a resolved one next to nothing. So
Hydra composes once for each distinct set of group choices; the interpolations are resolved once for each distinct set
of those values that an interpolation refers to; the rest is assigned. `tests/experiments/sweep/test_templates.py` holds
the result equal to composing every point by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeVar

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from maeil.user_errors import UserError
from quorum.experiments.configuration.compose import Session, resolved
from quorum.experiments.sweep.grid import Point

T = TypeVar("T")

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_KEY = re.compile(r"[\w.\[\]]+")


class Templates:
    """Gives the resolved configurations of points.

    Args:
        session: composes.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._templates: dict[tuple[str, ...], _Template] = {}
        self._refused: dict[object, UserError] = {}

    def resolve(self, point: Point) -> dict[str, Any]:
        """Return the configuration of a point: plain, resolved, and not validated.

        Its parts may be shared with those of other points: do not change them.

        Raises:
            UserError: it does not compose.
        """
        composed, typed = _split(point, self._session)
        key = tuple(override.input_line or "" for override in composed)
        values = {override.key_or_group: override.value() for override in typed}
        template = self._template(key, composed)
        try:
            return template.resolve(values)
        except (OmegaConfBaseException, _UnknownKey):
            return self._told_once((key, template.known(values)), lambda: self._session.plain(point))

    def _template(self, key: tuple[str, ...], composed: Sequence[Override]) -> _Template:
        if key not in self._templates:
            template = self._told_once(key, lambda: self._session.template(composed))
            self._templates[key] = _Template(template)
        return self._templates[key]

    def _told_once(self, reason: object, compose: Callable[[], T]) -> T:
        """Have the session compose, which says what is wrong in words; once for each reason, since that takes long."""
        if reason not in self._refused:
            try:
                return compose()
            except UserError as error:
                self._refused[reason] = error
        raise self._refused[reason].with_traceback(None)


class _UnknownKey(Exception):
    """A value is given to a key that the template does not have."""


class _Template:
    def __init__(self, configuration: DictConfig) -> None:
        self._configuration = configuration
        self._pristine = OmegaConf.to_container(configuration, resolve=False)
        self._references = list(_references(self._pristine))
        self._seen: dict[str, bool] = {}
        self._resolved: dict[tuple[tuple[Any, ...], ...], dict[str, Any]] = {}

    def resolve(self, values: Mapping[str, Any]) -> dict[str, Any]:
        known = self.known(values)
        if known not in self._resolved:
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
        """Return the keys, and those of the values that an interpolation could see."""
        return tuple((key, *((type(value), value) if self._is_seen(key) else ())) for key, value in values.items())

    def _check(self, key: str) -> None:
        node: Any = self._pristine
        for part in key.split("."):
            if not isinstance(node, Mapping) or part not in node:
                raise _UnknownKey(key)
            node = node[part]

    def _is_seen(self, key: str) -> bool:
        """Whether an interpolation could see the value of a key."""
        if key not in self._seen:
            self._seen[key] = any(reference is None or _related(reference, key) for reference in self._references)
        return self._seen[key]


def _references(value: Any) -> Iterator[str | None]:
    """Return the keys that interpolations refer to; None for one that is more than the name of a key."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)
    elif isinstance(value, str) and "${" in value:
        for reference in _REFERENCE.findall(value):
            absolute = _KEY.fullmatch(reference) and not reference.startswith(".")
            yield reference if absolute else None
        if "${" in _REFERENCE.sub("", value):
            yield None


def _related(one: str, other: str) -> bool:
    """Whether one key is the other, or stands inside it."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def _with(plain: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a copy in which one value differs."""
    if len(path) == 1:
        return {**plain, path[0]: value}
    return {**plain, path[0]: _with(plain[path[0]], path[1:], value)}


def _split(point: Point, session: Session) -> tuple[Sequence[Override], Sequence[Override]]:
    """Part what Hydra must compose (groups, new keys, maps, lists, interpolations) from plain values of known keys.

    Where the key of a plain value has to do with that of a composed override, their order matters: all is composed.
    """
    composed: list[Override] = []
    typed: list[Override] = []
    for override in point:
        (typed if _is_typed(override, session) else composed).append(override)
    keys = [override.key_or_group for override in composed if override.key_or_group not in session.groups]
    if any(_related(key, override.key_or_group) for key in keys for override in typed):
        return point, ()
    return composed, typed


def _is_typed(override: Override, session: Session) -> bool:
    if override.is_add() or override.is_force_add() or override.is_delete():
        return False
    key = override.key_or_group
    if key in session.groups or session.is_open(key):
        return False
    value = override.value()
    return value is None or isinstance(value, int | float) or (isinstance(value, str) and "${" not in value)
