"""The typed answers: what a turn asks for as a JSON schema, and from the JSON to a thought and back.

| the turn may | keys of the answer |
|---|---|
| speak or acknowledge | `messages`: a list, empty to say nothing |
| plan, and there is no plan | `plan` |
| plan, and there is one | `decision`: `{"choice": "resume"}`, or `{"choice": "replace", "plan": ...}` |

A turn that may do both wants both. Recipients are names of those whom the turn lets its holder write to, or `all`. A
turn that lets it write to nobody, such as that of the only agent of a team, wants no `messages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from maeil.actions import Vocabulary
from maeil.errors import InvalidThought
from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Resume, Thought, Turn, View
from maeil.plans import Plan
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.prompting.answers import Part, checked, part, plan_model, plan_value, read_plan, tidy

ALL = "all"
"""Stands for everybody whom a turn lets its holder write to."""

_TALK = frozenset({Act.SPEAK, Act.ACKNOWLEDGE})


def may_talk(turn: Turn) -> bool:
    """Return whether a turn lets its holder say something to somebody."""
    return bool(turn.acts & _TALK and turn.recipients)


class MessageAnswer(Part):
    """A message to other agents."""

    recipients: Annotated[list[str], Field(min_length=1, description="names of those who shall read it")]
    kind: MessageKind
    content: Annotated[str, Field(min_length=1, max_length=2000, description="the text")]


class ResumeAnswer(Part):
    """Go on with the current plan."""

    choice: Literal["resume"]


class AnswerTypes:
    """The answers of a team whose actions come from one vocabulary.

    Args:
        vocabulary: the actions that a plan may have.
        max_actions: actions of a plan, at most.
    """

    def __init__(self, vocabulary: Vocabulary, max_actions: int) -> None:
        self._plan: Any = plan_model(vocabulary, max_actions)
        replacement = part(
            "ReplaceAnswer", "Give up the current plan for another.", choice=Literal["replace"], plan=self._plan
        )
        self._decision: Any = Annotated[ResumeAnswer | replacement, Field(discriminator="choice")]
        self._models: dict[str, tuple[type[BaseModel], dict[str, Any]]] = {}

    def wanted(self, view: View) -> AnswerFormat:
        """Return the format of the answer to a turn."""
        name = _name(view)
        schema = self._model(name)[1]
        return AnswerFormat(name, _restricted(schema, view.turn, view.names) if may_talk(view.turn) else schema)

    def read(self, value: object, view: View) -> Thought:
        """Make a thought of an answer.

        Raises:
            InvalidThought: the answer is not what the turn asks for; the reasons say what to mend.
        """
        model, _ = self._model(_name(view))
        answer = checked(model, value)
        messages = _drafts(answer.messages, view) if may_talk(view.turn) else ()
        decision: Plan | Resume | None = None
        if Act.PLAN in view.turn.acts:
            if view.plan is None:
                decision = read_plan(answer.plan)
            else:
                decision = Resume.RESUME if answer.decision.choice == "resume" else read_plan(answer.decision.plan)
        return Thought(decision, messages)

    def _model(self, name: str) -> tuple[type[BaseModel], dict[str, Any]]:
        """The model of an answer by its name, which lists its keys, and its schema; made when first asked for."""
        if name not in self._models:
            types = {"messages": list[MessageAnswer], "plan": self._plan, "decision": self._decision}
            model = part("Answer", "", **{key: types[key] for key in name.split("_and_")})
            self._models[name] = model, tidy(model.model_json_schema())
        return self._models[name]


def write(thought: Thought, view: View) -> dict[str, Any]:
    """Write a thought as the answer to a turn: the inverse of `AnswerTypes.read`, for those who answer by rules."""
    answer: dict[str, Any] = {}
    if may_talk(view.turn):
        answer["messages"] = [
            {"recipients": _names(draft.recipients, view), "kind": draft.kind.value, "content": draft.content}
            for draft in thought.messages
        ]
    if Act.PLAN in view.turn.acts and thought.decision is not None:
        if isinstance(thought.decision, Plan):
            plan = plan_value(thought.decision)
            answer |= {"plan": plan} if view.plan is None else {"decision": {"choice": "replace", "plan": plan}}
        else:
            answer["decision"] = {"choice": "resume"}
    return answer


def _name(view: View) -> str:
    """Name of an answer: its keys."""
    keys = ["messages"] if may_talk(view.turn) else []
    if Act.PLAN in view.turn.acts:
        keys.append("plan" if view.plan is None else "decision")
    return "_and_".join(keys)


def _restricted(schema: Mapping[str, Any], turn: Turn, names: Sequence[str]) -> dict[str, Any]:
    """Write the limits of a turn into a schema: whom it may write to, how often, and with what; shares the rest.

    A turn without a limit of its own takes a message to each recipient and one to all.
    """
    allowed = [names[recipient] for recipient in turn.recipients]
    if len(allowed) > 1:
        allowed.append(ALL)
    message = schema["$defs"]["MessageAnswer"]
    recipients = {
        **message["properties"]["recipients"],
        "items": {"type": "string", "enum": allowed},
        "maxItems": len(allowed),
    }
    kind = (
        message["properties"]["kind"] if Act.SPEAK in turn.acts else {"type": "string", "const": MessageKind.ACK.value}
    )
    messages = {
        **schema["properties"]["messages"],
        "maxItems": len(allowed) if turn.limit is None else turn.limit,
    }
    changed = {**message, "properties": {**message["properties"], "recipients": recipients, "kind": kind}}
    return {
        **schema,
        "$defs": {**schema["$defs"], "MessageAnswer": changed},
        "properties": {**schema["properties"], "messages": messages},
    }


def _drafts(messages: Sequence[MessageAnswer], view: View) -> tuple[Draft, ...]:
    """Turn names into indices; whether the turn allows them is the loop's to check."""
    index = {name: position for position, name in enumerate(view.names)}
    drafts = []
    for number, message in enumerate(messages):
        if unknown := [name for name in message.recipients if name != ALL and name not in index]:
            allowed = ", ".join(view.names[recipient] for recipient in view.turn.recipients) or "nobody"
            strangers = ", ".join(map(repr, unknown))
            reason = f"messages.{number}.recipients: there is no {strangers}; this turn allows: {allowed}"
            raise InvalidThought((reason,))
        if Act.SPEAK not in view.turn.acts and message.kind is not MessageKind.ACK:
            raise InvalidThought((f"messages.{number}.kind: this turn is for acknowledging: 'ack'",))
        recipients = {index[name] for name in message.recipients if name != ALL}
        if ALL in message.recipients:
            recipients.update(view.turn.recipients)
        drafts.append(Draft(tuple(sorted(recipients)), message.content, message.kind))
    return tuple(drafts)


def _names(recipients: Sequence[int], view: View) -> list[str]:
    if len(recipients) > 1 and set(recipients) == set(view.turn.recipients):
        return [ALL]
    return [view.names[recipient] for recipient in recipients]
