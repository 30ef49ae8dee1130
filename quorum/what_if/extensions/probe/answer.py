"""The answer to a belief probe, and how the simulated model answers: from the data of the prompt alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import orjson

from maeil.mind import View
from quorum.agents.answer_parts import AnswerPart, Asked
from quorum.agents.prompting.answers import part as part_model
from quorum.agents.prompting.examples import Example
from quorum.what_if.extensions.probe import PROBE, questions_of
from quorum.what_if.extensions.probe.facts import DONE, NOTHING, OPEN, UNKNOWN, ProbeSkills, named_in, region


class ProbePart(AnswerPart):
    """The key `beliefs`: a choice for each question, which no other agent reads."""

    name = PROBE
    keys = ("beliefs",)
    alone = True

    def types(self, view: View) -> Mapping[str, Any]:
        """Return a model with the choices of each question of a view."""
        fields = {name: Literal[(*fact.choices, UNKNOWN)] for name, fact in questions_of(view).items()}
        return {"beliefs": part_model("Beliefs", "", **fields)}

    def example(self, example: Example, view: View) -> Mapping[str, Any]:  # noqa: ARG002
        """Return an answer that knows nothing."""
        return {"beliefs": dict.fromkeys(questions_of(view), UNKNOWN)}

    def read(self, answer: Any, view: View) -> Mapping[str, str]:  # noqa: ARG002
        """Return the choice for each question."""
        found: dict[str, str] = answer.beliefs.model_dump()
        return found

    def write(self, said: Mapping[str, str], view: View) -> Mapping[str, Any]:  # noqa: ARG002
        """Write the choices."""
        return {"beliefs": dict(said)}

    def says(self, asked: Asked) -> Mapping[str, str]:
        """Return a choice for each question.

        Places and states of tasks come from the observation. What a teammate named and what it works on is what it
        named last in the messages of the prompt. A poor choice is drawn from all choices.

        Raises:
            KeyError, ValueError: the block of the questions is not in the format of the probe.
        """
        view, chooser = asked.view, asked.chooser
        shares = asked.role("places", ProbeSkills().places)(view.observation)
        where = {thing: region(*share) for thing, share in shares.items()}
        things = where.keys() - set(view.names)
        questions: Mapping[str, Any] = orjson.loads(asked.blocks["questions"])
        found = {}
        for name, question in questions.items():
            choices, about = question["choices"], question["about"]
            if chooser.is_poor():
                found[name] = chooser.any_of(choices)
            elif question["fact"] == "place":
                found[name] = where.get(about, UNKNOWN)
            elif question["fact"] == "state":
                found[name] = OPEN if about in things else DONE if things else UNKNOWN
            else:
                found[name] = _heard(view, about, choices)
            if found[name] not in choices:
                found[name] = NOTHING if NOTHING in choices else UNKNOWN
        return found


def _heard(view: View, mate: str, choices: Sequence[str]) -> str:
    """Return the one of some choices that a teammate named last."""
    things = [choice for choice in choices if choice not in (NOTHING, UNKNOWN)]
    for message in reversed((*view.memory, *view.unread)):
        named = named_in(message.content, things)
        if view.names[message.sender] == mate and named:
            return min(named)
    return UNKNOWN


part = ProbePart()
