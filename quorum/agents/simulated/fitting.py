"""Fits the answers of rules to a schema, because rules know neither its keys and names nor its caps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quorum.agents.prompting.instances import resolved

_Schema = Mapping[str, Any]


def fit(value: Any, schema: _Schema, definitions: Mapping[str, _Schema]) -> Any:
    """Return a value with the fields of its schema, null for missing ones, and with its texts and lists cut.

    A list of names keeps only those in the schema: rules may name a task without knowing that it is done. Values that
    no variant of the schema is meant for stay unchanged. Schemas from servers may lack bounds and names.

    Args:
        value: the JSON value.
        schema: schema of the wanted value.
        definitions: definitions that its references name.
    """
    schema = resolved(schema, definitions)
    if "anyOf" in schema:
        forms = (resolved(form, definitions) for form in schema["anyOf"])
        schema = next((form for form in forms if is_meant(value, form)), {})
    if isinstance(value, dict) and "properties" in schema:
        return {key: fit(value.get(key), part, definitions) for key, part in schema["properties"].items()}
    if isinstance(value, list | tuple):
        items = schema.get("items", {})
        named = [entry for entry in value if entry in items.get("enum", value)]
        return [fit(entry, items, definitions) for entry in named[: schema.get("maxItems")]]
    return value[: schema.get("maxLength")] if isinstance(value, str) else value


def is_meant(value: Any, form: _Schema) -> bool:
    """Return whether a non-null value belongs to a variant, judging by its constants."""
    if value is None or form.get("type") == "null":
        return value is None and form.get("type") == "null"
    if isinstance(value, dict):
        consts = {key: part["const"] for key, part in form.get("properties", {}).items() if "const" in part}
        return "properties" in form and all(value.get(key) == const for key, const in consts.items())
    return "properties" not in form
