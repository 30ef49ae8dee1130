"""The answer part with predictions of other agents' next tasks, for turns to plan of minds that predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from maeil.errors import InvalidThought
from maeil.mind import COORDINATOR, Act, View
from maeil.world import World
from quorum.agents.answer_parts import AnswerPart, Asked
from quorum.agents.prompting.answers import LISTED, Part, TaskAnswer, read_task, task_value
from quorum.agents.prompting.examples import Example
from quorum.agents.prompting.schemas import about, foreseen_of, tasks_of, with_tasks_of_others
from quorum.methods.predictions import Prediction, Predictions
from quorum_base.names import fold_names, unfold_names


class PredictionAnswer(Part):
    """A prediction of another agent's next task."""

    agent: str
    task: Annotated[TaskAnswer | None, Field(description="what its next plan is for; null when it serves no task")]


def mates_of(view: View) -> tuple[str, ...]:
    """Return the names of the agents to predict: in a turn to plan, all others."""
    if Act.PLAN not in view.turn.acts or view.name == COORDINATOR:
        return ()
    return tuple(name for name in view.names if name not in (view.name, COORDINATOR))


class PredictionsPart(AnswerPart):
    """The key `predictions`: at most one prediction per other agent; no agent reads them."""

    name = Predictions.name
    keys = ("predictions",)
    first = True
    ending = "predict"

    def wanted(self, view: View) -> bool:
        """Return whether there is an agent to predict."""
        return bool(mates_of(view))

    def types(self, view: View) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the type of the list."""
        return {"predictions": Annotated[list[PredictionAnswer], Field(max_length=LISTED)]}

    def narrowed(self, schema: Mapping[str, Any], view: View, world: World | None) -> Mapping[str, Any]:
        """Restrict the schema to the names of the other agents, one entry each, and to the tasks open to them."""
        mates, name = mates_of(view), PredictionAnswer.__name__
        predictions = {**schema["properties"]["predictions"], "maxItems": len(mates)}
        found = {
            **schema,
            "$defs": {**schema["$defs"], name: about(schema["$defs"][name], mates)},
            "properties": {**schema["properties"], "predictions": predictions},
        }
        if world is None:
            return found
        return with_tasks_of_others(found, name, tasks_of(world, view.agent, view), foreseen_of(world, view))

    def example(self, example: Example, view: View) -> Mapping[str, Any]:  # noqa: ARG002
        """Return an example prediction about one other agent."""
        other = example.alone or example.plan
        return {"predictions": [{"agent": example.one_more, "task": task_value(other.task)}]}

    def turn(self, view: View) -> Mapping[str, Any]:
        """Return the names of the agents to predict."""
        return {"predict": fold_names(mates_of(view))}

    def read(self, answer: Any, view: View) -> tuple[Prediction, ...]:
        """Parse the predictions.

        Raises:
            InvalidThought: one concerns an agent outside the requested ones, or two concern the same agent.
        """
        entries, mates = answer.predictions, mates_of(view)
        named = [entry.agent for entry in entries]
        reasons = [
            f"predictions: there is no {name!r} to predict; there are: {', '.join(mates)}"
            for name in named
            if name not in mates
        ]
        reasons += [f"predictions: {name!r} is predicted twice" for name in mates if named.count(name) > 1]
        if reasons:
            raise InvalidThought(tuple(reasons))
        return tuple(Prediction(view.names.index(entry.agent), read_task(entry.task)) for entry in entries)

    def write(self, said: Sequence[Prediction], view: View) -> Mapping[str, Any]:
        """Write predictions with the names of agents."""
        return {"predictions": [{"agent": view.names[one.agent], "task": task_value(one.task)} for one in said]}

    def asked(self, turn: Mapping[str, Any]) -> bool:
        """Return whether a prompt names agents to predict."""
        return "predict" in turn

    def says(self, asked: Asked) -> tuple[Prediction, ...]:
        """Predict that each agent does what it announced, or else its nearest task."""
        found = []
        for mate in map(asked.view.names.index, unfold_names(asked.turn["predict"])):
            prospects = asked.speaker.prospects(asked.view, mate)
            best = min(prospects, key=lambda one: (not one.said, one.steps, one.task.target), default=None)
            found.append(Prediction(mate, best.task if best is not None else None))
        return tuple(found)


part = PredictionsPart()
