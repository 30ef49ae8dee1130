"""Schemas of answers as they are sent: in fewer characters, and with the ids of the present state in them.

Providers that take a schema read it with every prompt, so its characters are paid for like those of the words.

A server whose decoding is constrained by the schema cannot answer "block 19" when the schema names the three blocks
that exist. What the loop would take is never forbidden: a world names no more than what it refuses by itself
(`maeil.world.TellsIds`), and a name is taken out only where the turn does not allow it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson

from maeil.world import Ids, TellsIds, World
from quorum.agents.prompting.answers import PLAN


def compact(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema that takes the same values, to be read only.

    A definition that is referred to once is put in that place, and one that nothing refers to is left out. The plan
    stays a definition, since who reads a form finds it by its name.
    """
    return _compact(orjson.dumps(schema))


@lru_cache(maxsize=256)
def _compact(schema: bytes) -> Mapping[str, Any]:
    whole: dict[str, Any] = orjson.loads(schema)
    definitions = whole.pop("$defs", {})
    uses = _uses(whole, definitions)
    once = {name: definitions[name] for name, count in uses.items() if count == 1 and name != PLAN}
    kept = {name: _inlined(part, once) for name, part in definitions.items() if uses[name] and name not in once}
    found: Mapping[str, Any] = _inlined(whole, once)
    return {"$defs": kept, **found} if kept else found


def _uses(whole: Any, definitions: Mapping[str, Any]) -> Counter[str]:
    """Count how often each definition is referred to, by all that the whole leads to."""
    uses: Counter[str] = Counter()
    open_parts = [whole]
    while open_parts:
        for name in _names(open_parts.pop()):
            uses[name] += 1
            if uses[name] == 1:
                open_parts.append(definitions[name])
    return uses


def _names(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            yield _name(part)
        for value in part.values():
            yield from _names(value)
    elif isinstance(part, list):
        for value in part:
            yield from _names(value)


def _inlined(part: Any, once: Mapping[str, Any]) -> Any:
    # It comes to an end: of a circle of references that the whole leads to, one is referred to from outside as well.
    if isinstance(part, dict):
        if "$ref" in part and _name(part) in once:
            return _inlined(once[_name(part)], once)
        return {key: _inlined(value, once) for key, value in part.items()}
    return [_inlined(value, once) for value in part] if isinstance(part, list) else part


def _name(reference: Mapping[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


Schema = Mapping[str, Any]

ENTRIES = ("EntryAnswer", "ChoiceAnswer")
"""Definitions whose `agent` is one of the team."""


def ids_of(world: World, agent: int | None) -> Ids:
    """Return what a plan of an agent may name; of anybody for None. Nothing where the world does not tell."""
    return world.ids(agent) if isinstance(world, TellsIds) else {}


def ground(schema: Schema, ids: Ids, agents: Sequence[str]) -> dict[str, Any]:
    """Narrow the form of an answer to what exists.

    Args:
        schema: of the answer, as `tidy` leaves it.
        ids: what actions may name.
        agents: names of the team, for the entries of a joint plan.
    """
    definitions: dict[str, Any] = {}
    gone: set[str] = set()
    for name, definition in schema.get("$defs", {}).items():
        action = definition.get("properties", {}).get("action", {}).get("const")
        if action in ids:
            forms = [form for values in ids[action] if (form := _narrowed(definition, values)) is not None]
            if forms:
                definitions[name] = forms[0] if len(forms) == 1 else {"anyOf": forms}
            else:
                gone.add(f"#/$defs/{name}")
        elif name in ENTRIES:
            definitions[name] = _narrowed(definition, {"agent": agents})
        else:
            definitions[name] = definition
    whole = {**schema, "$defs": definitions} if "$defs" in schema else dict(schema)
    found: dict[str, Any] = _without(whole, gone) if gone else whole
    return found


def _narrowed(definition: Schema, values: Mapping[str, Sequence[Any]]) -> dict[str, Any] | None:
    """Return the form of an action with these values of its arguments alone; None where one has no value left."""
    if not all(len(allowed) for allowed in values.values()):
        return None
    narrowed = {key: _of_these(allowed) for key, allowed in values.items()}
    return {**definition, "properties": {**definition["properties"], **narrowed}}


def _of_these(values: Sequence[Any]) -> dict[str, Any]:
    """Return the schema of some values: of a range its bounds, else the list."""
    if isinstance(values, range):
        return {"type": "integer", "minimum": values[0], "maximum": values[-1]}
    kinds = {type(value) for value in values}
    if kinds == {type(None)}:
        return {"type": "null"}
    if kinds == {str}:
        return {"type": "string", "enum": list(values)}
    assert kinds == {int}, values
    return {"type": "integer", "enum": list(values)}


def _without(schema: Any, gone: set[str]) -> Any:
    """Leave out the choices that refer to what is gone."""
    if isinstance(schema, list):
        return [_without(part, gone) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: [_without(form, gone) for form in value if form.get("$ref") not in gone]
        if key == "anyOf"
        else _without(value, gone)
        for key, value in schema.items()
    }
