"""The vocabulary in words, from the action models: calls with values, ranges and defaults, and meanings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from maeil.actions import SymbolicAction, Vocabulary
from quorum.agents.prompting.answers import bounds_in_words

INTEGER = "integer"
"""The values of an argument that accepts any integer a plan could use."""
NULL = "null"
OR_NULL = f"{INTEGER} or {NULL}"


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of an action.

    Attributes:
        name: its name.
        values: its allowed values, in words.
        default: its default as JSON; empty if it is required.
        meaning: its meaning; empty if the model does not give one.
    """

    name: str
    values: str
    default: str
    meaning: str


@dataclass(frozen=True, slots=True)
class ActionEntry:
    """An action, as its model describes it.

    Attributes:
        name: its name.
        meaning: what it does.
        arguments: its arguments, in order.
    """

    name: str
    meaning: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class ToldAction:
    """An action, as a prompt shows it.

    Attributes:
        call: its call signature: `push_block(block, steps=1)`.
        meaning: what it does, and what its arguments mean.
    """

    call: str
    meaning: str


def tell(entries: Iterable[ActionEntry]) -> tuple[ToldAction, ...]:
    """Describe actions; the meaning of an argument is given only at its first appearance.

    The values of an argument follow its name, as in `move(direction: up|down, steps=1)`, except for integers without
    bounds.
    """
    senses: dict[str, tuple[str, str]] = {}
    shown = []
    for entry in entries:
        given, notes = [], []
        for argument in entry.arguments:
            sense = (argument.values, argument.meaning)
            before = senses.get(argument.name)
            senses[argument.name] = sense
            is_plain = argument.values == INTEGER or (argument.values == OR_NULL and argument.default == NULL)
            is_told = before == sense or (is_plain and (before is None or before[0] == argument.values))
            values = "" if is_told else f": {argument.values}"
            default = f"{' = ' if values else '='}{argument.default}" if argument.default else ""
            given.append(f"{argument.name}{values}{default}")
            if argument.meaning and before != sense:
                notes.append(f" {argument.name}: {argument.meaning}.")
        shown.append(ToldAction(f"{entry.name}({', '.join(given)})", entry.meaning + "".join(notes)))
    return tuple(shown)


def describe(vocabulary: Vocabulary, agents: Sequence[str]) -> tuple[ActionEntry, ...]:
    """Describe every action of a vocabulary, in its order.

    Args:
        vocabulary: the actions.
        agents: names of the agents, by index; an action for only some agents lists them.
    """
    found = []
    for entry in map(_entry, vocabulary):
        those = [agents[agent] for agent in vocabulary.only.get(entry.name, ())]
        found.append(replace(entry, meaning=f"{entry.meaning} Only for {', '.join(those)}.") if those else entry)
    return tuple(found)


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
    """Return the allowed values of a field in words, from its JSON schema."""
    if "$ref" in field:
        return _values(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in field:
        return " or ".join(_values(option, definitions) for option in field["anyOf"])
    if "enum" in field:
        return "|".join(_bare(value) for value in field["enum"])
    if "const" in field:
        return _bare(field["const"])
    match field.get("type"):
        case "null":
            return NULL
        case "array":
            return f"list of {_items(field, definitions)}"
        case "integer":
            return _range(field) or INTEGER
        case "number":
            return f"number {_range(field)}".rstrip()
        case kind:
            return str(kind)


def _items(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "prefixItems" in field:
        parts = [_values(item, definitions) for item in field["prefixItems"]]
        return f"{len(parts)}: {', '.join(parts)}"
    return _values(field.get("items", {"type": "any"}), definitions)


def _range(field: Mapping[str, Any]) -> str:
    """Return the bounds that a plan could exceed, in words."""
    bounds = bounds_in_words(field)
    if bounds.keys() == {"minimum", "maximum"}:
        return f"{bounds['minimum']} to {bounds['maximum']}"
    words = {
        "minimum": "at least",
        "exclusiveMinimum": "greater than",
        "maximum": "at most",
        "exclusiveMaximum": "less than",
    }
    return " and ".join(f"{words[key]} {bound}" for key, bound in bounds.items())


def _bare(value: object) -> str:
    return value if isinstance(value, str) else _word(value)


def _word(value: object) -> str:
    return NULL if value is None else f'"{value}"' if isinstance(value, str) else str(value)
