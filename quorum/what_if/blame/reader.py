"""Blame by a language model that reads the transcript of a run, by the three procedures of Who&When.

Source: arXiv 2505.00212, section 4, and Algorithms 1 to 3 of its appendix.

| procedure | question |
|---|---|
| `all_at_once` | shows all turns: who made the decisive mistake, in which turn? |
| `step_by_step` | shows the turns up to one: was the last one the decisive mistake? The first yes is the verdict |
| `bisection` | shows a range of turns in two halves: which half has the decisive mistake? Until one turn is left |

A reader sees only the transcript of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal

from jinja2 import Template, TemplateError
from pydantic import Field

from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Model, Origin, Request
from quorum.agents.prompting.answers import Part, Thoughts, tidy
from quorum.agents.prompting.blocks import write_block
from quorum.agents.prompting.requests import UNSET
from quorum.agents.prompting.templates import Templates, place_of, shipped_templates
from quorum.runs.transcript import Transcript
from quorum.what_if.blame.verdict import Verdict
from quorum_base.user_errors import UserError

READER = "reader"
"""Name of the participant in the records of calls."""


class Procedure(StrEnum):
    """The procedure of a reader."""

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


_Found = tuple[str | None, int | None, str]
"""The agent, the number of the turn, and the reason."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The world of a run, as readers see it.

    Attributes:
        world: its name.
        calls: the actions of its vocabulary, in the format of prompts.
        max_steps: step limit of the team.
        given: for a run of another tool, the question of the team and the right answer; they are untrusted text.
    """

    world: str
    calls: Sequence[object]
    max_steps: int
    given: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Reader:
    """Asks a language model who made a run fail.

    Attributes:
        model: the language model.
        procedure: the procedure.
        transcript: the transcript of the run.
        scene: its world.
        calls: number of questions so far.
        simulated: whether a simulated model answered.
    """

    model: Model
    procedure: Procedure
    transcript: Transcript
    scene: Scene
    calls: int = 0
    simulated: bool = False

    async def read(self) -> Verdict:
        """Return the verdict of the reader.

        Raises:
            UserError: a template cannot be rendered.
            quorum.agents.llm.errors.LanguageModelError: the model cannot be called at all.
            maeil.errors.EpisodeStop: a budget is used up, or the provider does not answer.
        """
        method, turns = f"{READER}:{self.procedure}", self.transcript.turns
        if not turns:
            return Verdict(method, None, None, reason="the run has no turns")
        procedures = {
            Procedure.ALL_AT_ONCE: self._all_at_once,
            Procedure.STEP_BY_STEP: self._step_by_step,
            Procedure.BISECTION: self._bisection,
        }
        agent, turn, reason = await procedures[self.procedure]()
        if turn is None:
            return Verdict(method, agent, None, calls=self.calls, reason=reason)
        taken = turns[turn]
        return Verdict(method, agent or taken.agent, taken.t, taken.t_hat, calls=self.calls, reason=reason)

    async def _all_at_once(self) -> _Found:
        answer, reason = await self._ask({}, transcript=list(self.transcript.entries))
        if answer is None:
            return None, None, reason
        agent, turn = answer["agent"], answer["turn"]
        known = agent if agent in self.transcript.team else None
        return known, turn if turn < len(self.transcript.turns) else None, answer["mistake"]

    async def _step_by_step(self) -> _Found:
        for turn in range(len(self.transcript.turns)):
            answer, _ = await self._ask({"turn": turn}, transcript=list(self.transcript.until(turn)))
            if answer is not None and answer["decisive"]:
                return None, turn, answer["mistake"]
        return None, None, "the reader finds no turn decisive"

    async def _bisection(self) -> _Found:
        first, last = 0, len(self.transcript.turns) - 1
        while first < last:
            middle = (first + last) // 2
            halves = {
                "first_half": list(self.transcript.between(first, middle)),
                "second_half": list(self.transcript.between(middle + 1, last)),
            }
            answer, reason = await self._ask({"from": first, "to": last}, **halves)
            if answer is None:
                return None, None, reason
            first, last = (first, middle) if answer["half"] == "first" else (middle + 1, last)
        return None, first, "the one turn that bisection leaves"

    async def _ask(self, turn: Mapping[str, object], **blocks: object) -> tuple[Mapping[str, Any] | None, str]:
        """Ask once; return the answer, or None and the reason."""
        self.calls += 1
        head = {"role": f"{READER}_{self.procedure}", "team": list(self.transcript.team), **self.scene.given, **turn}
        written = {name: write_block(name, value) for name, value in {"turn": head, **blocks}.items()}
        values = {**asdict(self.scene), "blocks": written}
        try:
            system, user = (self._templates[part].render(values).strip() for part in ("system", self.procedure.value))
        except TemplateError as error:
            raise UserError(
                f"quorum/what_if/prompts/blame: a template cannot be rendered: {error}{place_of(error)}"
            ) from error
        messages = (ChatMessage(ChatRole.SYSTEM, system), ChatMessage(ChatRole.USER, user))
        wanted = AnswerFormat(self.procedure.value, tidy(FORMS[self.procedure].model_json_schema()))
        try:
            reply = await self.model.complete(Request(messages, wanted, UNSET, origin=Origin(READER, 0, READER)))
        except AnswerInvalid as error:
            return None, f"the reader gives no valid answer: {'; '.join(error.reasons)}"
        self.simulated = self.simulated or reply.simulated
        return (reply.value, "") if isinstance(reply.value, Mapping) else (None, "the reader gives no valid answer")

    @cached_property
    def _templates(self) -> Mapping[str, Template]:
        parts = {"system": "system.jinja", self.procedure.value: f"{self.procedure}.jinja"}
        templates = Templates("blame", shipped_templates("blame"), parts, own=None)
        return {part: templates.find(part) for part in parts}
