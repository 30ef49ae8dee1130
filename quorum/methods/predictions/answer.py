"""What a turn to plan asks for where minds predict: what each of the others does next."""

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
    """What another agent does next."""

    agent: str
    task: Annotated[TaskAnswer | None, Field(description="what its next plan is for; null when it serves no task")]


def mates_of(view: View) -> tuple[str, ...]:
    """Return the names of the agents that a turn asks to predict: all others, in a turn to plan."""
    if Act.PLAN not in view.turn.acts or view.name == COORDINATOR:
        return ()
    return tuple(name for name in view.names if name not in (view.name, COORDINATOR))


class PredictionsPart(AnswerPart):
    """The key `predictions`: one prediction for each other agent at most; nobody reads them."""

    name = Predictions.name
    keys = ("predictions",)
    first = True
    ending = "predict"

    def wanted(self, view: View) -> bool:
        """Return whether there is somebody to predict."""
        return bool(mates_of(view))

    def types(self, view: View) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the type of the list."""
        return {"predictions": Annotated[list[PredictionAnswer], Field(max_length=LISTED)]}

    def narrowed(self, schema: Mapping[str, Any], view: View, world: World | None) -> Mapping[str, Any]:
        """Write into a schema the names of the others, each once, and the tasks that they can take up."""
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
        """Return what one more agent does by itself."""
        other = example.alone or example.plan
        return {"predictions": [{"agent": example.one_more, "task": task_value(other.task)}]}

    def turn(self, view: View) -> Mapping[str, Any]:
        """Return the names of those to predict."""
        return {"predict": fold_names(mates_of(view))}

    def read(self, answer: Any, view: View) -> tuple[Prediction, ...]:
        """Read the predictions.

        Raises:
            InvalidThought: one is about somebody else, or two are about one agent.
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
        """Predict that each does what it says, or else takes what is nearest to it."""
        found = []
        for mate in map(asked.view.names.index, unfold_names(asked.turn["predict"])):
            prospects = asked.speaker.prospects(asked.view, mate)
            best = min(prospects, key=lambda one: (not one.said, one.steps, one.task.target), default=None)
            found.append(Prediction(mate, best.task if best is not None else None))
        return tuple(found)


part = PredictionsPart()
