"""The values of the group `extension`: the active extensions, each at `extension.NAME`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from maeil.component import Component
from maeil.contracts import definition_of
from quorum.configuration.checked_values import checked
from quorum.configuration.registry import extensions
from quorum_base.user_errors import UserError

_HINT = "For example: extension=repair extension.repair.mode=notice"


def extension_values(raw: Mapping[str, Any], *, recorded: bool = False) -> dict[str, BaseModel]:
    """Check the values of a configuration's extensions, by name.

    Args:
        raw: the whole configuration.
        recorded: whether it was read from a run folder.

    Raises:
        UserError: a value is wrong.
    """
    found = {}
    for name, values in _maps(raw.get(extensions.group, {})).items():
        schema: type[BaseModel] = extensions.get(name).config
        place = f"{extensions.group}.{name}."
        found[name] = checked(schema, values, place, known=list(schema.model_fields), recorded=recorded)
    return found


def together(required: Iterable[Mapping[str, BaseModel]]) -> dict[str, BaseModel]:
    """Merge several collections of extensions.

    Raises:
        UserError: two of them require different values of one extension.
    """
    found: dict[str, BaseModel] = {}
    for each in required:
        for name, values in each.items():
            if found.setdefault(name, values) != values:
                raise UserError(
                    f"extension.{name}: components need it with {found[name]} and with {values}: choose one"
                )
    return found


def templates_of(component: Component[Any, Any, Any]) -> list[Path]:
    """Return the Jinja files next to the code of an extension."""
    file = inspect.getsourcefile(definition_of(component.build)) or ""
    return sorted(Path(file).parent.glob("*.jinja"))


def _maps(values: Any) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(values, Mapping):
        raise UserError(f"{extensions.group}: {values!r} is not a map of extensions by name", _HINT)
    for name, own in values.items():
        if not isinstance(own, Mapping):
            raise UserError(f"{extensions.group}.{name}: {own!r} is not a map of its values", _HINT)
    return values
