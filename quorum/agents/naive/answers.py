"""The typed answers: what a turn asks for as a JSON schema, and from the JSON to a thought and back.

| the turn | keys of the answer |
|---|---|
| every one | `thoughts`: before anything is said or decided, and read by nobody |
| may plan, and predictions are asked for | `predictions`: what others do next, one each at most, read by nobody |
| may speak or acknowledge | `messages`: a list, empty to say nothing; each says what its text claims and asks |
| is to describe itself | `offers` and `needs`: in words, and by the names of tasks |
| asks what its holder believes | `beliefs`: a choice for each question, read by nobody |
| may plan, and there is no plan to go on with | `plan` |
| may plan, and there is one | `decision`: `{"choice": "resume"}`, or `{"choice": "replace", "plan": ...}` |

A turn that may do both wants both, in this order. Recipients are names of those whom the turn lets its holder write to,
or `all`. A turn that lets it write to nobody, such as that of the only agent of a team, wants no `messages`.

Providers read the form before the prompt, so turns with different forms have no beginning in common that a cache could
keep. The form that is not grounded therefore has the keys of all turns that the team can have, and those that a turn
does not want may be null or left out. The grounded form is that of the very turn: whose decoding is bound by it cannot
answer with another turn's keys.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from maeil.actions import Vocabulary
from maeil.errors import InvalidThought
from maeil.extensions.describe.describing import DESCRIBE
from maeil.extensions.describe.descriptors import Descriptor, Need, Offer
from maeil.extensions.predictions import Prediction, Predictions
from maeil.extensions.probe import PROBE, questions_of
from maeil.extensions.probe.facts import UNKNOWN
from maeil.messages import Ask, Draft, MessageKind
from maeil.mind import Act, Resume, Thought, Turn, View
from maeil.plans import Plan, Task
from quorum.agents.llm.protocol import AnswerFormat
from quorum.agents.prompting.answers import (
    FORM,
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
from quorum.agents.skills.speaker import LEADING, MEMBER

ALL = "all"
"""Stands for everybody whom a turn lets its holder write to."""

LISTED = 64
"""Entries of a list, at most, in a schema that is the same for every team; what a turn takes is checked as well."""

KEYS = ("thoughts", "predictions", "messages", "offers", "needs", "beliefs", "plan", "decision")
"""All keys of answers, in their order."""

_TALK = frozenset({Act.SPEAK, Act.ACKNOWLEDGE})


def may_talk(turn: Turn) -> bool:
    """Return whether a turn lets its holder say something to somebody."""
    return bool(turn.acts & _TALK and turn.recipients)


class AskAnswer(Part):
    """What a message asks of another agent."""

    agent: str
    task: TaskAnswer


class MessageAnswer(Part):
    """A message to other agents; one without `asks`, such as an answer to an older prompt, is text alone."""

    recipients: Annotated[list[str], Field(min_length=1, description="names of those who shall read it")]
    kind: MessageKind
    content: Annotated[str, Field(min_length=1, max_length=2000, description="the text")]
    task: Annotated[TaskAnswer | None, Field(description="what the sender says that it does itself")] = None
    asks: Annotated[list[AskAnswer] | None, Field(max_length=LISTED, description="what it asks of others")] = None


class PredictionAnswer(Part):
    """What another agent does next."""

    agent: str
    task: Annotated[TaskAnswer | None, Field(description="what its next plan is for; null when it serves no task")]


Text = Annotated[str, Field(max_length=400)]
"""A sentence or two: DyTopo has 256 tokens at most."""
Tasks = Annotated[list[Annotated[str, Field(min_length=1, max_length=60)]], Field(max_length=8)]
"""Names, as the world gives them."""


class OfferAnswer(Part):
    """What one can do or tell."""

    text: Text
    tasks: Tasks
    free: bool


class NeedAnswer(Part):
    """What one lacks or wants to know."""

    text: Text
    tasks: Tasks


class ResumeAnswer(Part):
    """Go on with the current plan."""

    choice: Literal["resume"]


class AnswerTypes:
    """The answers of a team whose actions come from one vocabulary.

    Args:
        vocabulary: the actions that a plan may have.
        max_actions: actions of a plan, at most.
        predicted: embodied agents of the team, of whom a turn that plans asks predictions; 0: it asks none.
        talks: whether turns can let somebody say something.
        describes: whether turns can ask what somebody offers and needs.
    """

    def __init__(
        self, vocabulary: Vocabulary, max_actions: int, predicted: int = 0, talks: bool = True, describes: bool = False
    ) -> None:
        self.max_actions = max_actions
        self._predicted = predicted
        self._of_team = {"thoughts", "plan"}
        self._of_team |= {"predictions"} if predicted else set()
        self._of_team |= {"messages", "decision"} if talks else set()
        self._of_team |= {"offers", "needs"} if describes else set()
        self._plan: Any = plan_model(vocabulary, max_actions)
        replacement = part(
            "ReplaceAnswer", "Give up the current plan for another.", choice=Literal["replace"], plan=self._plan
        )
        self._decision: Any = Annotated[ResumeAnswer | replacement, Field(discriminator="choice")]
        self._models: dict[tuple[str, ...], tuple[type[BaseModel], dict[str, Any]]] = {}

    def mates(self, view: View) -> tuple[str, ...]:
        """Return the names of those whom a turn asks predictions of."""
        if Act.PLAN not in view.turn.acts or view.agent >= self._predicted:
            return ()
        return tuple(name for name in view.names[: self._predicted] if name != view.name)

    def keys(self, view: View) -> tuple[str, ...]:
        """Return the keys of the answer to a turn, in their order."""
        wanted = {"thoughts"}
        if self.mates(view):
            wanted |= {"predictions"}
        if may_talk(view.turn):
            wanted |= {"messages"}
        if DESCRIBE in view.turn.asks:
            wanted |= {"offers", "needs"}
        if PROBE in view.turn.asks:
            wanted |= {"beliefs"}
        if Act.PLAN in view.turn.acts:
            wanted |= {"decision" if view.may_resume else "plan"}
        return _in_order(wanted)

    def wanted(self, view: View, *, grounded: bool = False) -> AnswerFormat:
        """Return the form of the answer to a turn.

        Args:
            view: the turn.
            grounded: whether it is that of this very turn, with the names of those who may be written to, and its
                limits. Else it is the same for all turns, agents and sizes of teams, so that a provider compiles it
                once, and prompts begin alike.
        """
        if PROBE in view.turn.asks:
            return AnswerFormat(PROBE, tidy(_beliefs_model(view).model_json_schema()))
        if not grounded:
            return AnswerFormat(FORM, _of_all_turns(self._model(_in_order({*self._of_team, *self.keys(view)}))[1]))
        schema: Mapping[str, Any] = self._model(self.keys(view))[1]
        if may_talk(view.turn):
            schema = _restricted(schema, view.turn, view.names)
        if mates := self.mates(view):
            schema = _of_these_mates(schema, mates)
        return AnswerFormat(FORM, schema)

    def example(self, view: View, example: Example) -> dict[str, Any]:
        """Return an example of the answer to a turn, JSON-ready."""
        kind = _kind(view.turn)
        draft = Draft(view.turn.recipients, example.says(kind), kind)
        answers = {DESCRIBE: example_descriptor(example), PROBE: dict.fromkeys(questions_of(view), UNKNOWN)}
        thought = Thought(example.plan, (draft,), answers=answers)
        answer = {**write(thought, view, predicts=bool(self.mates(view))), "thoughts": example.thoughts}
        if "messages" in answer:
            answer["messages"] = [{**message, **example.claims(kind)} for message in answer["messages"]]
        if "predictions" in answer:
            other = example.alone or example.plan
            answer["predictions"] = [{"agent": example.one_more, "task": task_value(other.task)}]
        return answer

    def read(self, value: object, view: View) -> Thought:
        """Make a thought of an answer.

        Raises:
            InvalidThought: the answer is not what the turn asks for; the reasons say what to mend.
        """
        keys = self.keys(view)
        if PROBE in view.turn.asks:
            found = checked(_beliefs_model(view), _of_turn(value, keys))
            return Thought(answers={PROBE: found.beliefs.model_dump()})
        model, _ = self._model(keys)
        answer = checked(model, _of_turn(value, keys))
        mates = self.mates(view)
        answers: dict[str, Any] = {}
        if mates:
            answers[Predictions.name] = read_predictions(answer.predictions, mates, view.names)
        messages = _drafts(answer.messages, view) if may_talk(view.turn) else ()
        decision: Plan | Resume | None = None
        if Act.PLAN in view.turn.acts:
            if not view.may_resume:
                decision = read_plan(answer.plan)
            else:
                decision = Resume.RESUME if answer.decision.choice == "resume" else read_plan(answer.decision.plan)
        if DESCRIBE in view.turn.asks:
            answers[DESCRIBE] = read_descriptor(answer.offers, answer.needs)
        return Thought(decision, messages, answers=answers)

    def _model(self, keys: tuple[str, ...]) -> tuple[type[BaseModel], dict[str, Any]]:
        """The model of an answer by its keys, and its schema; made when first asked for."""
        if keys not in self._models:
            types = {
                "thoughts": Thoughts,
                "predictions": Annotated[list[PredictionAnswer], Field(max_length=LISTED)],
                "messages": list[MessageAnswer],
                "offers": OfferAnswer,
                "needs": NeedAnswer,
                "plan": self._plan,
                "decision": self._decision,
            }
            model = part("Answer", "", **{key: types[key] for key in keys})
            self._models[keys] = model, tidy(model.model_json_schema())
        return self._models[keys]


def _beliefs_model(view: View) -> type[BaseModel]:
    """Make the model of the answer to the questions of a belief probe: one of its choices for each."""
    fields = {name: Literal[(*fact.choices, UNKNOWN)] for name, fact in questions_of(view).items()}
    return part("Answer", "", thoughts=Thoughts, beliefs=part("Beliefs", "", **fields))


def _in_order(keys: Collection[str]) -> tuple[str, ...]:
    return tuple(key for key in KEYS if key in keys)


def _of_turn(value: object, keys: Sequence[str]) -> object:
    """Leave out of an answer what it has no value for, as it may have of the parts that other turns want.

    Raises:
        InvalidThought: it has a part that this turn does not want, or lacks one.
    """
    if not isinstance(value, Mapping):
        return value
    given = {key: part for key, part in value.items() if part is not None and (key in keys or part != [])}
    wanted = ", ".join(keys)
    reasons = [
        f"{key}: this turn does not ask for it; it asks for {wanted}" for key in KEYS if key in {*given} - {*keys}
    ]
    reasons += [f"{key}: this turn asks for it" for key in keys[1:] if key not in given]
    if reasons:
        raise InvalidThought(tuple(reasons))
    return given


def write(thought: Thought, view: View, *, predicts: bool = False) -> dict[str, Any]:
    """Write a thought as the answer to a turn: the inverse of `AnswerTypes.read`, for those who answer by rules.

    Args:
        thought: what is answered.
        view: the turn.
        predicts: whether the turn asks for predictions.
    """
    answer: dict[str, Any] = {"thoughts": _thoughts(thought)}
    if predicts:
        answer["predictions"] = [
            {"agent": view.names[one.agent], "task": task_value(one.task)}
            for one in thought.answers.get(Predictions.name, ())
        ]
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
    if DESCRIBE in view.turn.asks and DESCRIBE in thought.answers:
        said = thought.answers[DESCRIBE]
        answer |= {"offers": asdict(said.offers), "needs": asdict(said.needs)}
    if PROBE in view.turn.asks:
        answer["beliefs"] = dict(thought.answers[PROBE])
    if Act.PLAN in view.turn.acts and thought.decision is not None:
        if isinstance(thought.decision, Plan):
            plan = plan_value(thought.decision)
            answer |= {"plan": plan} if not view.may_resume else {"decision": {"choice": "replace", "plan": plan}}
        else:
            answer["decision"] = {"choice": "resume"}
    return answer


def read_predictions(entries: Sequence[Any], mates: Sequence[str], names: Sequence[str]) -> tuple[Prediction, ...]:
    """Read the predictions of a validated answer.

    Args:
        entries: each with `agent`, a name, and `task`.
        mates: names of those who may be predicted.
        names: of all participants by index.

    Raises:
        InvalidThought: one is of somebody else, or somebody is predicted twice.
    """
    named = [entry.agent for entry in entries]
    reasons = [
        f"predictions: there is no {name!r} to predict; there are: {', '.join(mates)}"
        for name in named
        if name not in mates
    ]
    reasons += [f"predictions: {name!r} is predicted twice" for name in mates if named.count(name) > 1]
    if reasons:
        raise InvalidThought(tuple(reasons))
    return tuple(Prediction(names.index(entry.agent), read_task(entry.task)) for entry in entries)


def _thoughts(thought: Thought) -> str:
    """What rules say of themselves."""
    if isinstance(thought.decision, Plan):
        return thought.decision.rationale or "This is my plan."
    return "I go on with my plan." if thought.decision is not None else "This is what the others should know."


def _kind(turn: Turn) -> MessageKind:
    """Return what a turn's message is first of all: an order, a report, a proposal; or what an acknowledgement is."""
    if Act.SPEAK not in turn.acts:
        return MessageKind.ACK
    if turn.role in LEADING:
        return MessageKind.DIRECTIVE
    return MessageKind.INFORM if turn.role == MEMBER else MessageKind.PROPOSE


def _most_messages(turn: Turn) -> int:
    """How many messages a turn takes: one without a limit takes one to each recipient, and one to all."""
    if turn.limit is not None:
        return turn.limit
    return len(turn.recipients) + (len(turn.recipients) > 1)


def _of_all_turns(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Write into the schema of an answer with the keys of all turns that none of them is in every answer."""
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
    """Write the limits of a turn into a schema: how often it may write, with what, and to whom; shares the rest.

    Args:
        schema: of the answer.
        turn: what it allows.
        names: of all participants.
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


def about(entry: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Write into the schema of an entry with an `agent` whom it can name."""
    return {**entry, "properties": {**entry["properties"], "agent": {"type": "string", "enum": list(names)}}}


def _of_these_mates(schema: Mapping[str, Any], mates: Sequence[str]) -> dict[str, Any]:
    """Write into a schema who may be predicted, each once."""
    prediction = about(schema["$defs"]["PredictionAnswer"], mates)
    predictions = {**schema["properties"]["predictions"], "maxItems": len(mates)}
    return {
        **schema,
        "$defs": {**schema["$defs"], "PredictionAnswer": prediction},
        "properties": {**schema["properties"], "predictions": predictions},
    }


def _drafts(messages: Sequence[MessageAnswer], view: View) -> tuple[Draft, ...]:
    """Turn names into indices; whether the turn allows them is the loop's to check."""
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
    """Return the index of one of the others."""
    others = [other for other in view.names if other != view.name]
    if name not in others:
        raise InvalidThought((f"{where}: {name!r} is none of the others; they are: {', '.join(others)}",))
    return view.names.index(name)


def _names(recipients: Sequence[int], view: View) -> list[str]:
    if len(recipients) > 1 and set(recipients) == set(view.turn.recipients):
        return [ALL]
    return [view.names[recipient] for recipient in recipients]


def read_descriptor(offers: OfferAnswer, needs: NeedAnswer) -> Descriptor:
    """Make a descriptor of the two parts of an answer."""
    return Descriptor(
        Offer(offers.text, tuple(offers.tasks), offers.free),
        Need(needs.text, tuple(needs.tasks)),
    )


def example_descriptor(example: Example) -> Descriptor:
    """Return what an agent might offer and need that has a world's example in mind."""
    tasks = (example.plan.task.target,) if example.plan.task is not None else ()
    about = f" at {tasks[0]}" if tasks else ""
    return Descriptor(Offer(f"I am free, and can help{about}.", tasks), Need(f"I lack one more{about}.", tasks))
