"""What a language model is asked: the prompt of a turn, found by playing the episode with a simulated model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from maeil.errors import EpisodeStop
from maeil.messages import MessageKind
from maeil.stages import Stage
from maeil.trace import Recorder, Stamped
from maeil.trace.events import StageChange
from maeil.world import closing_world
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, Model, Origin, Reply, Request
from quorum.agents.llm.records import describe_message
from quorum.agents.prompting.requests import TURNS
from quorum.configuration.cell import Cell
from quorum.configuration.option_folders import ConfigDir
from quorum.episode.built import Parts
from quorum.episode.call_books import CallBooks
from quorum.episode.model_pool import ModelPool
from quorum.episode.models import EpisodeModels, grounded
from quorum.episode.parts import build, play
from quorum_base.user_errors import UserError, choices_hint


@dataclass(frozen=True, slots=True)
class _Play:
    """How an episode is played, so that a turn comes about.

    Attributes:
        options: of its configuration.
        hasty: whether plans lose what has to come before their last action.
        short: index of the agent whose plans stay as they are, while those of others last and messages go to all; None:
            nothing of that.
    """

    options: tuple[str, ...] = ()
    hasty: bool = False
    short: int | None = None

    @property
    def words(self) -> str:
        """What a reader must know of it; empty for nothing."""
        changes = [" ".join(self.options)] if self.options else []
        changes += ["of each plan of the team the last action alone"] if self.hasty else []
        changes += ["plans that go on with idle actions, and messages to all"] if self.short is not None else []
        return f"for this turn to come about, the episode has {', and '.join(changes)}" if changes else ""


_ERRING = (
    _Play(),
    _Play(("llm.poor=0.5",)),
    _Play(("llm.invalid=0.5", "llm.poor=0.5")),
    _Play(("llm.invalid=1.0",)),
)
"""The plays, one after the other, until the turn that is wanted comes about: the simulated model errs more and more."""
_UNCHECKED = _Play(("agents.scrutiny=false", "agents.scrutinize_suggestion=false"), hasty=True)
"""What lets actors of LLaMAC object: joint plans that reach them though they are no good (`_hastened`)."""
_UNEVEN = (_Play(short=0), _Play(short=-1))
"""What lets messages meet a plan: one needs a plan while those of others last (`_prolonged`)."""
_REFUSED, _INTERRUPTED = "refused", "interrupted"
_NOBODY = "nobody"
_SHOWN = 2000
"""Questions to models in one play, at most."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as a participant's model gets it.

    Attributes:
        participant: whose turn it is.
        t: environment step.
        role: in which it is asked; empty for none.
        turn: what sort of turn it is.
        messages: what the model reads.
        answer: the form of the answer; None for free text.
        remark: what else a reader must know; empty for nothing.
    """

    participant: str
    t: int
    role: str
    turn: tuple[str, ...]
    messages: tuple[ChatMessage, ...]
    answer: AnswerFormat | None
    remark: str = ""

    def text(self) -> str:
        """Return it for a reader: each message under its role, then the schema of the answer."""
        parts = [f"--- {message.role} ---\n{_pictures(message)}{message.content.strip()}" for message in self.messages]
        if self.answer is not None:
            parts.append(f"--- wanted: {self.answer.name} ---\n{json.dumps(self.answer.schema, indent=2)}")
        return "\n\n".join(parts)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "participant": self.participant,
            "step": self.t,
            "role": self.role,
            "turn": list(self.turn),
            "messages": [describe_message(message) for message in self.messages],
            "schema": dict(self.answer.schema) if self.answer is not None else None,
        }

    def picture(self) -> bytes:
        """Return the first picture of the prompt, a PNG.

        Raises:
            UserError: it has none, or what was recorded of it is gone.
        """
        for message in self.messages:
            for picture in message.pictures:
                return picture.png
        raise UserError("--picture: this prompt has no picture", "Set env.observation=picture, or both.")


def _pictures(message: ChatMessage) -> str:
    return "".join(f"[picture, {each.width} x {each.height} pixels: {each.hash}]\n" for each in message.pictures)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which prompt is to be shown, as a user says it.

    Attributes:
        agent: number or name of the participant; empty: whoever is asked so first, without role and turn agent 0.
        role: in which it is asked; empty: any.
        turn: the sort of its turn, one of `TURNS`; empty: any.
        at: the recorded run and its step, `RUN:STEP`; empty: none.
        rest: the configuration, `KEY=VALUE`.
    """

    agent: str = ""
    role: str = ""
    turn: str = ""
    at: str = ""
    rest: tuple[str, ...] = ()

    @staticmethod
    def read(arguments: Sequence[str]) -> Wanted:
        """Read the arguments of `quorum show prompt`.

        Raises:
            UserError: one of them is given twice, or is none that there can be.
        """
        found: dict[str, str] = {}
        rest = []
        for argument in arguments:
            key, _, value = argument.partition("=")
            if key not in ("agent", "role", "turn", "at"):
                rest.append(argument)
            elif key in found:
                raise UserError(f"{key} is given twice: {found[key]} and {value}", "Leave one of them out.")
            else:
                found[key] = value
        wanted = Wanted(**found, rest=tuple(rest))
        if wanted.turn and wanted.turn not in TURNS:
            raise UserError(f"turn={wanted.turn}: there is no such turn", choices_hint(wanted.turn, "Turns", TURNS))
        return wanted

    def fits(self, origin: Origin) -> bool:
        """Whether a question is in the role and the turn that are wanted."""
        return (not self.role or origin.role == self.role) and (not self.turn or self.turn in origin.turn)

    @property
    def words(self) -> str:
        """The role and the turn, as they were given."""
        return " ".join(f"{key}={value}" for key, value in (("role", self.role), ("turn", self.turn)) if value)


class _PromptFound(EpisodeStop):
    """The participant was asked: the episode need not go on."""


@dataclass
class _Search:
    """One play: what is wanted, and what the participant was asked on the way.

    `participant` is who is meant, as soon as it is known who there is; `_NOBODY`: anybody. `lasting` are those whose
    plans go on with `idle` actions, up to `most`. `interrupts` says whether who is meant was interrupted.
    """

    wanted: Wanted
    how: _Play = _Play()
    participant: str = ""
    names: Sequence[str] = ()
    idle: Mapping[str, Any] = field(default_factory=dict)
    most: int = 1
    lasting: Collection[str] = ()
    interrupts: bool = False
    found: Request | None = None
    asked: list[Origin] = field(default_factory=list)
    questions: int = 0

    def look(self, request: Request, asked: str) -> None:
        self.questions += 1
        if self.participant in (_NOBODY, asked):
            origin = request.origin or Origin("", 0)
            if self.wanted.fits(origin):
                self.found = self.found or request  # others who think at the same time come later
                raise _PromptFound
            self.asked.append(origin)
        if self.questions > _SHOWN:
            raise _PromptFound

    def hear(self, stamped: Stamped) -> None:
        event = stamped.event
        if isinstance(event, StageChange) and event.to_stage == Stage.INTERRUPTED:
            self.interrupts |= self.participant in (_NOBODY, self.names[event.agent])

    def changed(self, value: Any, name: str) -> Any:
        """Return an answer as this play has it."""
        if self.how.hasty:
            return _hastened(value)
        if self.how.short is None:
            return value
        return _prolonged(_to_all(value), self.idle, self.most) if name in self.lasting else _to_all(value)


class _Watched:
    """A participant's model that the search looks at before it answers."""

    def __init__(self, model: Model, search: _Search, name: str) -> None:
        self._model, self._search, self._name = model, search, name

    async def complete(self, request: Request) -> Reply:
        self._search.look(request, self._name)
        reply = await self._model.complete(request)
        return replace(reply, value=self._search.changed(reply.value, self._name))


def _hastened(value: Any) -> Any:
    """Return a joint plan of which each plan has its last action alone: what has to come before it is not done."""
    if not isinstance(value, dict) or not isinstance(value.get("plans"), list):
        return value
    entries = [
        {**entry, "plan": {**entry["plan"], "actions": entry["plan"]["actions"][-1:]}} for entry in value["plans"]
    ]
    return {**value, "plans": entries}


def _to_all(value: Any) -> Any:
    """Return an answer that says something, to all whom its turn lets it write to."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return value
    said = value["messages"] or [{"kind": MessageKind.INFORM.value, "content": "I need a plan."}]
    return {**value, "messages": [{**message, "recipients": ["all"]} for message in said]}


def _prolonged(value: Any, idle: Mapping[str, Any], most: int) -> Any:
    """Return an answer whose plan goes on with idle actions, up to so many actions in all."""
    if not isinstance(value, dict):
        return value
    if "actions" in value:
        return {**value, "actions": [*value["actions"], *[idle] * (most - len(value["actions"]))]}
    return {key: _prolonged(part, idle, most) for key, part in value.items()}


def find_prompt(wanted: Wanted, config_dir: ConfigDir = ()) -> Prompt:
    """Find what the model of a participant is asked in the first turn of some sort.

    All are answered by the simulated model meanwhile, whatever `llm` says: nothing is spent. Where it gives no cause
    for the turn, the episode is played again with one that errs.

    Args:
        wanted: the turn; minds that think without a language model give place to `agents=naive` unless they are named.
        config_dir: folders with more options of the groups.

    Raises:
        UserError: an argument is wrong, the participant's mind asks no model, or it has no such turn.
    """
    rest = [word for word in wanted.rest if word.partition("=")[0].split(".")[0] not in ("llm", "+llm", "++llm")]
    if not any(word.startswith("agents=") for word in rest):
        rest.append("agents=naive")
    asked: list[Origin] = []
    participant = ""
    plays = [*(_ERRING[2:] if wanted.turn == _REFUSED else _ERRING)]
    if "agents=llamac" in rest:
        plays.append(_UNCHECKED)
    if wanted.turn == _INTERRUPTED:
        plays[1:1] = _UNEVEN
    interrupts = False
    for how in plays:
        cell = Cell.compose([*rest, *how.options], config_dir)
        if not cell.configuration.uses_models:
            minds = f"agents={cell.configuration.agents.name}"
            hint = "Choose minds that do, for example agents=naive."
            raise UserError(f"show prompt: {minds} thinks without a language model", hint)
        search = _Search(wanted, how)
        participant = _play(cell, search)
        if search.found is not None:
            is_grounded = "llm.grounded_schema=true" in wanted.rest
            return _prompt(grounded(search.found) if is_grounded else search.found, how)
        asked += search.asked
        interrupts |= search.interrupts
        if not (wanted.role or wanted.turn):
            raise UserError(f"agent={wanted.agent}: {participant} has no turn in this episode")
    if wanted.turn == _INTERRUPTED and not interrupts:
        verb = "interrupts" if participant == _NOBODY else "does not interrupt"
        silent = f"topology={cell.configuration.topology.name} {verb} {participant} in this episode"
        hint = "Who carries out a plan gets no message there. Choose another one, for example topology=debate."
        raise UserError(f"{wanted.words}: {silent}", hint)
    who = "nobody is" if participant == _NOBODY else f"{participant} is not"
    raise UserError(f"{wanted.words}: {who} asked so in this episode", _choices(wanted, asked))


def _play(cell: Cell, search: _Search) -> str:
    """Play the episode of a cell until the prompt is found; return the participant that is meant, if one is.

    Raises:
        UserError: there is no such participant, or its mind asks no model.
    """
    asked: list[str] = []
    pool = ModelPool()
    simulated = EpisodeModels(cell.configuration, pool, CallBooks(cell.configuration, None))

    def models(name: str) -> Model:
        asked.append(name)
        return _Watched(simulated(name), search, name)

    parts = build(cell, models)
    names = search.names = parts.world.agents
    search.idle = parts.world.idle.model_dump(mode="json")
    search.most = getattr(cell.configuration.agents, "max_actions", search.most)
    if search.wanted.agent or not search.wanted.words:
        search.participant = _who(search.wanted.agent, asked, parts)
    else:
        search.participant = _NOBODY
    if (short := search.how.short) is not None:
        search.lasting = [search.participant] if search.participant in names else set(names) - {names[short]}
    with closing_world(parts.world):
        asyncio.run(_played(cell, parts, pool, search))
    return search.participant


def _who(agent: str, asked: Sequence[str], parts: Parts) -> str:
    """Return the participant that is meant, by its name or number; empty: the first of those who ask models.

    Raises:
        UserError: there is none, or its mind asks no model.
    """
    names = list(parts.several) if parts.several and agent else asked
    found = find_participant(agent, names)
    if found not in asked:
        raise UserError(
            f"agent={agent}: the mind of {found} is {parts.several[found]}, which asks no language model",
            choices_hint("", "These do", asked),
        )
    return found


async def _played(cell: Cell, parts: Parts, pool: ModelPool, search: _Search) -> None:
    async with pool:
        await play(cell, parts, Recorder(None, [search.hear]))


def _prompt(request: Request, how: _Play) -> Prompt:
    origin = request.origin or Origin("", 0)
    return Prompt(origin.agent, origin.t, origin.role, origin.turn, request.messages, request.answer, how.words)


def _choices(wanted: Wanted, asked: Sequence[Origin]) -> str:
    """Say in which roles and turns a participant is asked instead."""
    return choices(wanted, sorted({origin.role for origin in asked if origin.role}), [o.turn for o in asked])


def choices(wanted: Wanted, roles: Sequence[str], turns: Sequence[Sequence[str]]) -> str:
    """Return a hint with the available roles and turns."""
    parts = []
    if wanted.role:
        parts.append(choices_hint(wanted.role, "Its roles", roles) or "It has no roles.")
    found = {sort for turn in turns for sort in turn}
    if wanted.turn:
        parts.append(choices_hint("", "Its turns", [sort for sort in TURNS if sort in found]))
    return " ".join(part for part in parts if part)


def find_participant(agent: str, names: Sequence[str]) -> str:
    """Return the participant that is meant, by its name or by its number; empty: the first one.

    Raises:
        UserError: there is none.
    """
    wanted = agent or "0"
    if wanted in names:
        return wanted
    if wanted.isdigit() and int(wanted) < len(names):
        return names[int(wanted)]
    raise UserError(f"agent={agent}: there is no such participant", choices_hint(agent, "They are", names))
