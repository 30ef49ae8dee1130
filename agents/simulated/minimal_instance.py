"""The smallest value that fits a JSON schema: the answer to a request that shows no world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def minimal_instance(schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> Any:
    """Give it, for the part of JSON Schema that typed answers use.

    Raises:
        ValueError: the schema has a type that is not known here.
    """
    definitions = definitions if definitions is not None else schema.get("$defs", {})
    if "$ref" in schema:
        return minimal_instance(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return minimal_instance(schema[key][0], definitions)
    match schema.get("type"):
        case "object":
            wanted = schema.get("required", ())
            properties = schema.get("properties", {})
            return {name: minimal_instance(part, definitions) for name, part in properties.items() if name in wanted}
        case "array":
            return [minimal_instance(schema["items"], definitions) for _ in range(schema.get("minItems", 0))]
        case "string":
            return "simulated"[: schema.get("maxLength")].ljust(schema.get("minLength", 0), ".")
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return True
        case "null":
            return None
    raise ValueError(f"no value is known that fits {dict(schema)}")
