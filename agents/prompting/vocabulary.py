"""The vocabulary in words, made from the action models: signature with types, ranges and defaults, and meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from maeil.actions import SymbolicAction
from quorum.agents.prompting.bounds import told_bounds


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of an action.

    Attributes:
        name: its name.
        values: the values that it can take, in words.
        default: its default as JSON would write it, empty when it must be given.
        meaning: what it is, empty where the model does not say.
    """

    name: str
    values: str
    default: str
    meaning: str


@dataclass(frozen=True, slots=True)
class ActionEntry:
    """An action, as a prompt describes it.

    Attributes:
        name: its name.
        meaning: what it does.
        arguments: its arguments, in order.
    """

    name: str
    meaning: str
    arguments: tuple[Argument, ...]

    @property
    def signature(self) -> str:
        """How it is called: `push_block(block, steps=1)`."""
        given = (f"{each.name}={each.default}" if each.default else each.name for each in self.arguments)
        return f"{self.name}({', '.join(given)})"


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """What an argument means, for all actions that have it so.

    Attributes:
        name: its name.
        values: the values that it can take, in words.
        meaning: what it is, empty where the model does not say.
        actions: the actions that it is told for; empty where it means the same in all that have it.
    """

    name: str
    values: str
    meaning: str
    actions: tuple[str, ...]


def legend(entries: Iterable[ActionEntry]) -> tuple[LegendEntry, ...]:
    """Say once what each argument of a vocabulary means, in the order in which the actions name them."""
    found: dict[str, dict[tuple[str, str], list[str]]] = {}
    for entry in entries:
        for argument in entry.arguments:
            found.setdefault(argument.name, {}).setdefault((argument.values, argument.meaning), []).append(entry.name)
    return tuple(
        LegendEntry(name, values, meaning, tuple(actions) if len(senses) > 1 else ())
        for name, senses in found.items()
        for (values, meaning), actions in senses.items()
    )


def describe(vocabulary: Iterable[type[SymbolicAction]]) -> tuple[ActionEntry, ...]:
    """Describe every action of a vocabulary, in its order."""
    return tuple(_entry(model) for model in vocabulary)


@cache
def _entry(model: type[SymbolicAction]) -> ActionEntry:
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    required = schema.get("required", ())
    arguments = tuple(
        Argument(
            name,
            _values(field, definitions),
            "" if name in required else _word(field.get("default")),
            field.get("description", ""),
        )
        for name, field in schema["properties"].items()
        if name != "action"
    )
    meaning = " ".join(schema.get("description", "").split())
    return ActionEntry(str(model.model_fields["action"].default), meaning, arguments)


def _values(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Say what values a field can take, from its JSON schema."""
    if "$ref" in field:
        return _values(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in field:
        return " or ".join(_values(option, definitions) for option in field["anyOf"])
    if "enum" in field:
        return " | ".join(_word(value) for value in field["enum"])
    if "const" in field:
        return _word(field["const"])
    match field.get("type"):
        case "null":
            return "null"
        case "array":
            return f"list of {_items(field, definitions)}"
        case "integer" | "number" as kind:
            return f"{kind}{_range(field)}"
        case kind:
            return str(kind)


def _items(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "prefixItems" in field:
        parts = [_values(item, definitions) for item in field["prefixItems"]]
        return f"{len(parts)}: {', '.join(parts)}"
    return _values(field.get("items", {"type": "any"}), definitions)


def _range(field: Mapping[str, Any]) -> str:
    """Say the bounds that a plan could run into."""
    words = {
        "minimum": "at least",
        "exclusiveMinimum": "greater than",
        "maximum": "at most",
        "exclusiveMaximum": "less than",
    }
    told = [f"{words[key]} {bound}" for key, bound in told_bounds(field).items()]
    return f" {' and '.join(told)}" if told else ""


def _word(value: object) -> str:
    return "null" if value is None else f'"{value}"' if isinstance(value, str) else str(value)
