"""The turns of a recorded run, written as a language model would have read and answered them.

A run is played again in memory, with the recorded answers of its models or by its rules, and must repeat its trace.
Each turn is written as the prompt that `agents=naive` sends in a chosen set of prompts, and as the answer that yields
what the mind decided. So a team of rules, such as `negotiator`, is a teacher for a language model, and the transcripts
of a language model can be written in another set of prompts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from maeil import Mind, TeamContext
from maeil.errors import ReplayMismatch
from maeil.mind import Act, Thought, View
from maeil.seeds import Seeds
from maeil.trace import Repetition
from quorum.agents.llm.errors import NotRecorded
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.replay import Replay
from quorum.agents.naive import answers_of_team
from quorum.agents.naive.answers import may_talk, write
from quorum.agents.naive.prompts import PromptWriter
from quorum.agents.prompting.requests import turn_of
from quorum.agents.prompting.templates import PromptSet
from quorum.configuration.cell import Cell
from quorum.configuration.inputs import inputs_of
from quorum.configuration.providers.replay import recorded_calls
from quorum.configuration.schema import validate
from quorum.episode.built import Parts
from quorum.episode.call_ledger import CALLS
from quorum.episode.in_memory import play_in_memory
from quorum.episode.start import Start
from quorum.runs.run_folder import RunFolder
from quorum.storage.memory_file import MEMORY_BEFORE, read_memory
from quorum_base.user_errors import UserError

MAX_ACTIONS = 8
"""Actions in a plan, as in `agents=naive`; rules plan no more."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as a prompt and its answer.

    Attributes:
        agent: name of the participant.
        step: environment step.
        acts: kinds of the turn, as in `quorum show prompt turn=...`.
        role: the participant's role in the topology; empty if none.
        prompt: the messages, each with role and content.
        answer: the answer, one line of JSON.
    """

    agent: str
    step: int
    acts: tuple[str, ...]
    role: str
    prompt: tuple[tuple[str, str], ...]
    answer: str


def transcribe(folder: Path, prompts: PromptSet) -> list[Turn]:
    """Write the turns of a run in a set of prompts, in the order in which their thoughts ended.

    Turns in which a mind decided nothing, such as after a failed answer, are left out.

    Args:
        folder: folder of a finished, verified run.
        prompts: the set of prompts.

    Raises:
        DamagedFile: one of its files cannot be read.
        UserError: its configuration is not valid in this version, this world has no such prompts, or this version does
            not repeat its trace.
    """
    run = RunFolder(folder)
    configuration = validate(dict(run.configuration()), recorded=True)
    cell = Cell(configuration, inputs_of(configuration))
    repetition = Repetition(run.whole_trace())
    calls = recorded_calls(folder, folder.name) if run.files.exists(CALLS) else Replay(())
    transcript = _Transcript(prompts)
    start = Start(read_memory(folder, MEMORY_BEFORE))
    try:
        play_in_memory(cell, [repetition], start=start, recorded=calls, watch=transcript)
    except (ReplayMismatch, NotRecorded) as error:
        raise UserError(f"{folder}: this version does not repeat its trace: {error}") from error
    if not repetition.complete:
        raise UserError(f"{folder}: this version does not repeat its trace: it ends after event {repetition.events}")
    return transcript.turns


class _Transcript:
    """Wraps the minds of a team, and keeps their turns."""

    def __init__(self, prompts: PromptSet) -> None:
        self.turns: list[Turn] = []
        self._prompts = prompts

    def model(self, _name: str, model: Model) -> Model:
        return model

    def team(self, parts: Parts) -> Parts:
        context = TeamContext(parts.world, parts.topology, Seeds(0), _no_models, {})
        answers = answers_of_team(context, MAX_ACTIONS)
        writer = PromptWriter(self._prompts, parts.world, parts.topology, answers)
        minds = [self._wrapped(mind, writer) for mind in parts.minds]
        coordinators = [(name, self._wrapped(mind, writer)) for name, mind in parts.coordinators]
        return replace(parts, minds=minds, coordinators=coordinators)

    def _wrapped(self, mind: Mind, writer: PromptWriter) -> Mind:
        return _Transcribed(mind, writer, self._prompts.room_for_thoughts(auto=True) > 0, self.turns)


@dataclass(eq=False)
class _Transcribed:
    """A mind whose turns are written down."""

    mind: Mind
    writer: PromptWriter
    thoughts: bool
    turns: list[Turn]

    async def think(self, view: View) -> Thought:
        prompt = self.writer.write(view)  # before the thought: a world may change while a mind thinks
        thought = await self.mind.think(view)
        plans = Act.PLAN in view.turn.acts
        if (plans or may_talk(view.turn)) and not thought.failure and (not plans or thought.decision is not None):
            said = [(message.role.value, message.content) for message in prompt]
            answer = orjson.dumps(self._answer(thought, view)).decode()
            turn = Turn(view.name, view.t, turn_of(view), view.turn.role, tuple(said), answer)
            self.turns.append(turn)
        return thought

    def _answer(self, thought: Thought, view: View) -> Any:
        """Return the answer; a set of prompts without thoughts gets answers without reasons, which nobody reads."""
        answer = write(thought, view, self.writer.answers.parts(view))
        if not self.thoughts:
            del answer["thoughts"]
            plan = answer.get("plan") or answer.get("decision", {}).get("plan") or {}
            plan |= {"rationale": ""} if plan else {}
        return _without_nulls(answer)


def _without_nulls(value: Any) -> Any:
    """Leave out what is null: it is the default of an answer's keys."""
    if isinstance(value, dict):
        return {key: _without_nulls(part) for key, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value


def _no_models(_name: str) -> Any:
    raise TypeError("a transcript asks no model")
