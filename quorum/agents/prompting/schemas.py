"""Schemas of answers as they are sent: in fewer characters, and with the ids of the present state in them.

Providers that take a schema read it with every prompt, so its characters are paid for like those of the words.

A server whose decoding is constrained by the schema cannot answer "block 19" when the schema names the three blocks
that exist. What the loop would take is never forbidden: a world names no more than what it refuses by itself
(`maeil.World.ids`, `maeil.World.tasks`), numbers end where larger ones make no difference, and a name is
taken out only where the turn does not allow it, or where nothing that the agent has seen or read can have led to it.
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
TASK = "TaskAnswer"
"""The definition of a task."""
ASK = "AskAnswer"
"""The definition of what a message asks of another agent."""
_WORD = re.compile(r"\w+")


def ids_of(world: World, agent: int | None) -> Ids:
    """Return what a plan of an agent may name; of anybody for None. Nothing where the world does not tell."""
    return world.ids(agent)


def tasks_of(world: World, agent: int | None, view: View) -> Tasks | None:
    """Return what a plan of an agent may be for, of anybody for None; nothing where the world does not tell."""
    return world.tasks(agent, _text_of(view))


def foreseen_of(world: World, view: View, shown: object = "") -> Tasks | None:
    """Return what plans of the others may be for, as far as the holder of a turn can know; nothing where it cannot.

    That is what it may plan for itself, and what the turn names that it can rule out while another cannot.

    Args:
        world: it as it is now.
        view: the turn of an agent.
        shown: what else the agent is shown that may name tasks.
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
    """All in a turn that may name a task to its holder, apart from what it sees."""
    messages = [*view.memory, *view.unread]
    tasks = [view.turn.task, *(message.task for message in messages), *(known.task for known in view.constraints)]
    said = [*(message.content for message in messages), *(note.shown for note in view.notes)]
    return " ".join(map(str, (*tasks, *said)))


def ground(
    schema: Schema, ids: Ids, agents: Sequence[str], tasks: Tasks | None = None, foreseen: Tasks | None = None
) -> dict[str, Any]:
    """Narrow the form of an answer to what exists.

    Args:
        schema: of the answer, as `tidy` leaves it.
        ids: what actions may name.
        agents: names of those whom the parts of an answer are about.
        tasks: what plans may be for; None: nobody says.
        foreseen: what plans of others may be for, where messages ask for them.
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
    """Write into the schema of an entry which names its `agent` may have."""
    return {**entry, "properties": {**entry["properties"], "agent": {"type": "string", "enum": list(names)}}}


def with_tasks_of_others(schema: Schema, name: str, tasks: Tasks | None, foreseen: Tasks | None) -> dict[str, Any]:
    """Write into a definition which tasks its `task` may name, one that another agent may do.

    Args:
        schema: of the answer, in which the definition of a task is as `tidy` leaves it.
        name: of the definition.
        tasks: what plans of the agent that answers may be for, which the definition of a task is narrowed to.
        foreseen: what plans of others may be for, as far as the agent can know; None: nobody says.
    """
    definition = schema["$defs"][name]
    if foreseen in (None, tasks):
        return dict(schema)
    forms = _task_forms(schema["$defs"][TASK], foreseen)
    forms += [form for form in definition["properties"]["task"].get("anyOf", ()) if form == {"type": "null"}]
    changed = _with_property(definition, "task", {"anyOf": forms}) if forms else definition
    return {**schema, "$defs": {**schema["$defs"], name: changed}}


def with_targets(schema: Schema, name: str, targets: Sequence[str]) -> dict[str, Any]:
    """Write into a definition which names its list `tasks` may hold; without any, leave it as it is."""
    definition = schema["$defs"][name]
    if not targets:
        return dict(schema)
    listed = {**definition["properties"]["tasks"], "items": _of_these(targets)}
    return {**schema, "$defs": {**schema["$defs"], name: _with_property(definition, "tasks", listed)}}


def _task_forms(definition: Schema, tasks: Tasks) -> list[dict[str, Any]]:
    """Return the forms of these tasks, those of kinds with the same targets as one."""
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
    """Return the form of an action with these values of its arguments alone; None where one has no value left."""
    if not all(len(allowed) for allowed in values.values()):
        return None
    narrowed = {key: _of_these(allowed) for key, allowed in values.items()}
    return {**definition, "properties": {**definition["properties"], **narrowed}}


def _of_these(values: Sequence[Any]) -> dict[str, Any]:
    """Return the schema of some values: of a range its bounds, of ranges a pair, else the list."""
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
