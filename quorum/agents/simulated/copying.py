"""Copies an example answer into a schema, and asks for a value of what cannot be copied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quorum.agents.prompting.instances import one_each, resolved
from quorum.agents.simulated.fitting import is_meant

_Schema = Mapping[str, Any]


def copied(example: Any, schema: _Schema, definitions: Mapping[str, _Schema], chosen: Callable[[_Schema], Any]) -> Any:
    """Return an example, changed as little as its schema requires.

    A value that the schema does not allow in its place, such as the name of a block of another board, is replaced by
    one that it allows; a required value that the example lacks is added. Texts and lists are cut.

    Args:
        example: the JSON value.
        schema: schema of the answer.
        definitions: definitions that its references name.
        chosen: returns a value that matches a schema, in place of one that does not.

    Raises:
        ValueError: no value matches the schema.
    """
    schema = resolved(schema, definitions)
    if "anyOf" in schema:
        forms = [resolved(form, definitions) for form in schema["anyOf"]]
        meant = next((form for form in forms if is_meant(example, form)), None)
        if meant is not None:
            return copied(example, meant, definitions, chosen)
    elif isinstance(example, dict) and "properties" in schema:
        required = schema.get("required", ())
        parts = ((key, part) for key, part in schema["properties"].items() if key in required)
        return {key: copied(example.get(key), part, definitions, chosen) for key, part in parts}
    elif isinstance(example, list) and schema.get("type") == "array":
        entries = example[: schema.get("maxItems")]
        missing = [None] * (schema.get("minItems", 0) - len(entries))
        return one_each([copied(entry, schema["items"], definitions, chosen) for entry in [*entries, *missing]])
    elif isinstance(example, str) and schema.get("type") == "string" and schema.keys().isdisjoint(_CLOSED):
        return example[: schema.get("maxLength")].ljust(schema.get("minLength", 0), ".")
    elif _allows(schema, example):
        return example
    return chosen(schema)


_CLOSED = {"enum", "const", "pattern"}


def _allows(schema: _Schema, value: Any) -> bool:
    """Return whether a schema without parts allows a value: one of its names, its constant, a number in its bounds."""
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    if isinstance(value, bool) or value is None:
        return schema.get("type") == ("null" if value is None else "boolean")
    if not isinstance(value, int) or schema.get("type") not in ("integer", "number"):
        return False
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    above, below = schema.get("exclusiveMinimum", value - 1), schema.get("exclusiveMaximum", value + 1)
    return bool(low <= value <= high and above < value < below)
