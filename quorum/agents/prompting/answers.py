"""The parts of typed answers: models made at run time, their JSON schemas, and plans from and to JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from maeil.actions import SymbolicAction, Vocabulary
from maeil.errors import InvalidThought
from maeil.plans import Plan, Task
from quorum.agents.llm.protocol import AnswerFormat

LISTED = 64
"""Entries of a list, at most, in a schema that is the same for every team; what a turn takes is checked as well."""

FAR = 1000
"""A limit from here on is one that no sensible plan comes near."""

_LIMITS = ("maximum", "exclusiveMaximum")
BOUNDS = ("minimum", "exclusiveMinimum", *_LIMITS)
"""The keywords of JSON Schema for the bounds of a number."""

PLAN = "PlanAnswer"
"""Name of the schema of a plan."""

LONGEST_THOUGHTS = 4000
"""Characters."""
Thoughts = Annotated[
    str, Field(max_length=LONGEST_THOUGHTS, description="what speaks for this answer, in a few sentences")
]
"""The first key of an answer: a model that writes its reasons before its choice chooses better. One that thinks by
itself is not asked for it (`with_thoughts`), so readers do without."""


class Part(BaseModel):
    """Base of every part of an answer: nothing unknown in it, and nothing to be changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskAnswer(Part):
    """What a plan is for, so that plans of several agents can be compared."""

    kind: Annotated[str, Field(min_length=1, max_length=60, description='what is done, e.g. "deliver"')]
    target: Annotated[str, Field(min_length=1, max_length=60, description='what it is done to, e.g. "block_3"')]


def plan_model(
    vocabulary: Vocabulary, max_actions: int, *, rationale: bool = True, task: bool = True
) -> type[BaseModel]:
    """Make the model of a plan.

    Args:
        vocabulary: the actions that a plan may have.
        max_actions: actions of a plan, at most.
        rationale: whether it has a reason.
        task: whether it names what it is for.
    """
    action: Any = reduce(or_, vocabulary)
    if len(vocabulary.names) > 1:
        action = Annotated[action, Field(discriminator="action")]
    fields: dict[str, Any] = {}
    if rationale:
        fields["rationale"] = Annotated[str, Field(max_length=1000, description="a short reason for this plan")]
    if task:
        fields["task"] = Annotated[TaskAnswer | None, Field(description="null when it serves none")]
    fields["actions"] = Annotated[list[action], Field(min_length=1, max_length=max_actions)]
    return part(PLAN, "A plan: its actions are carried out in order; one that fails ends the plan.", **fields)


@cache
def answers_of(forms: Callable[..., Any], actions: tuple[type[SymbolicAction], ...], *arguments: Any) -> Any:
    """Make the forms of the answers for a vocabulary, once for all teams of a process.

    Args:
        forms: the class of the forms.
        actions: of the vocabulary.
        arguments: what else it is made of; they can be hashed.
    """
    return forms(Vocabulary(*actions), *arguments)


def part(name: str, meaning: str, **fields: Any) -> type[BaseModel]:
    """Make a model at run time, all of whose fields but thoughts are required."""
    required: Any = {key: (kind, "" if kind is Thoughts else ...) for key, kind in fields.items()}
    model: type[BaseModel] = create_model(name, __base__=Part, __doc__=meaning or None, **required)
    return model


FORM = "turn"
"""Name of the form that all turns or roles of a team share."""


def or_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a value that may also be null."""
    null = {"type": "null"}
    return schema if null in schema.get("anyOf", ()) else {"anyOf": [schema, null]}


def united(forms: Sequence[AnswerFormat]) -> Mapping[str, Any]:
    """Return one schema for all forms of a team, with the keys of each; what is not in all of them may be null.

    Providers read the schema before the prompt, so prompts with different schemas have no beginning in common that a
    cache could keep.
    """
    schemas = [form.schema for form in forms]
    keys = dict.fromkeys(key for schema in schemas for key in schema["properties"])
    properties = {}
    for key in keys:
        found = [schema["properties"][key] for schema in schemas if key in schema["properties"]]
        nullable = len(found) < len(schemas) or any(part != found[0] for part in found)
        properties[key] = or_null(found[0]) if nullable else found[0]
    definitions = {name: part for schema in schemas for name, part in schema.get("$defs", {}).items()}
    return {**schemas[0], "$defs": definitions, "properties": properties, "required": list(properties)}


def with_thoughts(form: AnswerFormat, longest: int) -> AnswerFormat:
    """Return the form of an answer that begins with thoughts of so many characters at most; 0: without them."""

    def changed(schema: Mapping[str, Any]) -> dict[str, Any]:
        rest = {key: part for key, part in schema["properties"].items() if key != "thoughts"}
        first = {"thoughts": {**schema["properties"]["thoughts"], "maxLength": longest}} if longest else {}
        return {**schema, "properties": {**first, **rest}, "required": [*first, *rest]}

    return form.changed(changed)


def sent_bounds(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds of a number that the form of an answer has, from its JSON schema, by keyword.

    That an id is not negative goes without saying. That a count is not 0 does not, for who answers by the form alone.
    """
    found = {key: field[key] for key in BOUNDS if key in field and not (key in _LIMITS and field[key] >= FAR)}
    return {} if found == {"minimum": 0} else found


def bounds_in_words(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds that a prompt gives in words: those that a plan could run into.

    A count that nothing limits has none.
    """
    found = sent_bounds(field)
    return {} if found == {"minimum": 1} else found


def tidy(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce a schema of pydantic's to what providers' strict modes take.

    No titles, defaults or discriminators, `anyOf` alone, references without company, and every property required: what
    may be left out has null among its values, or a default that can be given. No descriptions either, since the prompt
    says in words what everything means, and a form that repeats it is paid for twice; and no bound of a number
    that no plan comes near. Keys keep their order.
    """
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    found: dict[str, Any] = {}
    far = set(BOUNDS) - sent_bounds(schema).keys()
    for key, value in schema.items():
        if key in far or key in ("title", "description", "default", "discriminator"):
            continue
        if key in ("properties", "$defs"):
            found[key] = {name: tidy(part) for name, part in value.items()}
        elif isinstance(value, dict):
            found[key] = tidy(value)
        elif key in ("anyOf", "oneOf", "allOf"):
            found["anyOf" if key == "oneOf" else key] = [tidy(part) for part in value]
        elif key == "prefixItems" and all(part == value[0] for part in value):
            found["items"] = tidy(value[0])
        else:
            found[key] = value
    if "properties" in found:
        found["required"] = list(found["properties"])
    return found


def checked(model: type[BaseModel], value: object) -> Any:
    """Validate an answer.

    Raises:
        InvalidThought: it is not what the model asks for; the reasons say what to mend.
    """
    try:
        # By way of JSON, so that strict means: no number in quotes, but the name of an enum's member is right.
        return model.model_validate_json(orjson.dumps(value), strict=True)
    except ValidationError as error:
        raise InvalidThought(tuple(_reason(found) for found in error.errors())) from None
    except TypeError as error:
        raise InvalidThought((f"the answer is not JSON: {error}",)) from None


def read_plan(answer: Any) -> Plan:
    """Make a plan of the part of a validated answer that `plan_model` describes."""
    return Plan(
        tuple(answer.actions),
        read_task(getattr(answer, "task", None)),
        getattr(answer, "rationale", ""),
    )


def read_task(answer: TaskAnswer | None) -> Task | None:
    """Make a task of the part of a validated answer that says what is done."""
    return Task(answer.kind, answer.target) if answer is not None else None


def task_value(task: Task | None) -> dict[str, str] | None:
    """Write a task as JSON-ready data: the inverse of `read_task`."""
    return {"kind": task.kind, "target": task.target} if task is not None else None


def plan_value(plan: Plan) -> dict[str, Any]:
    """Write a plan as JSON-ready data: the inverse of `read_plan`."""
    return {"rationale": plan.rationale, "task": None, **part_value(plan)}


def part_value(plan: Plan) -> dict[str, Any]:
    """Write a plan as a part of a joint plan, JSON-ready: no reason, and a task only where it has one."""
    task = {"task": task_value(plan.task)} if plan.task is not None else {}
    return {**task, "actions": [action.model_dump(mode="json") for action in plan.actions]}


def _reason(error: Any) -> str:
    """Say what is wrong with one value, and where."""
    where = ".".join(map(str, error["loc"]))
    return f"{where or 'answer'}: {error['msg']}"
