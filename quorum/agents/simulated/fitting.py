"""Brings the answers of rules into the wanted form: rules know neither which parts and names it has, nor its caps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quorum.agents.prompting.instances import resolved

_Schema = Mapping[str, Any]


def fit(value: Any, schema: _Schema, definitions: Mapping[str, _Schema]) -> Any:
    """Return a value with the fields that a form has, null for those that it lacks, and its texts and lists cut.

    A list of names keeps those that the form has: rules may name a task of which they do not know that it is done. What
    no form of the schema is meant for is left as it is. Forms of servers may lack bounds and names.

    Args:
        value: to be written as JSON.
        schema: of the wanted value.
        definitions: that its references name.
    """
    schema = resolved(schema, definitions)
    if "anyOf" in schema:
        forms = (resolved(form, definitions) for form in schema["anyOf"])
        schema = next((form for form in forms if _is_meant(value, form)), {})
    if isinstance(value, dict) and "properties" in schema:
        return {key: fit(value.get(key), part, definitions) for key, part in schema["properties"].items()}
    if isinstance(value, list | tuple):
        items = schema.get("items", {})
        named = [entry for entry in value if entry in items.get("enum", value)]
        return [fit(entry, items, definitions) for entry in named[: schema.get("maxItems")]]
    return value[: schema.get("maxLength")] if isinstance(value, str) else value


def _is_meant(value: Any, form: _Schema) -> bool:
    """Whether a value, which is not null by chance, is of a form: by its constants."""
    if value is None or form.get("type") == "null":
        return value is None and form.get("type") == "null"
    if isinstance(value, dict):
        consts = {key: part["const"] for key, part in form.get("properties", {}).items() if "const" in part}
        return "properties" in form and all(value.get(key) == const for key, const in consts.items())
    return "properties" not in form
