"""Blame by a language model that reads the transcript of a run, by the three procedures of Who&When.

Source: arXiv 2505.00212, section 4, and Algorithms 1 to 3 of its appendix.

| procedure | question |
|---|---|
| `all_at_once` | shows all turns: who made the decisive mistake, in which turn? |
| `step_by_step` | shows the turns up to one: was the last one the decisive mistake? The first yes is the verdict |
| `bisection` | shows a range of turns in two halves: which half has the decisive mistake? Until one turn is left |

A reader gets a transcript and nothing else of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from jinja2 import TemplateError
from pydantic import Field

from maeil.user_errors import UserError
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Model, Origin, Request
from quorum.agents.prompting.answers import Part, Thoughts, tidy
from quorum.agents.prompting.blocks import write_block
from quorum.agents.prompting.requests import UNSET
from quorum.agents.prompting.templates import SHIPPED, Templates, place_of
from quorum.experiments.blame.transcript import Transcript
from quorum.experiments.blame.verdict import Verdict

READER = "reader"
"""The participant in the records of calls."""


class Procedure(StrEnum):
    """How a reader is asked."""

    ALL_AT_ONCE = "all_at_once"
    STEP_BY_STEP = "step_by_step"
    BISECTION = "bisection"


class AllAtOnce(Part):
    """The answer to all turns."""

    thoughts: Thoughts
    agent: Annotated[str, Field(max_length=80, description='name of the agent, e.g. "agent_2"')]
    turn: Annotated[int, Field(ge=0, description="number of the turn")]
    mistake: Annotated[str, Field(max_length=400, description="what was wrong, in a sentence")]


class StepByStep(Part):
    """The answer about one turn."""

    thoughts: Thoughts
    decisive: bool
    mistake: Annotated[str, Field(max_length=400, description="what was wrong, in a sentence; empty if nothing")]


class Bisection(Part):
    """The answer about two halves."""

    thoughts: Thoughts
    half: Literal["first", "second"]


FORMS: Mapping[Procedure, type[Part]] = {
    Procedure.ALL_AT_ONCE: AllAtOnce,
    Procedure.STEP_BY_STEP: StepByStep,
    Procedure.BISECTION: Bisection,
}
"""The answer of each procedure."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The world of a run, as readers see it.

    Attributes:
        world: its name.
        calls: the actions of its vocabulary, as in a prompt.
        max_steps: step limit of the team.
    """

    world: str
    calls: Sequence[object]
    max_steps: int


class Reader:
    """Asks a language model who made a run fail.

    Args:
        model: answers.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        parts = {"system": "system.jinja", **{one.value: f"{one.value}.jinja" for one in Procedure}}
        templates = Templates("blame", SHIPPED / "blame", parts, own=None)
        self._templates = {part: templates.find(part) for part in parts}
        self.simulated = False
        """Whether a simulated model answered."""

    async def read(self, procedure: Procedure, transcript: Transcript, scene: Scene) -> Verdict:
        """Return the verdict of the reader.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: the model cannot be asked at all.
            maeil.errors.EpisodeStop: a budget is used up, or the provider does not answer.
        """
        method = f"{READER}:{procedure}"
        if not transcript.turns:
            return Verdict(method, None, None, reason="there is no turn")
        asked = _Asked(self, procedure, transcript, scene)
        procedures = {
            Procedure.ALL_AT_ONCE: _all_at_once,
            Procedure.STEP_BY_STEP: _step_by_step,
            Procedure.BISECTION: _bisection,
        }
        agent, turn, reason = await procedures[procedure](asked)
        if turn is None:
            return Verdict(method, agent, None, calls=asked.calls, reason=reason)
        taken = transcript.turns[turn]
        return Verdict(method, agent or taken.agent, taken.t, taken.t_hat, calls=asked.calls, reason=reason)

    async def ask(
        self, procedure: Procedure, scene: Scene, blocks: Mapping[str, object]
    ) -> tuple[Mapping[str, Any] | None, str]:
        """Ask once.

        Returns:
            The answer, or None and the reason.

        Raises:
            UserError: a template cannot be rendered.
        """
        blocks_ = {name: write_block(name, value) for name, value in blocks.items()}
        values = {"world": scene.world, "calls": scene.calls, "max_steps": scene.max_steps, "blocks": blocks_}
        try:
            system, user = (self._templates[part].render(values).strip() for part in ("system", procedure.value))
        except TemplateError as error:
            raise UserError(f"prompts/blame: a template cannot be rendered: {error}{place_of(error)}") from error
        messages = (ChatMessage(ChatRole.SYSTEM, system), ChatMessage(ChatRole.USER, user))
        wanted = AnswerFormat(procedure.value, tidy(FORMS[procedure].model_json_schema()))
        try:
            reply = await self._model.complete(Request(messages, wanted, UNSET, origin=Origin(READER, 0, READER)))
        except AnswerInvalid as error:
            return None, f"the reader gives no valid answer: {'; '.join(error.reasons)}"
        self.simulated = self.simulated or reply.simulated
        return (reply.value, "") if isinstance(reply.value, Mapping) else (None, "the reader gives no valid answer")


class _Asked:
    """The questions of one run."""

    def __init__(self, reader: Reader, procedure: Procedure, transcript: Transcript, scene: Scene) -> None:
        self._reader = reader
        self._procedure = procedure
        self._scene = scene
        self.transcript = transcript
        self.calls = 0

    async def ask(self, turn: Mapping[str, object], **blocks: object) -> tuple[Mapping[str, Any] | None, str]:
        self.calls += 1
        head = {"role": f"{READER}_{self._procedure}", "team": list(self.transcript.team), **turn}
        return await self._reader.ask(self._procedure, self._scene, {"turn": head, **blocks})


_Found = tuple[str | None, int | None, str]
"""The agent, the number of the turn, and the reason."""


async def _all_at_once(asked: _Asked) -> _Found:
    answer, reason = await asked.ask({}, transcript=list(asked.transcript.entries))
    if answer is None:
        return None, None, reason
    agent, turn = answer["agent"], answer["turn"]
    known = agent if agent in asked.transcript.team else None
    return known, turn if turn < len(asked.transcript.turns) else None, answer["mistake"]


async def _step_by_step(asked: _Asked) -> _Found:
    for turn in range(len(asked.transcript.turns)):
        answer, _ = await asked.ask({"turn": turn}, transcript=list(asked.transcript.until(turn)))
        if answer is not None and answer["decisive"]:
            return None, turn, answer["mistake"]
    return None, None, "the reader finds no turn decisive"


async def _bisection(asked: _Asked) -> _Found:
    first, last = 0, len(asked.transcript.turns) - 1
    while first < last:
        middle = (first + last) // 2
        halves = {
            "first_half": list(asked.transcript.between(first, middle)),
            "second_half": list(asked.transcript.between(middle + 1, last)),
        }
        answer, reason = await asked.ask({"from": first, "to": last}, **halves)
        if answer is None:
            return None, None, reason
        first, last = (first, middle) if answer["half"] == "first" else (middle + 1, last)
    return None, first, "the one turn that bisection leaves"
