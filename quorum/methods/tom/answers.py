"""The typed answers of the roles, and their parsers.

| role | answer |
|---|---|
| observer | `{"thoughts": ..., "acts": [{"agent": ..., "task": {...}}]}` |
| hypothesizer | `{"thoughts": ..., "hypotheses": [{"agent": ..., "hypothesis": "..."}]}` |
| predictor | `{"thoughts": ..., "predictions": [{"agent": ..., "hypothesis": 1, "task": {...} or null}]}` |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, Field

from maeil.errors import InvalidThought
from maeil.plans import Task
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.prompting.answers import Part, TaskAnswer, Thoughts, checked, part, read_task, task_value, tidy
from quorum.agents.prompting.examples import Example
from quorum.methods.tom.hypotheses import Partner


class TomRole(StrEnum):
    """A role for model calls before the turn itself; its value is the name of its template."""

    OBSERVER = "observer"
    HYPOTHESIZER = "hypothesizer"
    PREDICTOR = "predictor"


Partners = Mapping[str, Partner]
"""The agents that an answer may concern, by name."""


class ActAnswer(Part):
    """A task that another agent has started."""

    agent: str
    task: TaskAnswer


class HypothesisAnswer(Part):
    """A hypothesis about another agent's strategy."""

    agent: str
    hypothesis: Annotated[str, Field(min_length=1, max_length=1000)]


class ForecastAnswer(Part):
    """A hypothesis's prediction of another agent's next task."""

    agent: str
    hypothesis: Annotated[int, Field(ge=1)]
    task: TaskAnswer | None


MODELS: Mapping[TomRole, type[BaseModel]] = {
    TomRole.OBSERVER: part("ObserverAnswer", "", thoughts=Thoughts, acts=list[ActAnswer]),
    TomRole.HYPOTHESIZER: part("HypothesizerAnswer", "", thoughts=Thoughts, hypotheses=list[HypothesisAnswer]),
    TomRole.PREDICTOR: part("PredictorAnswer", "", thoughts=Thoughts, predictions=list[ForecastAnswer]),
}
"""The answer of each role; its last key holds the entries about other agents."""
FORMS = {role: AnswerFormat(role.value, tidy(model.model_json_schema())) for role, model in MODELS.items()}
"""The answer schema of each role, the same for all teams."""


def ground_partners(role: TomRole, partners: Partners) -> dict[str, Any]:
    """Return a role's schema restricted to these partners: their names, their hypotheses, and the number of entries."""
    schema = FORMS[role].schema
    *_, entries = schema["properties"]
    name = schema["properties"][entries]["items"]["$ref"].rpartition("/")[2]
    definition = schema["$defs"][name]
    forms, most = [], 0
    for agent, partner in partners.items():
        own: dict[str, Any] = {"agent": {"type": "string", "const": agent}}
        if role is TomRole.PREDICTOR:
            own["hypothesis"] = {"type": "integer", "enum": [one.number for one in partner.predicting]}
        most += len(partner.predicting) if role is TomRole.PREDICTOR else 1
        forms.append({**definition, "properties": {**definition["properties"], **own}})
    listed = {**schema["properties"][entries], "maxItems": most}
    definitions = {**schema["$defs"], name: {"anyOf": forms}}
    return {**schema, "$defs": definitions, "properties": {**schema["properties"], entries: listed}}


def read_acts(value: object, partners: Partners) -> dict[str, Task]:
    """Parse the tasks of others, by agent name.

    Raises:
        InvalidThought: it does not match the schema, concerns an agent not asked about, or names an agent twice.
    """
    answer: Any = checked(MODELS[TomRole.OBSERVER], value)
    _check([act.agent for act in answer.acts], partners)
    return {act.agent: Task(act.task.kind, act.task.target) for act in answer.acts}


def read_hypotheses(value: object, partners: Partners) -> dict[str, str]:
    """Parse new hypotheses, by the name of the agent they concern.

    Raises:
        InvalidThought: it does not match the schema, concerns an agent not asked about, or names an agent twice.
    """
    answer: Any = checked(MODELS[TomRole.HYPOTHESIZER], value)
    _check([one.agent for one in answer.hypotheses], partners)
    return {one.agent: one.hypothesis for one in answer.hypotheses}


def read_forecasts(value: object, partners: Partners) -> dict[str, dict[int, Task | None]]:
    """Parse predicted tasks of others, by agent name and hypothesis number.

    Raises:
        InvalidThought: it does not match the schema, or uses a hypothesis that does not predict, or uses one twice.
    """
    answer: Any = checked(MODELS[TomRole.PREDICTOR], value)
    keys = [(one.agent, one.hypothesis) for one in answer.predictions]
    wanted = {(name, one.number) for name, partner in partners.items() for one in partner.predicting}
    reasons = [
        f"predictions: there is no hypothesis {number} about {name!r}"
        for name, number in keys
        if (name, number) not in wanted
    ]
    reasons += [
        f"predictions: there are two by hypothesis {number} about {name!r}"
        for name, number in sorted(wanted)
        if keys.count((name, number)) > 1
    ]
    if reasons:
        raise InvalidThought(tuple(reasons))
    found: dict[str, dict[int, Task | None]] = {name: {} for name in partners}
    for one in answer.predictions:
        found[one.agent][one.hypothesis] = read_task(one.task)
    return found


def example_of(role: TomRole, example: Example) -> dict[str, Any]:
    """Return an example answer for a role, JSON-ready, about an agent and a task of another board."""
    agent, known = example.one_more, task_value(example.plan.task or Task("carry", "box_60"))
    match role:
        case TomRole.OBSERVER:
            return {"thoughts": "It says so, and it stands there.", "acts": [{"agent": agent, "task": known}]}
        case TomRole.HYPOTHESIZER:
            entry = {"agent": agent, "hypothesis": "It takes what is nearest to it, and keeps at it."}
            return {"thoughts": "It has never gone far.", "hypotheses": [entry]}
        case TomRole.PREDICTOR:
            forecast = {"agent": agent, "hypothesis": 1, "task": known}
            return {"thoughts": "This is nearest to it.", "predictions": [forecast]}


def _check(named: Sequence[str], partners: Partners) -> None:
    allowed = ", ".join(partners)
    reasons = [f"there is no {name!r} to tell of; there are: {allowed}" for name in named if name not in partners]
    reasons += [f"{name!r} has two entries; give one" for name in partners if named.count(name) > 1]
    if reasons:
        raise InvalidThought(tuple(reasons))
