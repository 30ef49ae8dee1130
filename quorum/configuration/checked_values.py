"""Checks values against a schema, strictly and as JSON: `true` is not a number, `"8"` is not 8."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from maeil.component import RECORDED, ComponentConfig
from quorum.configuration.hints import provider_hint, usual_words
from quorum_base.registry import Registry
from quorum_base.user_errors import UserError, Withheld, WrongKey, choices_hint

Model = TypeVar("Model", bound=BaseModel)


def component_values(
    registry: Registry[Any], raw: Mapping[str, Any], *, place: str = "", recorded: bool = False
) -> ComponentConfig:
    """Check the values of the component that a group chooses.

    Args:
        registry: registry of the group.
        raw: the configuration, or other data that holds such values under the last part of `place`.
        place: dotted key of the values; empty: the group.
        recorded: whether it was read from a run folder, which may be untrusted: no value may name a file.

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
    """Check values against a schema.

    Args:
        schema: their schema.
        values: plain data.
        prefix: prefix of their keys in messages, such as `agents.`.
        known: keys that a message suggests for an unknown one.
        recorded: whether they were read from a run folder.

    Raises:
        UserError: the errors, one line for each key.
    """
    try:
        return schema.model_validate_json(json.dumps(values), strict=True, context=RECORDED if recorded else None)
    except ValidationError as error:
        raise UserError(describe_validation_errors(error, values, prefix, known)) from error


if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    **dict.fromkeys(("dict", "model", "model_attributes"), "a map {key: value}"),
    **dict.fromkeys(("list", "tuple", "sequence_str", "Sequence"), "a list [a, b]"),
    "PathLike": "a path",
    "finite_number": "a finite number",
}
_MAP = "this map"
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
    "multiple_of": ("a multiple of", "multiple_of"),
}


def describe_validation_errors(
    error: ValidationError, values: Mapping[str, Any], prefix: str, known: Sequence[str]
) -> str:
    """Return one line for each wrong key: its dotted name, its value and what is allowed.

    Args:
        error: pydantic's error.
        values: the validated values.
        prefix: prefix of the keys, such as `env.` for the group `env`.
        known: existing top-level keys of the values.
    """
    reasons: dict[str, list[str]] = {}
    for detail in error.errors(include_url=False):
        path = _path(detail, values)
        key = prefix + ".".join(str(part) for part in path)
        siblings = known if len(path) == 1 else ()
        reasons.setdefault(key.rstrip("."), []).append(_reason(detail, path, values, prefix, siblings))
    lines = ((key, " or ".join(dict.fromkeys(found))) for key, found in reasons.items())
    return "\n".join(f"{key}: {reason}" if key else reason for key, reason in lines)


def _path(detail: ErrorDetails, values: Mapping[str, Any]) -> tuple[str | int, ...]:
    """Return the location of an error in the values, without the union branches that pydantic adds."""
    path: list[str | int] = []
    here: Any = values
    for part in detail["loc"]:
        found = _step(here, part)
        if found is None and detail["type"] != "missing":
            break
        path.append(part)
        here = found[0] if found else None
    wrong = detail.get("ctx", {}).get("error")
    return (*path, wrong.key) if isinstance(wrong, WrongKey) else tuple(path)


def _step(here: Any, part: str | int) -> tuple[Any] | None:
    if isinstance(here, Mapping):
        matching = [value for key, value in here.items() if str(key) == str(part)]
        return (matching[0],) if matching else None
    if isinstance(here, list) and isinstance(part, int) and part < len(here):
        return (here[part],)
    return None


def _value(path: Sequence[str | int], values: Any) -> Any:
    for part in path:
        found = _step(values, part)
        values = found[0] if found else None
    return values


def _reason(
    detail: ErrorDetails, path: Sequence[str | int], values: Mapping[str, Any], prefix: str, known: Sequence[str]
) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return "the key is missing"
    if kind == "extra_forbidden":
        group = prefix.rstrip(".")
        hint = provider_hint(f"{prefix}{path[-1]}", _value(path, values))
        hint = hint or choices_hint(str(path[-1]), f"Keys of {group}" if group else "Keys", known)
        return f"there is no such key. {hint}".rstrip()
    of_key = detail["loc"][-1:] == ("[key]",)
    value = f"the key {path[-1]}" if of_key else shown_value(_value(path, values))
    if kind in _BOUNDS:
        words, limit = _BOUNDS[kind]
        return f"{value} is not allowed: it must be {words} {context[limit]:g}"
    if kind in ("literal_error", "enum"):
        return f"{value} is not allowed: it must be {context['expected']}"
    if kind == "value_error" and isinstance(context["error"], Withheld):
        return f"the value (not shown here) is not allowed: {context['error']}"
    if kind == "value_error":
        error = context["error"]
        reason = error.reason if isinstance(error, WrongKey) else str(error)
        is_part = path and _step(_value(path[:-1], values), path[-1]) is not None
        return f"{value} is not allowed: {reason}" if is_part and value != _MAP else reason
    if kind == "is_instance_of":
        return f"{value} is not {_KINDS.get(context['class'], 'a ' + context['class'])}"
    wanted = _KINDS.get(kind) or _KINDS.get(kind.removesuffix("_type").removesuffix("_parsing"))
    if kind == "int_from_float":
        wanted = _KINDS["int"]
    if wanted == _KINDS["int"] and (words := usual_words(f"{prefix}{path[-1]}", str(_value(path, values)))):
        return f"{value} is not {wanted}. To sweep: {words}."
    return f"{value} is not {wanted}" if wanted else f"{value} is not allowed: {detail['msg'].lower()}"


def shown_value(value: Any, limit: int = 80) -> str:
    """Format a value for a message; a map is not spelled out, because its location already names its keys."""
    if isinstance(value, Mapping):
        return _MAP
    if isinstance(value, list) and any(isinstance(part, Mapping | list) for part in value):
        return "this list"
    text = {None: "null", True: "true", False: "false"}.get(value) if isinstance(value, bool | None) else repr(value)
    assert text is not None
    return text if len(text) <= limit else f"{text[:limit]}..."
