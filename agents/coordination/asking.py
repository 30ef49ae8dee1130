"""How a model is asked in a role, and how its answer is read: the joint plan as a typed answer.

A joint plan is `{"thoughts": ..., "plans": [{"agent": ..., "plan": {...}}]}`. The thoughts are those of the whole
answer: a plan in it has a task and actions, and no separate reason, so that the answer for a large team stays short.
An agent without an entry waits. Entries are a list, not an object by agent, so that an agent that is named twice is
seen and refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from maeil.actions import Vocabulary
from maeil.calls import Call
from maeil.errors import InvalidThought
from maeil.mind import View
from maeil.names import fold_names
from maeil.plans import Plan
from quorum.agents.coordination.joint import (
    DUPLICATE,
    FORM,
    GRAMMAR,
    NOT_ASKED,
    UNKNOWN_AGENT,
    Proposal,
    Rejection,
    Rule,
    unreadable,
)
from quorum.agents.coordination.prompts import Notation, RolePrompts
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import AnswerFormat, Finish, Model, Reply
from quorum.agents.llm.records import answered, invalid
from quorum.agents.prompting.answers import Thoughts, checked, part, plan_model, read_plan, tidy
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
        """Ask in a role; a prompt that was asked before gets another sample.

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


class Misread(Exception):
    """An answer that is no joint plan; `rejections` say why."""

    def __init__(self, rejections: Sequence[Rejection]) -> None:
        super().__init__("; ".join(rejection.text for rejection in rejections))
        self.rejections = tuple(rejections)


class JointAnswers:
    """The answers of those who plan for a team.

    Args:
        vocabulary: the actions that a plan may have.
        max_actions: actions of a plan, at most.
        names: of the agents, by index.
        tasks: whether plans name what they are for.
    """

    def __init__(self, vocabulary: Vocabulary, max_actions: int, names: Sequence[str], tasks: bool = True) -> None:
        self.plan: Any = plan_model(vocabulary, max_actions, rationale=False, task=tasks)
        """The model of one agent's plan."""
        self.entry: Any = part("EntryAnswer", "", agent=str, plan=self.plan)
        """The model of one agent's part of a joint plan."""
        self._names = tuple(names)
        self._index = {name: index for index, name in enumerate(names)}
        self._joint = part("JointPlanAnswer", "", thoughts=Thoughts, plans=list[self.entry])  # type: ignore[name-defined]
        self.joint = form("joint_plan", self._joint)
        """The form of a joint plan."""

    def read_joint(self, value: object, asked: Collection[int]) -> tuple[str, dict[int, Plan]]:
        """Read the thoughts and the joint plan of an answer.

        Raises:
            Misread: it has not the form, or names agents that it may not name.
        """
        answer = read(self._joint, value)
        return answer.thoughts, self.read_entries(answer.plans, asked)

    def proposal(
        self, answer: SpeakerReply, asked: Collection[int], judge: Callable[[dict[int, Plan]], tuple[Rejection, ...]]
    ) -> Proposal:
        """Read a joint plan, and judge it; an answer that cannot be read is a proposal, too, with the reasons.

        Args:
            answer: what came of asking for it.
            asked: agents that it may have plans for.
            judge: returns what is wrong with plans that can be read.
        """
        if answer.value is None:
            return unreadable(answer.reasons)
        try:
            thoughts, plans = self.read_joint(answer.value, asked)
        except Misread as error:
            return Proposal({}, "", error.rejections, readable=False)
        return Proposal(plans, thoughts, judge(plans))

    def read_entries(self, entries: Sequence[Any], asked: Collection[int]) -> dict[int, Plan]:
        """Read the plans of validated entries.

        Raises:
            Misread: they name agents that they may not name.
        """
        indices = self.agents([entry.agent for entry in entries], asked)
        return {agent: read_plan(entry.plan) for agent, entry in zip(indices, entries, strict=True)}

    def agents(self, names: Sequence[str], asked: Collection[int]) -> list[int]:
        """Find the agents that entries name.

        Raises:
            Misread: one is not in the team, is named twice, or was not asked about.
        """
        allowed = ", ".join(fold_names([self._names[agent] for agent in sorted(asked)]))
        rejections = [
            Rejection(UNKNOWN_AGENT, (), f"there is no agent {name!r}") for name in names if name not in self._index
        ]
        indices = [self._index[name] for name in names if name in self._index]
        rejections += [
            Rejection(DUPLICATE, (agent,), f"{self._names[agent]} has {count} entries; give one")
            for agent, count in sorted(Counter(indices).items())
            if count > 1
        ]
        rejections += [
            Rejection(
                NOT_ASKED,
                (agent,),
                f"{self._names[agent]} goes on with what it does; the agents asked about are {allowed}",
            )
            for agent in sorted(set(indices) - set(asked))
        ]
        if rejections:
            raise Misread(rejections)
        return indices


def form(name: str, model: type[BaseModel]) -> AnswerFormat:
    """Return the form of an answer."""
    return AnswerFormat(name, tidy(model.model_json_schema()))


def read(model: type[BaseModel], value: object) -> Any:
    """Validate an answer.

    Raises:
        Misread: it has not the form.
    """
    try:
        return checked(model, value)
    except InvalidThought as error:
        raise Misread([Rejection(FORM, (), reason) for reason in error.reasons]) from None
