"""Values that fit a JSON schema: the smallest one, or one that is drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

_WIDTH = 10
"""Different values of a number, and of the length of a list, that a draw chooses among, at most."""


def minimal_instance(schema: Mapping[str, Any]) -> Any:
    """Return the smallest value that fits, for the part of JSON Schema that typed answers use.

    Raises:
        ValueError: the schema has a type that is not known here.
    """
    return _instance(schema, schema.get("$defs", {}), lambda _choices: 0)


def random_instance(schema: Mapping[str, Any], definitions: Mapping[str, Any], rng: np.random.Generator) -> Any:
    """Draw a value that fits.

    Args:
        schema: of the value.
        definitions: that its references name.
        rng: for the draws.

    Raises:
        ValueError: the schema has a type that is not known here.
    """
    return _instance(schema, definitions, lambda choices: int(rng.integers(choices)))


def _instance(schema: Mapping[str, Any], definitions: Mapping[str, Any], choose: Callable[[int], int]) -> Any:
    """Make a value; `choose` picks one of so many possibilities, the smallest of which is 0."""
    if "$ref" in schema:
        return _instance(definitions[schema["$ref"].rpartition("/")[2]], definitions, choose)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][choose(len(schema["enum"]))]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _instance(schema[key][choose(len(schema[key]))], definitions, choose)
    match schema.get("type"):
        case "object":
            wanted = schema.get("required", ())
            properties = schema.get("properties", {})
            return {name: _instance(part, definitions, choose) for name, part in properties.items() if name in wanted}
        case "array":
            length = _number(schema, "minItems", "maxItems", choose)
            return [_instance(schema["items"], definitions, choose) for _ in range(length)]
        case "string":
            return "simulated"[: schema.get("maxLength")].ljust(schema.get("minLength", 0), ".")
        case "integer" | "number":
            return _number(schema, "minimum", "maximum", choose)
        case "boolean":
            return not choose(2)
        case "null":
            return None
    raise ValueError(f"no value is known that fits {dict(schema)}")


def _number(schema: Mapping[str, Any], at_least: str, at_most: str, choose: Callable[[int], int]) -> int:
    """Make a whole number within the bounds of a schema, which may exclude them."""
    low = schema.get(at_least, schema.get("exclusiveMinimum", -1) + 1)
    high = schema.get(at_most, schema.get("exclusiveMaximum", low + _WIDTH) - 1)
    return int(low) + choose(max(min(int(high - low) + 1, _WIDTH), 1))
