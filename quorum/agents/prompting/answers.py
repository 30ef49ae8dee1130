"""Parts of typed answers: models made at run time, their JSON schemas, and conversion of plans from and to JSON."""

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
"""Maximum entries of a list in a schema that all teams share; the limits of a turn are checked as well."""

FAR = 1000
"""Limits of at least this size are irrelevant: no sensible plan comes near them."""

_LIMITS = ("maximum", "exclusiveMaximum")
BOUNDS = ("minimum", "exclusiveMinimum", *_LIMITS)
"""JSON Schema keywords for the bounds of a number."""

PLAN = "PlanAnswer"
"""Name of the schema of a plan."""

LONGEST_THOUGHTS = 4000
"""Maximum length, in characters."""
Thoughts = Annotated[
    str, Field(max_length=LONGEST_THOUGHTS, description="what speaks for this answer, in a few sentences")
]
"""The first key of an answer: models choose better if they write their reasons first. Reasoning models omit it
(`with_thoughts`); readers treat it as optional."""


class Part(BaseModel):
    """Base of all parts of an answer: frozen, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskAnswer(Part):
    """The task of a plan, so that plans of several agents can be compared."""

    kind: Annotated[str, Field(min_length=1, max_length=60, description='what is done, e.g. "deliver"')]
    target: Annotated[str, Field(min_length=1, max_length=60, description='what it is done to, e.g. "block_3"')]


def plan_model(
    vocabulary: Vocabulary, max_actions: int, *, rationale: bool = True, task: bool = True
) -> type[BaseModel]:
    """Make the model of a plan.

    Args:
        vocabulary: the actions that a plan may use.
        max_actions: maximum number of actions in a plan.
        rationale: whether the plan has a rationale.
        task: whether the plan names its task.
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
    """Make the answer formats for a vocabulary, once for all teams of a process.

    Args:
        forms: class of the formats.
        actions: actions of the vocabulary.
        arguments: further arguments of the class; they must be hashable.
    """
    return forms(Vocabulary(*actions), *arguments)


def part(name: str, meaning: str, **fields: Any) -> type[BaseModel]:
    """Make a model at run time; all fields except thoughts are required."""
    required: Any = {key: (kind, "" if kind is Thoughts else ...) for key, kind in fields.items()}
    model: type[BaseModel] = create_model(name, __base__=Part, __doc__=meaning or None, **required)
    return model


FORM = "turn"
"""Name of the format that all turns or roles of a team share."""


def or_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a nullable value."""
    null = {"type": "null"}
    return schema if null in schema.get("anyOf", ()) else {"anyOf": [schema, null]}


def united(forms: Sequence[AnswerFormat]) -> Mapping[str, Any]:
    """Return one schema with the keys of all formats of a team; keys missing from some formats are nullable.

    Providers read the schema before the prompt, so prompts with different schemas have no common prefix that a cache
    could keep.
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
    """Return the format of an answer that starts with thoughts of at most `longest` characters; 0 removes them."""

    def changed(schema: Mapping[str, Any]) -> dict[str, Any]:
        rest = {key: part for key, part in schema["properties"].items() if key != "thoughts"}
        first = {"thoughts": {**schema["properties"]["thoughts"], "maxLength": longest}} if longest else {}
        return {**schema, "properties": {**first, **rest}, "required": [*first, *rest]}

    return form.changed(changed)


def sent_bounds(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds that an answer schema includes for a number, by keyword, from its JSON schema.

    A minimum of 0 for ids is obvious and omitted. A positive minimum is included, for models that see only the schema.
    """
    found = {key: field[key] for key in BOUNDS if key in field and not (key in _LIMITS and field[key] >= FAR)}
    return {} if found == {"minimum": 0} else found


def bounds_in_words(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds that a prompt states in words: those that a plan could exceed.

    Unlimited counts have none.
    """
    found = sent_bounds(field)
    return {} if found == {"minimum": 1} else found


def tidy(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce a pydantic schema to what providers' strict modes accept.

    Remove titles, defaults and discriminators; use `anyOf` only; keep references alone in their object; require every
    property, where optional ones accept null or have a default to state. Remove descriptions, because the prompt
    explains everything and repeated text costs tokens, and bounds that no plan comes near. Keys keep their order.
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
        InvalidThought: it does not match the model; the reasons say what to fix.
    """
    try:
        # Validate through JSON: strict mode then rejects numbers in quotes but accepts the names of enum members.
        return model.model_validate_json(orjson.dumps(value), strict=True)
    except ValidationError as error:
        raise InvalidThought(tuple(_reason(found) for found in error.errors())) from None
    except TypeError as error:
        raise InvalidThought((f"the answer is not JSON: {error}",)) from None


def read_plan(answer: Any) -> Plan:
    """Make a plan from the part of a validated answer that `plan_model` describes."""
    return Plan(
        tuple(answer.actions),
        read_task(getattr(answer, "task", None)),
        getattr(answer, "rationale", ""),
    )


def read_task(answer: TaskAnswer | None) -> Task | None:
    """Make a task from its part of a validated answer."""
    return Task(answer.kind, answer.target) if answer is not None else None


def task_value(task: Task | None) -> dict[str, str] | None:
    """Write a task as JSON-ready data: the inverse of `read_task`."""
    return {"kind": task.kind, "target": task.target} if task is not None else None


def plan_value(plan: Plan) -> dict[str, Any]:
    """Write a plan as JSON-ready data: the inverse of `read_plan`."""
    return {"rationale": plan.rationale, "task": None, **part_value(plan)}


def part_value(plan: Plan) -> dict[str, Any]:
    """Write a plan as a part of a joint plan, JSON-ready: without rationale, and with a task only if it has one."""
    task = {"task": task_value(plan.task)} if plan.task is not None else {}
    return {**task, "actions": [action.model_dump(mode="json") for action in plan.actions]}


def _reason(error: Any) -> str:
    """Describe what is wrong with one value, and where."""
    where = ".".join(map(str, error["loc"]))
    return f"{where or 'answer'}: {error['msg']}"
