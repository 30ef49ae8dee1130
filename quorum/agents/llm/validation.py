"""Validation of answers by JSON schema, for the keywords that pydantic writes. Other keywords are errors.

The reasons are written for the model that has to fix its answer. They name the place, the value and the allowed values,
and for a union only the problems of the variant that was meant.

A nullable key may also be missing: strict modes require all keys, a team's schema has the keys of all its turns, and a
trained model leaves out what its examples leave out.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson

Schema = Mapping[str, Any]

_NOTES = frozenset(
    {"$schema", "$id", "$defs", "$comment", "title", "description", "default", "examples", "format", "deprecated"}
)
_SHAPES = frozenset(
    {"$ref", "type", "enum", "const", "anyOf", "oneOf", "allOf", "discriminator"}
    | {"properties", "required", "additionalProperties", "items", "prefixItems", "minItems", "maxItems", "uniqueItems"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"}
)
_LONGEST_SHOWN = 80
_EXACT = 2**53
"""Floats represent all integers up to here exactly, so that 2.0 is safely 2."""


def whole_number(value: int | float) -> int | None:
    """Return the integer equal to a number, however it is written; None if there is none or the float is not exact."""
    if isinstance(value, int):
        return value
    return int(value) if value.is_integer() and abs(value) <= _EXACT else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": lambda value: _is_number(value) and whole_number(value) is not None,
}
_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (operator.ge, "at least"),
    "maximum": (operator.le, "at most"),
    "exclusiveMinimum": (operator.gt, "more than"),
    "exclusiveMaximum": (operator.lt, "less than"),
    "multipleOf": (lambda value, bound: value % bound == 0, "a multiple of"),
}
_SIZES: dict[str, tuple[type, Callable[[int, int], bool], str]] = {
    "minItems": (list, operator.ge, "items, at least {} are needed"),
    "maxItems": (list, operator.le, "items, at most {} are allowed"),
    "minLength": (str, operator.ge, "characters, at least {} are needed"),
    "maxLength": (str, operator.le, "characters, at most {} are allowed"),
}


class UnsupportedSchema(ValueError):
    """A schema uses an unsupported keyword, so answers cannot be checked."""


def schemas_in(schema: Any) -> Iterator[Schema]:
    """Return a schema and all its subschemas, except those that are only true or false."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    inner = [part for keyword in ("properties", "$defs") for part in schema.get(keyword, {}).values()]
    inner += [part for keyword in ("anyOf", "oneOf", "allOf", "prefixItems") for part in schema.get(keyword, ())]
    inner += [schema.get(keyword) for keyword in ("items", "additionalProperties")]
    for part in inner:
        yield from schemas_in(part)


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> Validator:
    return Validator(orjson.loads(schema))


def validator_of(schema: Schema) -> Validator:
    """Return the cached validator of a schema."""
    return _validator(orjson.dumps(schema))


class Validator:
    """Validates values against a schema.

    Args:
        schema: JSON schema; references point into its own `$defs`.

    Raises:
        UnsupportedSchema: a keyword is unsupported, or a reference leads nowhere.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._tags: dict[int, tuple[tuple[str, str], ...]] = {}
        for part in schemas_in(schema):
            if unknown := set(part) - _NOTES - _SHAPES:
                raise UnsupportedSchema(f"unsupported keywords in a JSON schema: {', '.join(sorted(unknown))}")
            if "$ref" in part:
                self._resolve(part["$ref"])
            self._tags[id(part)] = tuple(_tags(part))

    def reasons(self, value: Any) -> tuple[str, ...]:
        """Return the problems of a value, in order; empty if it is valid."""
        return tuple(self._problems(self._schema, value, ""))

    def _resolve(self, reference: str) -> Any:
        if reference == "#":
            return self._schema
        name = reference.removeprefix("#/$defs/")
        definitions = self._schema.get("$defs", {})
        if name == reference or name not in definitions:
            raise UnsupportedSchema(f"a reference to an unknown definition: {reference}")
        return definitions[name]

    def _problems(self, schema: Any, value: Any, place: str) -> Iterator[str]:
        where = place or "the answer"
        if isinstance(schema, bool):
            if not schema:
                yield f"{where}: must not be there"
            return
        if "$ref" in schema:
            yield from self._problems(self._resolve(schema["$ref"]), value, place)
        kinds = schema.get("type")
        if kinds is not None:
            names = [kinds] if isinstance(kinds, str) else kinds
            if not any(_TYPES[name](value) for name in names):
                yield f"{where}: {_show(value)} is no {' or '.join(names)}"
                return
        if "const" in schema and not _equal(value, schema["const"]):
            yield f"{where}: {_show(value)} is not {_show(schema['const'])}"
        if "enum" in schema and not any(_equal(value, choice) for choice in schema["enum"]):
            yield f"{where}: {_show(value)} is none of {', '.join(map(_show, schema['enum']))}"
        for inner in schema.get("allOf", ()):
            yield from self._problems(inner, value, place)
        if forms := schema.get("oneOf") or schema.get("anyOf"):
            yield from self._choices(forms, schema, value, place)
        if isinstance(value, list | str):
            for keyword, (kind, holds, words) in _SIZES.items():
                if keyword in schema and isinstance(value, kind) and not holds(len(value), schema[keyword]):
                    yield f"{where}: has {len(value)} {words.format(schema[keyword])}"
        if isinstance(value, dict | list):
            yield from self._members(schema, value, place)
        elif isinstance(value, str):
            if "pattern" in schema and not re.search(schema["pattern"], value):
                yield f"{where}: {_show(value)} does not match {schema['pattern']}"
        elif _is_number(value):
            for keyword, (holds, words) in _BOUNDS.items():
                if keyword in schema and not holds(value, schema[keyword]):
                    yield f"{where}: {_show(value)} is not {words} {_show(schema[keyword])}"

    def _choices(self, forms: Sequence[Any], schema: Schema, value: Any, place: str) -> Iterator[str]:
        mapping = schema.get("discriminator", {}).get("mapping")
        if mapping and isinstance(value, dict):
            tag = schema["discriminator"]["propertyName"]
            reference = mapping.get(value.get(tag)) if isinstance(value.get(tag), str) else None
            if reference is None:
                yield f"{_join(place, tag)}: {_show(value.get(tag))} is none of {', '.join(map(_show, mapping))}"
            else:
                yield from self._problems(self._resolve(reference), value, place)
            return
        fitting = (form for form in forms if self._fits(form, value, place))
        if next(fitting, None) is None:
            yield from min((list(self._problems(form, value, place)) for form in forms), key=len)
        elif "oneOf" in schema and (others := sum(1 for _ in fitting)):
            yield f"{place or 'the answer'}: fits {1 + others} forms where it must fit one"

    def _fits(self, form: Any, value: Any, place: str) -> bool:
        """Return whether a value matches a variant; another tag is rejected at once, as plans have many variants."""
        if isinstance(value, dict) and any(value.get(name, tag) != tag for name, tag in self._tags.get(id(form), ())):
            return False
        return next(self._problems(form, value, place), None) is None

    def _members(self, schema: Schema, value: dict[str, Any] | list[Any], place: str) -> Iterator[str]:
        """Yield the problems of an object's fields or a list's items."""
        if isinstance(value, list):
            if schema.get("uniqueItems") and len({json.dumps(item, sort_keys=True) for item in value}) < len(value):
                yield f"{place or 'the answer'}: holds an item twice"
            first = schema.get("prefixItems", ())
            for index, item in enumerate(value):
                inner = first[index] if index < len(first) else schema.get("items", True)
                yield from self._problems(inner, item, f"{place}[{index}]")
            return
        properties = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value and not _may_be_null(properties.get(name, {})):
                yield f"{_join(place, name)}: is missing"
        further = schema.get("additionalProperties", True)
        for name, item in value.items():
            if name not in properties and further is False:
                yield f"{_join(place, name)}: is not known here; known are {', '.join(properties) or 'no fields'}"
            else:
                yield from self._problems(properties.get(name, further), item, _join(place, name))


def _tags(schema: Schema) -> Iterator[tuple[str, str]]:
    """Return the constant texts of a schema's fields, by field."""
    for name, inner in schema.get("properties", {}).items():
        if isinstance(inner, Mapping) and isinstance(inner.get("const"), str):
            yield name, inner["const"]


def _may_be_null(schema: Schema) -> bool:
    return any(form.get("type") == "null" for form in schema.get("anyOf", ()))


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _equal(value: Any, other: Any) -> bool:
    """Return JSON equality, in which true is not 1."""
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
