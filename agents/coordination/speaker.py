"""How a model is asked in a role, and what the record of the call says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from maeil.calls import Call
from maeil.errors import InvalidThought
from maeil.mind import View
from quorum.agents.coordination.joint import GRAMMAR, Rejection, Rule
from quorum.agents.coordination.notation import Notation
from quorum.agents.coordination.prompts import RolePrompts
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import AnswerFormat, Finish, Model, Reply
from quorum.agents.llm.records import answered, invalid
from quorum.agents.prompting.requests import RequestCounter


@dataclass(frozen=True, slots=True)
class SpeakerReply:
    """What came of a call.

    Attributes:
        value: the answer as JSON; None when there is none.
        reasons: why there is none.
        call: the call, for the trace.
    """

    value: object
    reasons: tuple[str, ...]
    call: Call


class RoleSpeaker:
    """Asks the model of one participant.

    Args:
        model: what answers.
        prompts: writes the prompts.
        rules: those beyond grammar that answers are judged by, for the records of rejections.
    """

    def __init__(self, model: Model, prompts: RolePrompts, rules: Mapping[str, Rule] = MappingProxyType({})) -> None:
        self._model = model
        self._prompts = prompts
        self._rules = {**GRAMMAR, **rules}
        self._requests = RequestCounter()

    async def ask(
        self, role: str, wanted: AnswerFormat, view: View, blocks: Mapping[str, object], *, agents: int = 1
    ) -> SpeakerReply:
        """Ask in a role; a prompt that was asked before is another sample of it.

        Args:
            role: who is to answer.
            wanted: the form of the answer.
            view: the turn in which it is asked.
            blocks: the data of the prompt by name; empty ones are left out.
            agents: for how many agents the answer has a plan, at most.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: the model cannot be asked at all.
            maeil.errors.EpisodeStop: a budget is used up, or the provider does not answer.
        """
        messages = self._prompts.write(role, view, blocks, wanted.schema)
        request = self._requests.request(
            messages,
            self._prompts.wanted(wanted),
            view,
            agents=agents,
            role=str(role),
            refused=bool(blocks.get("feedback")),
        )
        try:
            reply = await self._model.complete(request)
        except AnswerInvalid as error:
            return SpeakerReply(None, error.reasons, _noted(invalid(error), role=str(role)))
        if self._prompts.notation is not None:
            return _read_text(reply, role, self._prompts.notation)
        return SpeakerReply(reply.value, (), _noted(answered(reply), role=str(role)))

    def rejected(self, call: Call, rejections: Iterable[Rejection]) -> Call:
        """Note in the record of a call what the rules found wrong with it: the keys that the metrics `gates.*` read."""
        found = [
            {"code": r.code, "constraint": self._rules[r.code].constraint, "agents": list(r.agents)} for r in rejections
        ]
        return _noted(call, rejections=found) if found else call


def _read_text(reply: Reply, role: str, notation: Notation) -> SpeakerReply:
    """Read an answer that is a text in the notation of a world."""
    try:
        if reply.finish is not Finish.STOP:
            is_refusal = reply.finish is Finish.REFUSAL
            raise InvalidThought(("the answer is a refusal" if is_refusal else "the answer was cut off: be shorter",))
        value = notation.read_answer(role, reply.text)
    except InvalidThought as error:
        return SpeakerReply(None, error.reasons, _noted(answered(reply, parse_failure=True), role=str(role)))
    return SpeakerReply(value, (), _noted(answered(reply), role=str(role)))


def _noted(call: Call, **notes: object) -> Call:
    return replace(call, record={**call.record, **notes})


def note(calls: list[Call], **notes: object) -> None:
    """Note something in the record of the last call of a thought."""
    calls[-1] = _noted(calls[-1], **notes)
