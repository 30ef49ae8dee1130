"""A language model reads the claims and orders of messages, so that the rules of failures need no typed fields.

It reads every message. If a message has typed fields, the reading is compared with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from maeil.errors import EpisodeStop
from maeil.trace import Trace
from maeil.trace.events import ConstraintChange, MessageSent
from maeil.trace.story import target_of
from quorum.agents.llm.errors import AnswerInvalid, BudgetReached, LanguageModelError
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Model, Origin, Request
from quorum.agents.naive.answers import AskAnswer
from quorum.agents.prompting.answers import Part, TaskAnswer, Thoughts, tidy
from quorum.agents.prompting.blocks import write_block
from quorum.agents.prompting.requests import UNSET
from quorum.agents.prompting.schemas import about, ground
from quorum.agents.prompting.templates import Templates, shipped_templates
from quorum.configuration.cell import Cell
from quorum.configuration.option_folders import ConfigDir
from quorum.episode.call_ledger import CallLedger
from quorum.episode.model_pool import ModelPool, model_hint
from quorum.episode.models import EpisodeModels
from quorum.episode.substitute import asks_real_models
from quorum.process.event_loop import run_coroutine
from quorum.what_if.failures import OF_WORDS, Failure, Reading, find_failures, text_alone
from quorum_base.user_errors import UserError

JUDGE = "judge"
"""Name of the participant in the records of calls, and of the folder of the prompts."""


class MessageReading(Part):
    """What a message claims and asks."""

    thoughts: Thoughts = ""
    task: TaskAnswer | None
    asks: list[AskAnswer]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a judge for a trace.

    Attributes:
        model: label of the judge.
        messages: number of messages in the trace.
        readings: the readings of messages that it could read, by message number.
        typed: number of readings of messages that also have fields.
        same: number of these with the same claims and orders as the fields.
        failures: failures by the fields, and by the judge for messages without fields.
        by: numbers of failures of words in messages with fields that both found, only the fields, or only the judge.
    """

    model: str
    messages: int
    readings: Mapping[int, Reading]
    typed: int
    same: int
    failures: Sequence[Failure]
    by: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data, without the failures."""
        numbers = {"messages": self.messages, "read": len(self.readings), "typed": self.typed, "same": self.same}
        return {"model": self.model, **numbers, "failures": dict(self.by)}

    def __str__(self) -> str:
        """Describe how far the judge and the fields agree."""
        read = f"judge {self.model} read {len(self.readings)} of {self.messages} messages"
        if not self.typed:
            return read
        both, fields, alone = self.by.values()
        found = f"{both} by both, {fields} by fields alone, {alone} by the judge alone"
        agrees = f"agrees with {self.same} of {self.typed} that have typed fields"
        return f"{read} and {agrees}; failures of words: {found}"


@dataclass
class Judge:
    """Reads the messages of many traces with one language model, within one budget.

    Args:
        words: `KEY=VALUE` of the model.
        limits: limits of the budget, by kind; None: no limit.
        folder: the folder of the user's configurations, if any.

    Raises:
        UserError: there is no word, a word names something other than a model, or a paid model has no budget.
    """

    words: Sequence[str]
    limits: Mapping[str, float | None]
    folder: ConfigDir = ()
    _books: CallLedger = field(init=False)

    def __post_init__(self) -> None:
        if not self.words:
            raise UserError("a budget applies to a judge, and none is named", "For example: --judge llm=openai.")
        for word in self.words:
            if word.partition("=")[0].partition(".")[0] != "llm":
                raise UserError(f"--judge {word}: a judge is a language model", "For example: --judge llm=openai.")
        budget = [f"budget.{kind}={limit}" for kind, limit in self.limits.items() if limit is not None]
        cell = Cell.compose(["agents=naive", *self.words, *budget], self.folder)
        if not budget and asks_real_models(cell.configuration):
            raise UserError("--judge calls a paid language model", "Set --budget-calls N or --budget-usd X.")
        self._configuration = cell.configuration
        self._books = CallLedger(cell.configuration, None)

    def read(self, trace: Trace) -> Judgement:
        """Read all messages of a trace, as far as the budget allows.

        Raises:
            UserError: the model cannot be called.
        """
        messages, alone = list(trace.of(MessageSent)), {*text_alone(trace)}
        readings = run_coroutine(self._read_all(messages, trace)) if messages else {}
        typed = {message.message: message for message in messages if message.message in readings.keys() - alone}
        same = sum(
            readings[number].taken(one.sender) == Reading(one.task, one.asks or ()).taken(one.sender)
            for number, one in typed.items()
        )
        rest = {number: reading for number, reading in readings.items() if number in alone}
        found = find_failures(trace, rest)
        fields, judged = (
            {(one.kind, one.agent, one.t, one.task) for one in some if one.kind in OF_WORDS}
            for some in (found, find_failures(trace, readings))
        )
        by = {"both": len(fields & judged), "fields": len(fields - judged), "judge": len(judged - fields)}
        label = self._configuration.llm.label
        return Judgement(label, len(messages), readings, len(typed), same, found, by)

    async def _read_all(self, messages: Iterable[MessageSent], trace: Trace) -> dict[int, Reading]:
        names = (*trace.start.agents, *trace.start.coordinators)
        reported = {target_of(task): task["kind"] for task in (one.task for one in trace.of(ConstraintChange))}
        planned = {target_of(task): task["kind"] for plan in trace.story.plans if (task := plan.content.task)}
        tasks: dict[str, list[str]] = {}
        for target, kind in sorted((reported | planned).items()):
            tasks.setdefault(kind, []).append(target)
        found: dict[int, Reading] = {}
        try:
            async with ModelPool() as pool:
                model = EpisodeModels(self._configuration, pool, self._books)(JUDGE)
                for message in messages:
                    to = [names[reader] for reader in message.recipients]
                    said = {"from": names[message.sender], "to": to, "kind": message.what, "text": message.content}
                    if (reading := await read_message(model, said, names, tasks)) is not None:
                        found[message.message] = reading
        except BudgetReached:
            pass  # unread messages stay unknown
        except (LanguageModelError, EpisodeStop) as error:
            hint = model_hint(error, self._configuration.llm) if isinstance(error, LanguageModelError) else ""
            raise UserError(f"--judge: the judge cannot continue: {error}", hint) from error
        return found


async def read_message(
    model: Model, said: Mapping[str, object], names: Sequence[str], tasks: Mapping[str, Sequence[str]]
) -> Reading | None:
    """Return a model's reading of a message; None if it gives no valid answer.

    Args:
        model: the judge.
        said: the message: `from`, `to`, `kind` and `text`.
        names: names of all participants by index.
        tasks: targets of each kind of task.
    """
    values = {"turn": {"role": "reader_message", "team": list(names)}, "message": said, "tasks": tasks}
    blocks = {name: write_block(name, value) for name, value in values.items()}
    templates = Templates(
        JUDGE, shipped_templates(JUDGE), {part: f"{part}.jinja" for part in ("system", "message")}, own=None
    )
    system, user = (templates.find(part).render(blocks=blocks).strip() for part in ("system", "message"))
    others = [name for name in names if name != said["from"]]
    schema = tidy(MessageReading.model_json_schema())
    schema["$defs"]["AskAnswer"] = about(schema["$defs"]["AskAnswer"], others)
    form = AnswerFormat("message", schema, grounded=partial(ground, schema, {}, (), tasks))
    messages = (ChatMessage(ChatRole.SYSTEM, system), ChatMessage(ChatRole.USER, user))
    try:
        reply = await model.complete(Request(messages, form, UNSET, origin=Origin(JUDGE, 0, JUDGE)))
        answer = MessageReading.model_validate(reply.value)
    except (AnswerInvalid, ValueError):
        return None
    if any(ask.agent not in others for ask in answer.asks):
        return None
    asks = [{"agent": names.index(ask.agent), "task": ask.task.model_dump()} for ask in answer.asks]
    return Reading(answer.task.model_dump() if answer.task is not None else None, asks)
