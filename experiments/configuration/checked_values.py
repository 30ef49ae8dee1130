"""Values checked by a schema, as JSON and strictly: `true` is no number, `"8"` is no 8."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from maeil.component import RECORDED, ComponentConfig
from maeil.registry import Registry
from maeil.user_errors import UserError, choices_hint
from quorum.experiments.configuration.validation_errors import describe_validation_errors

Model = TypeVar("Model", bound=BaseModel)


def component_values(
    registry: Registry[Any], raw: Mapping[str, Any], *, place: str = "", recorded: bool = False
) -> ComponentConfig:
    """Check the values of the component that a group chooses.

    Args:
        registry: of the group.
        raw: the configuration; or what else holds such values, under the last part of `place`.
        place: the dotted key of the values; empty: the group.
        recorded: whether it was read from the folder of a run, which may be a stranger's: no value may name a file.

    Raises:
        UserError: there is no such component, or a value is wrong.
    """
    place = place or registry.group
    values = raw.get(place.rpartition(".")[2])
    if not isinstance(values, Mapping) or not isinstance(values.get("name"), str):
        where = f"{place}.name" if isinstance(values, Mapping) else place
        hint = choices_hint("", f"The {registry.plural}", registry.names())
        raise UserError(f"{where}: the name of a {registry.kind} is missing", hint)
    schema: type[ComponentConfig] = registry.get(values["name"]).config
    return checked(schema, values, f"{place}.", known=list(schema.model_fields), recorded=recorded)


def checked(
    schema: type[Model], values: Mapping[str, Any], prefix: str, known: list[str], *, recorded: bool = False
) -> Model:
    """Check values by a schema.

    Args:
        schema: of them.
        values: plain data.
        prefix: of their keys in messages, `agents.`.
        known: the keys that a message offers for one that there is not.
        recorded: whether they were read from the folder of a run.

    Raises:
        UserError: what is wrong, one line for each key.
    """
    try:
        return schema.model_validate_json(json.dumps(values), strict=True, context=RECORDED if recorded else None)
    except ValidationError as error:
        raise UserError(describe_validation_errors(error, values, prefix, known)) from error
