"""Schemas that name what exists: the ids of the present state in the place of any number.

A server whose decoding is constrained by the schema then cannot answer "block 19" when there are three blocks. What the
loop would take is never forbidden: a world names no more than what it refuses by itself (`maeil.world.TellsIds`), and a
name is taken out only where the turn does not allow it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maeil.world import Ids, TellsIds, World

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
