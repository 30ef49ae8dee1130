"""Answer schemas as sent: shortened, and with the ids of the current state.

Providers that accept a schema read it with every prompt, so its characters cost as much as those of the prompt.

A server that constrains decoding with the schema cannot answer "block 19" if the schema names the three existing
blocks. The schema never forbids what the loop would accept: a world excludes only what it refuses itself
(`maeil.World.ids`, `maeil.World.tasks`), numbers end where larger ones make no difference, and a name is excluded only
if the turn does not allow it or nothing that the agent has seen or read could have led to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson

from maeil.mind import View
from maeil.tasks import Tasks
from maeil.world import Ids, World
from quorum.agents.prompting.answers import PLAN


def compact(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an equivalent schema; treat the result as read-only.

    Definitions referenced once are inlined, and unreferenced ones removed. The plan stays a definition, because readers
    of a schema find it by name.
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
    """Count the references to each definition that are reachable from the whole."""
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
    # This terminates: one member of each reachable cycle of references is also referenced from outside the cycle.
    if isinstance(part, dict):
        if "$ref" in part and _name(part) in once:
            return _inlined(once[_name(part)], once)
        return {key: _inlined(value, once) for key, value in part.items()}
    return [_inlined(value, once) for value in part] if isinstance(part, list) else part


def _name(reference: Mapping[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


Schema = Mapping[str, Any]

ENTRIES = ("EntryAnswer", "ChoiceAnswer")
"""Definitions whose `agent` names a team member."""
TASK = "TaskAnswer"
"""The definition of a task."""
ASK = "AskAnswer"
"""The definition of a message's request to another agent."""
_WORD = re.compile(r"\w+")


def tasks_of(world: World, agent: int | None, view: View) -> Tasks | None:
    """Return the possible tasks of an agent's plan, of all agents if None; None if the world does not provide them."""
    return world.tasks(agent, _text_of(view))


def foreseen_of(world: World, view: View, shown: object = "") -> Tasks | None:
    """Return the possible tasks of others' plans, as far as the holder of a turn can know; None if it cannot.

    These are the agent's own possible tasks, and tasks named in the turn that are impossible for itself but may be
    possible for others.

    Args:
        world: its current state.
        view: the turn of an agent.
        shown: other data shown to the agent that may name tasks.
    """
    text = f"{_text_of(view)} {shown}"
    own = world.tasks(view.agent, text)
    if own is None:
        return None
    words = set(_WORD.findall(text))
    found = {kind: list(targets) for kind, targets in own.items()}
    for other in range(len(world.agents)):
        for kind, targets in (world.tasks(other, text) or {}).items():
            known = found.setdefault(kind, [])
            known += [target for target in targets if target in words and target not in known]
    return found


def _text_of(view: View) -> str:
    """Everything in a turn that may name a task, apart from the observation."""
    messages = [*view.memory, *view.unread]
    tasks = [view.turn.task, *(message.task for message in messages), *(known.task for known in view.constraints)]
    said = [*(message.content for message in messages), *(note.shown for note in view.notes)]
    return " ".join(map(str, (*tasks, *said)))


def ground(
    schema: Schema, ids: Ids, agents: Sequence[str], tasks: Tasks | None = None, foreseen: Tasks | None = None
) -> dict[str, Any]:
    """Narrow an answer schema to what exists.

    Args:
        schema: the answer schema, as returned by `tidy`.
        ids: ids that actions may use.
        agents: names of the agents that parts of an answer may be about.
        tasks: possible tasks of plans; None if unknown.
        foreseen: possible tasks of others' plans, for requests in messages.
    """
    definitions: dict[str, Any] = {}
    gone: set[str] = set()
    for name, definition in schema.get("$defs", {}).items():
        action = definition.get("properties", {}).get("action", {}).get("const")
        if action in ids:
            forms = [form for values in ids[action] if (form := _narrowed(definition, values)) is not None]
            if forms:
                definitions[name] = _one_of(forms)
            else:
                gone.add(f"#/$defs/{name}")
        elif name in ENTRIES:
            definitions[name] = _narrowed(definition, {"agent": agents})
        elif name == TASK and tasks is not None:
            forms = _task_forms(definition, tasks)
            definitions[name] = _one_of(forms) if forms else definition
            if not forms:
                gone.add(f"#/$defs/{name}")
        elif name == ASK:
            definitions[name] = with_tasks_of_others(schema, name, tasks, foreseen)["$defs"][name]
        else:
            definitions[name] = definition
    whole = {**schema, "$defs": definitions} if "$defs" in schema else dict(schema)
    found: dict[str, Any] = _without(whole, gone) if gone else whole
    return found


def about(entry: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Restrict the `agent` of an entry's schema to some names."""
    return _with_property(entry, "agent", {"type": "string", "enum": list(names)})


def with_tasks_of_others(schema: Schema, name: str, tasks: Tasks | None, foreseen: Tasks | None) -> dict[str, Any]:
    """Restrict the `task` of a definition to tasks that another agent may do.

    Args:
        schema: the answer schema, with the definition of a task as returned by `tidy`.
        name: name of the definition.
        tasks: possible tasks of the answering agent's plans, to which the definition of a task is narrowed.
        foreseen: possible tasks of others' plans, as far as the agent can know; None if unknown.
    """
    definition = schema["$defs"][name]
    if foreseen in (None, tasks):
        return dict(schema)
    forms = _task_forms(schema["$defs"][TASK], foreseen)
    forms += [form for form in definition["properties"]["task"].get("anyOf", ()) if form == {"type": "null"}]
    changed = _with_property(definition, "task", {"anyOf": forms}) if forms else definition
    return {**schema, "$defs": {**schema["$defs"], name: changed}}


def with_targets(schema: Schema, name: str, targets: Sequence[str]) -> dict[str, Any]:
    """Restrict the list `tasks` of a definition to some names; without names, leave it unchanged."""
    definition = schema["$defs"][name]
    if not targets:
        return dict(schema)
    listed = {**definition["properties"]["tasks"], "items": _of_these(targets)}
    return {**schema, "$defs": {**schema["$defs"], name: _with_property(definition, "tasks", listed)}}


def _task_forms(definition: Schema, tasks: Tasks) -> list[dict[str, Any]]:
    """Return the schemas of these tasks; kinds with the same targets share one."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for kind, targets in tasks.items():
        kinds.setdefault(tuple(targets), []).append(kind)
    found = (_narrowed(definition, {"kind": alike, "target": targets}) for targets, alike in kinds.items())
    return [form for form in found if form is not None]


def _with_property(definition: Schema, name: str, form: Schema) -> dict[str, Any]:
    return {**definition, "properties": {**definition["properties"], name: form}}


def _one_of(forms: Sequence[Schema]) -> Schema:
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _narrowed(definition: Schema, values: Mapping[str, Sequence[Any]]) -> dict[str, Any] | None:
    """Return the schema of an action with restricted argument values; None if an argument has no value left."""
    if not all(len(allowed) for allowed in values.values()):
        return None
    narrowed = {key: _of_these(allowed) for key, allowed in values.items()}
    return {**definition, "properties": {**definition["properties"], **narrowed}}


def _of_these(values: Sequence[Any]) -> dict[str, Any]:
    """Return the schema of some values: bounds for a range, a pair for ranges, else the list."""
    if isinstance(values, range):
        return {"type": "integer", "minimum": values[0], "maximum": values[-1]}
    if isinstance(values, tuple) and isinstance(values[-1], range):
        number = _of_these(values[-1])
        if values[0] is None:
            return {"anyOf": [number, {"type": "null"}]}
        return {"type": "array", "items": number, "minItems": len(values), "maxItems": len(values)}
    kinds = {type(value) for value in values}
    if kinds == {type(None)}:
        return {"type": "null"}
    if kinds == {str}:
        return {"type": "string", "enum": list(values)}
    assert kinds == {int}, values
    return {"type": "integer", "enum": list(values)}


def _without(schema: Any, gone: set[str]) -> Any:
    """Remove the choices that refer to removed definitions."""
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
