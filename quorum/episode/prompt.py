"""Shows the prompt of a turn, found by playing the episode with a simulated model."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from maeil.errors import EpisodeStop
from maeil.messages import MessageKind
from maeil.stages import Stage
from maeil.trace import Stamped
from maeil.trace.events import StageChange
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, Model, Origin, Reply, Request
from quorum.agents.llm.records import describe_message
from quorum.agents.prompting.requests import TURNS
from quorum.configuration.cell import Cell
from quorum.configuration.option_folders import ConfigDir
from quorum.episode.built import Parts
from quorum.episode.in_memory import play_in_memory
from quorum.episode.models import grounded
from quorum_base.names import fold_names
from quorum_base.user_errors import UserError, choices_hint, nearest


@dataclass(frozen=True, slots=True)
class _Play:
    """Settings for playing an episode so that a certain turn occurs.

    Attributes:
        options: overrides of its configuration.
        hasty: whether plans lose the steps that must precede their last action.
        short: index of the agent whose plans are unchanged while those of others are extended and messages go to all;
            None: neither happens.
    """

    options: tuple[str, ...] = ()
    hasty: bool = False
    short: int | None = None

    @property
    def words(self) -> str:
        """What a reader must know about it; empty if nothing."""
        changes = [" ".join(self.options)] if self.options else []
        changes += ["only the last action of each plan of the team"] if self.hasty else []
        changes += ["plans that continue with idle actions, and messages to all"] if self.short is not None else []
        return f"to reach this turn, the episode has {', and '.join(changes)}" if changes else ""


_ERRING = (
    _Play(),
    _Play(("llm.poor=0.5",)),
    _Play(("llm.invalid=0.5", "llm.poor=0.5")),
    _Play(("llm.invalid=1.0",)),
)
"""Settings to try until the wanted turn occurs; the simulated model makes more and more mistakes."""
_UNCHECKED = _Play(("agents.scrutiny=false", "agents.scrutinize_suggestion=false"), hasty=True)
"""Makes LLaMAC actors object, as bad joint plans reach them unchecked (`_hastened`)."""
_UNEVEN = (_Play(short=0), _Play(short=-1))
"""Makes messages arrive during a plan: one agent needs a plan while those of others continue (`_prolonged`)."""
_REFUSED, _INTERRUPTED = "refused", "interrupted"
_NOBODY = "nobody"
_SHOWN = 2000
"""Maximum model calls in one play."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as a participant's model receives it.

    Attributes:
        participant: whose turn it is.
        t: environment step.
        role: role of the call; empty if none.
        turn: kind of turn.
        messages: messages to the model.
        answer: schema of the answer; None for free text.
        remark: additional information for a reader; empty if none.
    """

    participant: str
    t: int
    role: str
    turn: tuple[str, ...]
    messages: tuple[ChatMessage, ...]
    answer: AnswerFormat | None
    remark: str = ""

    def text(self) -> str:
        """Return it as text: each message under its role, then the answer schema."""
        parts = [f"--- {message.role} ---\n{_pictures(message)}{message.content.strip()}" for message in self.messages]
        if self.answer is not None:
            parts.append(f"--- expected answer: {self.answer.name} ---\n{json.dumps(self.answer.schema, indent=2)}")
        return "\n\n".join(parts)

    def to_json(self) -> dict[str, Any]:
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
        """Return the first image of the prompt, a PNG.

        Raises:
            UserError: it has no image, or its recorded image is missing.
        """
        for message in self.messages:
            for picture in message.pictures:
                return picture.png
        raise UserError("--picture: this prompt has no picture", "Set env.observation=picture, or both.")


def _pictures(message: ChatMessage) -> str:
    return "".join(f"[picture, {each.width} x {each.height} pixels: {each.hash}]\n" for each in message.pictures)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The prompt requested by the user.

    Attributes:
        agent: number or name of the participant; empty: the first with such a call, or agent 0 without role and turn.
        role: role of the call; empty: any.
        turn: kind of turn, one of `TURNS`; empty: any.
        at: recorded run and step, `RUN:STEP`; empty: none.
        rest: the configuration, `KEY=VALUE`.
    """

    agent: str = ""
    role: str = ""
    turn: str = ""
    at: str = ""
    rest: tuple[str, ...] = ()

    @staticmethod
    def read(arguments: Sequence[str]) -> Wanted:
        """Parse the arguments of `quorum show prompt`.

        Raises:
            UserError: an argument is repeated or not valid.
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
        """Whether a call has the requested role and turn."""
        return (not self.role or origin.role == self.role) and (not self.turn or self.turn in origin.turn)

    @property
    def words(self) -> str:
        """The role and the turn as arguments."""
        return " ".join(f"{key}={value}" for key, value in (("role", self.role), ("turn", self.turn)) if value)


class _PromptFound(EpisodeStop):
    """The participant's model was called: the episode can stop."""


@dataclass
class _Search:
    """State of one play: the request, and the calls so far.

    `participant` is the requested participant, once the team is known; `_NOBODY` means any. `callers` are the
    participants with a model. `lasting` are those whose plans continue with `idle` actions, up to `most`. `interrupts`
    is whether the requested participant was interrupted.
    """

    cell: Cell
    wanted: Wanted
    how: _Play = _Play()
    participant: str = ""
    names: Sequence[str] = ()
    callers: list[str] = field(default_factory=list)
    idle: Mapping[str, Any] = field(default_factory=dict)
    most: int = 1
    lasting: Collection[str] = ()
    interrupts: bool = False
    found: Request | None = None
    asked: list[Origin] = field(default_factory=list)
    questions: int = 0

    def model(self, name: str, model: Model) -> Model:
        """Inspect the calls of a participant's model."""
        self.callers.append(name)
        return _Watched(model, self, name)

    def team(self, parts: Parts) -> Parts:
        """Find the requested participant among a built team.

        Raises:
            UserError: there is no such participant, or its mind calls no model.
        """
        names = self.names = parts.world.agents
        self.idle = parts.world.idle.model_dump(mode="json")
        self.most = getattr(self.cell.configuration.agents, "max_actions", self.most)
        anybody = not self.wanted.agent and self.wanted.words
        self.participant = _NOBODY if anybody else _who(self.wanted.agent, self.callers, parts)
        if (short := self.how.short) is not None:
            self.lasting = [self.participant] if self.participant in names else set(names) - {names[short]}
        return parts

    def look(self, request: Request, asked: str) -> None:
        self.questions += 1
        origin = request.origin or Origin(asked, 0)
        if self.participant in (_NOBODY, asked) and self.wanted.fits(origin):
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
        """Modify an answer according to the settings of this play."""
        if self.how.hasty:
            return _hastened(value)
        if self.how.short is None:
            return value
        return _prolonged(_to_all(value), self.idle, self.most) if name in self.lasting else _to_all(value)


class _Watched:
    """A participant's model whose calls the search inspects before the answer."""

    def __init__(self, model: Model, search: _Search, name: str) -> None:
        self._model, self._search, self._name = model, search, name

    async def complete(self, request: Request) -> Reply:
        self._search.look(request, self._name)
        reply = await self._model.complete(request)
        return replace(reply, value=self._search.changed(reply.value, self._name))


def _hastened(value: Any) -> Any:
    """Return a joint plan with only the last action of each plan, so that its preparations are missing."""
    if not isinstance(value, dict) or not isinstance(value.get("plans"), list):
        return value
    entries = [
        {**entry, "plan": {**entry["plan"], "actions": entry["plan"]["actions"][-1:]}} for entry in value["plans"]
    ]
    return {**value, "plans": entries}


def _to_all(value: Any) -> Any:
    """Return an answer that sends its message to every allowed recipient."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return value
    said = value["messages"] or [{"kind": MessageKind.INFORM.value, "content": "I need a plan."}]
    return {**value, "messages": [{**message, "recipients": ["all"]} for message in said]}


def _prolonged(value: Any, idle: Mapping[str, Any], most: int) -> Any:
    """Return an answer whose plan continues with idle actions, up to `most` actions in total."""
    if not isinstance(value, dict):
        return value
    if "actions" in value:
        return {**value, "actions": [*value["actions"], *[idle] * (most - len(value["actions"]))]}
    return {key: _prolonged(part, idle, most) for key, part in value.items()}


def find_prompt(wanted: Wanted, config_dir: ConfigDir = ()) -> Prompt:
    """Find the prompt for a participant's first turn of the requested kind.

    The simulated model answers for everyone, whatever `llm` says, so nothing is spent. If its play does not lead to the
    turn, the episode is played again with a model that makes mistakes.

    Args:
        wanted: the turn; `agents=naive` replaces minds without a language model unless they are named.
        config_dir: folders with more group options.

    Raises:
        UserError: an argument is wrong, the participant's mind calls no model, or it has no such turn.
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
        search = _Search(cell, wanted, how)
        play_in_memory(cell, [search.hear], watch=search)
        participant = search.participant
        if search.found is not None:
            is_grounded = "llm.grounded_schema=true" in wanted.rest
            return _prompt(grounded(search.found) if is_grounded else search.found, how)
        asked += search.asked
        interrupts |= search.interrupts
        if not (wanted.role or wanted.turn):
            raise UserError(f"agent={wanted.agent}: {participant} has no turn in this episode", choices(wanted, asked))
    if wanted.turn == _INTERRUPTED and not interrupts:
        verb = "interrupts" if participant == _NOBODY else "does not interrupt"
        silent = f"topology={cell.configuration.topology.name} {verb} {participant} in this episode"
        hint = "An agent that carries out a plan gets no message there. Choose another, for example topology=debate."
        raise UserError(f"{wanted.words}: {silent}", hint)
    who = "nobody gets" if participant == _NOBODY else f"{participant} does not get"
    raise UserError(f"{wanted.words}: {who} such a prompt in this episode", choices(wanted, asked))


def _who(agent: str, asked: Sequence[str], parts: Parts) -> str:
    """Find a participant by name or number; empty: the first that calls a model.

    Raises:
        UserError: there is none, or its mind calls no model.
    """
    names = list(parts.several) if parts.several and agent else asked
    found = find_participant(agent, names)
    if found not in asked:
        raise UserError(
            f"agent={agent}: the mind of {found} is {parts.several[found]}, which asks no language model",
            choices_hint("", "These do", asked),
        )
    return found


def _prompt(request: Request, how: _Play) -> Prompt:
    origin = request.origin or Origin("", 0)
    return Prompt(origin.agent, origin.t, origin.role, origin.turn, request.messages, request.answer, how.words)


def choices(wanted: Wanted, calls: Iterable[Origin]) -> str:
    """Return a hint that names who has a turn, in which roles and of which kinds.

    `Did you mean 'assessor'? These have a turn: agent_0..agent_3 (role=actor; turn=plan).`
    """
    found: dict[str, tuple[set[str], set[str]]] = {}
    for call in calls:
        roles, turns = found.setdefault(call.agent, (set(), set()))
        roles.update([call.role] if call.role else [])
        turns.update(call.turn)
    alike: dict[str, list[str]] = {}
    for agent in sorted(found, key=lambda name: (name.rstrip("0123456789"), len(name), name)):
        roles, turns = found[agent]
        kinds = (("role", sorted(roles)), ("turn", [turn for turn in TURNS if turn in turns]))
        alike.setdefault("; ".join(f"{key}={', '.join(own)}" for key, own in kinds if own), []).append(agent)
    shown = ", ".join(f"{', '.join(fold_names(agents))} ({kinds})" for kinds, agents in alike.items())
    near = nearest(wanted.role, {role for roles, _ in found.values() for role in roles})
    return f"{near} These have a turn: {shown}.".strip() if shown else "Nobody has one."


def find_participant(agent: str, names: Sequence[str]) -> str:
    """Find a participant by name or number; empty: the first one.

    Raises:
        UserError: there is none.
    """
    wanted = agent or "0"
    if wanted in names:
        return wanted
    if wanted.isdigit() and int(wanted) < len(names):
        return names[int(wanted)]
    raise UserError(f"agent={agent}: there is no such participant", choices_hint(agent, "Participants", names))
