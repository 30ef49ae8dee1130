"""Requests to a model in a role, and the joint plan as a typed answer.

A joint plan is `{"thoughts": ..., "plans": [{"agent": ..., "plan": {...}}]}`. The thoughts apply to the whole answer: a
plan in it has a task and actions but no rationale, so that the answer for a large team stays short. Agents without an
entry wait. Entries are a list, not an object keyed by agent, so that the reader can detect and reject an agent that
appears twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, Field

from maeil.actions import Vocabulary
from maeil.calls import Call
from maeil.errors import InvalidThought
from maeil.mind import View
from maeil.plans import Plan
from quorum.agents.coordination.joint import (
    DUPLICATE,
    FORM,
    GRAMMAR,
    NOT_ASKED,
    UNKNOWN_AGENT,
    Rejection,
    Rule,
    show_rejections,
)
from quorum.agents.coordination.prompts import Notation, RolePrompts
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import AnswerFormat, Finish, Model, Reply
from quorum.agents.llm.records import answered, invalid
from quorum.agents.prompting.answers import Thoughts, checked, part, plan_model, read_plan, tidy
from quorum.agents.prompting.requests import RequestCounter
from quorum_base.names import fold_names

T = TypeVar("T")


class Misread(Exception):
    """An unusable answer; `rejections` say why."""

    def __init__(self, rejections: Iterable[Rejection]) -> None:
        self.rejections = tuple(rejections)
        super().__init__("; ".join(rejection.text for rejection in self.rejections))


@dataclass(frozen=True, slots=True)
class SpeakerReply:
    """Result of one call.

    Attributes:
        value: the answer as JSON; None if there is none.
        rejections: why there is none.
        call: the call, for the trace.
    """

    value: object
    rejections: tuple[Rejection, ...]
    call: Call

    def read(self, reader: Callable[[object], T]) -> T:
        """Read the answer.

        Raises:
            Misread: there is no answer, or the reader cannot use it.
        """
        if self.value is None:
            raise Misread(self.rejections)
        return reader(self.value)


@dataclass(frozen=True, slots=True)
class AskResult(Generic[T]):
    """Result of asking with retries.

    Attributes:
        answer: the answer as read; None if all retries failed.
        rejections: in that case, what is wrong with the last answer.
        calls: all calls, in order.
    """

    answer: T | None
    rejections: tuple[Rejection, ...]
    calls: tuple[Call, ...]


@dataclass
class RoleSpeaker:
    """Sends the requests of one participant to its model.

    Attributes:
        model: the model.
        prompts: writes the prompts.
        rules: rules beyond grammar that apply to answers, for the records of rejections.
    """

    model: Model
    prompts: RolePrompts
    rules: Mapping[str, Rule] = field(default_factory=dict)
    _requests: RequestCounter = field(default_factory=RequestCounter)

    async def ask(
        self, role: str, wanted: AnswerFormat, view: View, blocks: Mapping[str, object], *, agents: int = 1
    ) -> SpeakerReply:
        """Make one request in a role; repeating a prompt requests another sample.

        Args:
            role: the role that answers.
            wanted: schema of the answer.
            view: the turn.
            blocks: the data of the prompt by name; empty blocks are omitted.
            agents: maximum number of agents that the answer plans for.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: the model cannot be used at all.
            maeil.errors.EpisodeStop: a budget is exhausted, or the provider does not answer.
        """
        messages = self.prompts.write(role, view, blocks, wanted.schema)
        form = self.prompts.wanted(wanted, role, view, blocks.get("asked"))
        refused = bool(blocks.get("feedback"))
        request = self._requests.request(messages, form, view, agents=agents, role=str(role), refused=refused)
        try:
            reply = await self.model.complete(request)
        except AnswerInvalid as error:
            return SpeakerReply(None, _of_form(error.reasons), invalid(error).noted(role=str(role)))
        notation = self.prompts.notation
        try:
            value = reply.value if notation is None else _read_text(reply, role, notation)
        except InvalidThought as error:
            call = answered(reply, parse_failure=True).noted(role=str(role))
            return SpeakerReply(None, _of_form(error.reasons), call)
        return SpeakerReply(value, (), answered(reply).noted(role=str(role)))

    async def ask_until_usable(
        self,
        role: str,
        wanted: AnswerFormat,
        reader: Callable[[object], T],
        view: View,
        blocks: Mapping[str, object],
        *,
        retries: int,
        agents: int = 1,
        problems: Iterable[Rejection] = (),
        plain: bool = False,
    ) -> AskResult[T]:
        """Ask until an answer is usable or all retries are used up.

        Args:
            role: the role that answers.
            wanted: schema of the answer.
            reader: reads an answer, or raises `Misread`.
            view: the turn.
            blocks: the data of the prompt; retries add `refused` and `feedback`, the last answer and its problems.
            retries: maximum number of retries.
            agents: maximum number of agents that the answer plans for.
            problems: problems known before the first answer.
            plain: whether to show feedback as plain texts.
        """
        calls: list[Call] = []
        refused: object = None
        rejections = tuple(problems)
        while True:
            feedback = [r.text for r in rejections] if plain else show_rejections(role, rejections, view.names)
            reply = await self.ask(
                role, wanted, view, {**blocks, "refused": refused, "feedback": feedback}, agents=agents
            )
            try:
                return AskResult(reply.read(reader), (), (*calls, reply.call))
            except Misread as error:
                rejections = error.rejections
            calls.append(self.rejected(reply.call, rejections))
            if len(calls) > retries:
                return AskResult(None, rejections, tuple(calls))
            refused = reply.value

    def rejected(self, call: Call, rejections: Iterable[Rejection]) -> Call:
        """Record which rules a call's answer breaks, under the keys that the metrics `gates.*` read."""
        rules = {**GRAMMAR, **self.rules}
        found = [{"code": r.code, "constraint": rules[r.code].constraint, "agents": list(r.agents)} for r in rejections]
        return call.noted(rejections=found) if found else call


def _read_text(reply: Reply, role: str, notation: Notation) -> dict[str, Any]:
    """Read a text answer in a world's notation."""
    if reply.finish is not Finish.STOP:
        is_refusal = reply.finish is Finish.REFUSAL
        raise InvalidThought(("the answer is a refusal" if is_refusal else "the answer was cut off: be shorter",))
    return notation.read_answer(role, reply.text)


def _of_form(reasons: Iterable[str]) -> tuple[Rejection, ...]:
    return tuple(Rejection(FORM, (), reason) for reason in reasons)


def note(calls: Sequence[Call], **notes: object) -> list[Call]:
    """Return the calls of a thought, with notes added to the record of the last one."""
    return [*calls[:-1], calls[-1].noted(**notes)]


class JointAnswers:
    """Answer schemas of planners of joint plans.

    Args:
        vocabulary: the actions that a plan may use.
        max_actions: maximum number of actions in a plan.
        names: names of the agents, by index.
        tasks: whether plans name their task.
    """

    def __init__(self, vocabulary: Vocabulary, max_actions: int, names: Sequence[str], tasks: bool = True) -> None:
        self.plan: Any = plan_model(vocabulary, max_actions, rationale=False, task=tasks)
        """The model of one agent's plan."""
        self.instead: Any = Annotated[
            self.plan | None, Field(description="the plan that you would have instead; null for none")
        ]
        """The model of a plan that an objecting agent may propose."""
        self.entry: Any = part("EntryAnswer", "", agent=str, plan=self.plan)
        """The model of one entry of a joint plan."""
        self._names = tuple(names)
        self._index = {name: index for index, name in enumerate(names)}
        self._joint = part("JointPlanAnswer", "", thoughts=Thoughts, plans=list[self.entry])  # type: ignore[name-defined]
        self.joint = form("joint_plan", self._joint)
        """The schema of a joint plan."""

    def read_joint(self, value: object, asked: Collection[int]) -> tuple[str, dict[int, Plan]]:
        """Read the thoughts and the joint plan of an answer.

        Raises:
            Misread: it does not match the schema, or names agents that are not allowed.
        """
        answer = read(self._joint, value)
        return answer.thoughts, self.read_entries(answer.plans, asked)

    def read_entries(self, entries: Sequence[Any], asked: Collection[int]) -> dict[int, Plan]:
        """Read the plans of validated entries.

        Raises:
            Misread: they name agents that are not allowed.
        """
        indices = self.agents([entry.agent for entry in entries], asked)
        return {agent: read_plan(entry.plan) for agent, entry in zip(indices, entries, strict=True)}

    def agents(self, names: Sequence[str], asked: Collection[int]) -> list[int]:
        """Return the indices of the agents that entries name.

        Raises:
            Misread: an agent is not in the team, appears twice, or was not part of the request.
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
    """Return the format of an answer."""
    return AnswerFormat(name, tidy(model.model_json_schema()))


def read(model: type[BaseModel], value: object) -> Any:
    """Validate an answer; null values for keys of other roles, which share the schema, are ignored.

    Raises:
        Misread: it does not match the schema.
    """
    if isinstance(value, Mapping):
        value = {key: part for key, part in value.items() if part is not None or key in model.model_fields}
    try:
        return checked(model, value)
    except InvalidThought as error:
        raise Misread(_of_form(error.reasons)) from None
