"""The typed answers: the JSON schema of a turn's answer, and conversion between the JSON and a thought.

| the turn | keys of the answer |
|---|---|
| any | `thoughts`: come first, and are not read |
| may speak or acknowledge | `messages`: a list, empty to say nothing; each says what its text claims and asks |
| may plan, and has no plan to resume | `plan` |
| may plan, and has one | `decision`: `{"choice": "resume"}`, or `{"choice": "replace", "plan": ...}` |

A turn that may do both needs both keys, in this order. Methods add keys with answer parts
(`quorum.agents.answer_parts`), before the messages or after them. Recipients are the names of participants that the
turn's holder may write to, or `all`. If the holder may write to no one, for example as the only agent of a team, there
is no `messages` key.

Providers read the schema before the prompt, so prompts with different schemas have no common prefix that a cache could
keep. The ungrounded schema therefore has the keys of all possible turns of the team, and keys that a turn does not need
may be null or missing. The grounded schema is that of a single turn: constrained decoding cannot return keys of other
turns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from maeil.actions import Vocabulary
from maeil.errors import InvalidThought
from maeil.messages import Ask, Draft, MessageKind
from maeil.mind import Act, Resume, Thought, Turn, View
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.agents.answer_parts import AnswerPart, all_parts, parts_of
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.prompting.answers import (
    FORM,
    LISTED,
    Part,
    TaskAnswer,
    Thoughts,
    checked,
    or_null,
    part,
    plan_model,
    plan_value,
    read_plan,
    read_task,
    task_value,
    tidy,
)
from quorum.agents.prompting.examples import Example
from quorum.agents.prompting.schemas import about
from quorum.agents.skills.speaker import LEADING, MEMBER

ALL = "all"
"""Stands for all participants that the turn's holder may write to."""

KEYS = ("thoughts", "messages", "plan", "decision")
"""Keys of answers, in order, without those of methods."""

_TALK = frozenset({Act.SPEAK, Act.ACKNOWLEDGE})


def may_talk(turn: Turn) -> bool:
    """Return whether the holder of a turn may write to anyone."""
    return bool(turn.acts & _TALK and turn.recipients)


class AskAnswer(Part):
    """A message's request to another agent."""

    agent: str
    task: TaskAnswer


class MessageAnswer(Part):
    """A message to other agents; without `asks`, as in answers to older prompts, it is text only."""

    recipients: Annotated[list[str], Field(min_length=1, description="names of those who shall read it")]
    kind: MessageKind
    content: Annotated[str, Field(min_length=1, max_length=2000, description="the text")]
    task: Annotated[TaskAnswer | None, Field(description="what the sender says that it does itself")] = None
    asks: Annotated[list[AskAnswer] | None, Field(max_length=LISTED, description="what it asks of others")] = None


class ResumeAnswer(Part):
    """Continue the current plan."""

    choice: Literal["resume"]


class AnswerTypes:
    """The answer types of a team with one vocabulary.

    Args:
        vocabulary: the actions that a plan may use.
        max_actions: maximum number of actions in a plan.
        parts: names of extensions whose answer parts every turn may ask for.
        talks: whether any turn allows messages.
    """

    def __init__(self, vocabulary: Vocabulary, max_actions: int, parts: Sequence[str] = (), talks: bool = True) -> None:
        self.max_actions = max_actions
        self.of_team = parts_of(parts)
        """The answer parts that every turn may ask for."""
        self._talks = talks
        self._plan: Any = plan_model(vocabulary, max_actions)
        replacement = part(
            "ReplaceAnswer", "Give up the current plan for another.", choice=Literal["replace"], plan=self._plan
        )
        self._decision: Any = Annotated[ResumeAnswer | replacement, Field(discriminator="choice")]
        self._models: dict[tuple[str, ...], tuple[type[BaseModel], dict[str, Any]]] = {}

    def parts(self, view: View) -> list[AnswerPart]:
        """Return the answer parts that a turn asks for."""
        found = parts_of({*(one.name for one in self.of_team), *view.turn.asks})
        return [one for one in found if one.wanted(view)]

    def keys(self, view: View) -> tuple[str, ...]:
        """Return the keys of a turn's answer, in order."""
        return _in_order(_own_keys(view), self.parts(view))

    def wanted(self, view: View, *, grounded: bool = False, world: World | None = None) -> AnswerFormat:
        """Return the format of a turn's answer.

        Args:
            view: the turn.
            grounded: whether the schema is that of this turn, with its limits and the names of allowed recipients.
                Otherwise it is the same for all turns, agents and team sizes, so that a provider compiles it once and
                prompts share a prefix.
            world: its current state, for the grounded schemas of methods.
        """
        parts = self.parts(view)
        if alone := _alone(parts):
            return AnswerFormat(alone.name, tidy(_model_of(alone, view).model_json_schema()))
        if not grounded:
            own = {"plan", *_own_keys(view), *(("messages", "decision") if self._talks else ())}
            every = sorted({*self.of_team, *parts}, key=lambda one: one.name)
            return AnswerFormat(FORM, _of_all_turns(self._model(_in_order(own, every), every, view)[1]))
        schema: Mapping[str, Any] = self._model(self.keys(view), parts, view)[1]
        if may_talk(view.turn):
            schema = _restricted(schema, view.turn, view.names)
        for one in parts:
            schema = one.narrowed(schema, view, world)
        return AnswerFormat(FORM, schema)

    def example(self, view: View, example: Example) -> dict[str, Any]:
        """Return an example of a turn's answer, JSON-ready."""
        kind = _kind(view.turn)
        draft = Draft(view.turn.recipients, example.says(kind), kind)
        said = [(one, one.example(example, view)) for one in self.parts(view)]
        answer = {**_written(Thought(example.plan, (draft,)), view, said), "thoughts": example.thoughts}
        if "messages" in answer:
            answer["messages"] = [{**message, **example.claims(kind)} for message in answer["messages"]]
        return answer

    def read(self, value: object, view: View) -> Thought:
        """Convert an answer to a thought.

        Raises:
            InvalidThought: the answer does not match the turn; the reasons say what to fix.
        """
        keys, parts = self.keys(view), self.parts(view)
        model = _model_of(alone, view) if (alone := _alone(parts)) else self._model(keys, parts, view)[0]
        answer = checked(model, _of_turn(value, keys))
        answers = {one.name: one.read(answer, view) for one in parts}
        messages = _drafts(answer.messages, view) if may_talk(view.turn) else ()
        decision: Plan | Resume | None = None
        if Act.PLAN in view.turn.acts:
            if not view.may_resume:
                decision = read_plan(answer.plan)
            else:
                decision = Resume.RESUME if answer.decision.choice == "resume" else read_plan(answer.decision.plan)
        return Thought(decision, messages, answers=answers)

    def _model(
        self, keys: tuple[str, ...], parts: Sequence[AnswerPart], view: View
    ) -> tuple[type[BaseModel], dict[str, Any]]:
        """The model of an answer with these keys, and its schema; made on first use."""
        if keys not in self._models:
            types = {
                "thoughts": Thoughts,
                "messages": list[MessageAnswer],
                "plan": self._plan,
                "decision": self._decision,
            }
            for one in parts:
                types.update(one.types(view))
            model = part("Answer", "", **{key: types[key] for key in keys})
            self._models[keys] = model, tidy(model.model_json_schema())
        return self._models[keys]


def _alone(parts: Sequence[AnswerPart]) -> AnswerPart | None:
    return next((one for one in parts if one.alone), None)


def _model_of(alone: AnswerPart, view: View) -> type[BaseModel]:
    """Make the model of a turn's answer that consists of one part only."""
    return part("Answer", "", thoughts=Thoughts, **alone.types(view))


def _own_keys(view: View) -> set[str]:
    """Return the keys that a turn needs regardless of methods, without its thoughts."""
    wanted = {"messages"} if may_talk(view.turn) else set()
    if Act.PLAN in view.turn.acts:
        wanted.add("decision" if view.may_resume else "plan")
    return wanted


def _in_order(own: Collection[str], parts: Sequence[AnswerPart]) -> tuple[str, ...]:
    thoughts, messages, *decisions = KEYS
    return (
        thoughts,
        *(key for one in parts if one.first for key in one.keys),
        *([messages] if messages in own else []),
        *(key for one in parts if not one.first for key in one.keys),
        *(key for key in decisions if key in own),
    )


def _of_turn(value: object, keys: Sequence[str]) -> object:
    """Remove keys without a value from an answer; these may be keys for other turns.

    Raises:
        InvalidThought: it has a key that this turn does not use, or lacks one.
    """
    if not isinstance(value, Mapping):
        return value
    given = {key: part for key, part in value.items() if part is not None and (key in keys or part != [])}
    wanted = ", ".join(keys)
    reasons = []
    if others := given.keys() - set(keys):
        of_parts = all_parts()
        known = _in_order(KEYS, of_parts)
        reasons = [f"{key}: this turn does not ask for it; it asks for {wanted}" for key in known if key in others]
    reasons += [f"{key}: this turn asks for it" for key in keys[1:] if key not in given]
    if reasons:
        raise InvalidThought(tuple(reasons))
    return given


def write(thought: Thought, view: View, parts: Sequence[AnswerPart] = ()) -> dict[str, Any]:
    """Write a thought as a turn's answer: the inverse of `AnswerTypes.read`, for rules that answer.

    Args:
        thought: the thought.
        view: the turn.
        parts: answer parts that the turn asks for.
    """
    said = [(one, one.write(thought.answers[one.name], view)) for one in parts if one.name in thought.answers]
    return _written(thought, view, said)


def _written(thought: Thought, view: View, said: Sequence[tuple[AnswerPart, Mapping[str, Any]]]) -> dict[str, Any]:
    answer: dict[str, Any] = {"thoughts": _thoughts(thought)}
    for one, value in said:
        answer |= value if one.first else {}
    if may_talk(view.turn):
        answer["messages"] = [
            {
                "recipients": _names(draft.recipients, view),
                "kind": draft.kind.value,
                "content": draft.content,
                "task": task_value(draft.task),
                "asks": [{"agent": view.names[ask.agent], "task": task_value(ask.task)} for ask in draft.asks]
                if draft.asks is not None
                else None,
            }
            for draft in thought.messages
        ]
    for one, value in said:
        answer |= value if not one.first else {}
    if Act.PLAN in view.turn.acts and thought.decision is not None:
        if isinstance(thought.decision, Plan):
            plan = plan_value(thought.decision)
            answer |= {"plan": plan} if not view.may_resume else {"decision": {"choice": "replace", "plan": plan}}
        else:
            answer["decision"] = {"choice": "resume"}
    return answer


def _thoughts(thought: Thought) -> str:
    """The thoughts that rules give for themselves."""
    if isinstance(thought.decision, Plan):
        return thought.decision.rationale or "This is my plan."
    return "I go on with my plan." if thought.decision is not None else "This is what the others should know."


def _kind(turn: Turn) -> MessageKind:
    """Return the main kind of a turn's message: an order, a report, a proposal, or a reply in an acknowledgement."""
    if Act.SPEAK not in turn.acts:
        return MessageKind.ACK
    if turn.role in LEADING:
        return MessageKind.DIRECTIVE
    return MessageKind.INFORM if turn.role == MEMBER else MessageKind.PROPOSE


def _most_messages(turn: Turn) -> int:
    """Return the maximum number of messages in a turn; without a limit, one to each recipient and one to all."""
    if turn.limit is not None:
        return turn.limit
    return len(turn.recipients) + (len(turn.recipients) > 1)


def _of_all_turns(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Adapt an answer schema with the keys of all turns: keys that some turns lack are nullable."""
    properties = dict(schema["properties"])
    definitions = dict(schema["$defs"])
    if "messages" in properties:
        message = definitions["MessageAnswer"]
        recipients = {**message["properties"]["recipients"], "maxItems": LISTED}
        definitions["MessageAnswer"] = {**message, "properties": {**message["properties"], "recipients": recipients}}
        properties["messages"] = {**properties["messages"], "maxItems": LISTED}
    if len(properties) > 2:  # thoughts and another
        properties |= {key: or_null(properties[key]) for key in properties if key != "thoughts"}
    return {**schema, "$defs": definitions, "properties": properties}


def _restricted(schema: Mapping[str, Any], turn: Turn, names: Sequence[str]) -> dict[str, Any]:
    """Return a schema with a turn's limits on messages: number, kinds and recipients; unchanged parts are shared.

    Args:
        schema: schema of the answer.
        turn: the turn.
        names: names of all participants.
    """
    message = schema["$defs"]["MessageAnswer"]
    changed = dict(message["properties"])
    if Act.SPEAK not in turn.acts:
        changed["kind"] = {"type": "string", "const": MessageKind.ACK.value}
    allowed = [names[recipient] for recipient in turn.recipients]
    if len(allowed) > 1:
        allowed.append(ALL)
    items = {"type": "string", "enum": allowed}
    changed["recipients"] = {**changed["recipients"], "items": items, "maxItems": len(allowed)}
    changed["asks"] = next(form for form in changed["asks"]["anyOf"] if form["type"] == "array")
    messages = {**schema["properties"]["messages"], "maxItems": _most_messages(turn)}
    ask = about(schema["$defs"]["AskAnswer"], [name for index, name in enumerate(names) if index != turn.agent])
    return {
        **schema,
        "$defs": {**schema["$defs"], "AskAnswer": ask, "MessageAnswer": {**message, "properties": changed}},
        "properties": {**schema["properties"], "messages": messages},
    }


def _drafts(messages: Sequence[MessageAnswer], view: View) -> tuple[Draft, ...]:
    """Convert names to indices; the loop checks whether the turn allows them."""
    if len(messages) > (most := _most_messages(view.turn)):
        raise InvalidThought((f"messages: there are {len(messages)}, and this turn takes at most {most}",))
    index = {name: position for position, name in enumerate(view.names)}
    drafts = []
    for number, message in enumerate(messages):
        if unknown := [name for name in message.recipients if name != ALL and name not in index]:
            allowed = ", ".join(view.names[recipient] for recipient in view.turn.recipients) or "nobody"
            others = ", ".join(map(repr, unknown))
            reason = f"messages.{number}.recipients: there is no {others}; this turn allows: {allowed}"
            raise InvalidThought((reason,))
        if Act.SPEAK not in view.turn.acts and message.kind is not MessageKind.ACK:
            raise InvalidThought((f"messages.{number}.kind: this turn is for acknowledging: 'ack'",))
        recipients = {index[name] for name in message.recipients if name != ALL}
        if ALL in message.recipients:
            recipients.update(view.turn.recipients)
        asks = tuple(
            Ask(_other(ask.agent, f"messages.{number}.asks", view), Task(ask.task.kind, ask.task.target))
            for ask in message.asks or ()
        )
        typed = read_task(message.task), asks if message.asks is not None else None
        drafts.append(Draft(tuple(sorted(recipients)), message.content, message.kind, *typed))
    return tuple(drafts)


def _other(name: str, where: str, view: View) -> int:
    """Return the index of another participant."""
    others = [other for other in view.names if other != view.name]
    if name not in others:
        raise InvalidThought((f"{where}: {name!r} is none of the others; they are: {', '.join(others)}",))
    return view.names.index(name)


def _names(recipients: Sequence[int], view: View) -> list[str]:
    if len(recipients) > 1 and set(recipients) == set(view.turn.recipients):
        return [ALL]
    return [view.names[recipient] for recipient in recipients]
