"""Watches a running episode; when cooperation fails, the chosen healers speak to the agents concerned.

The events build the interaction graph, in which `maeil.dig` finds the patterns (DIG, arXiv 2603.00309). A healer is not
a participant: its notes come with the messages, cost nothing on the cognitive clock, and arrive at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from healers.events import HealerActed, HealerHeard
from healers.interventions import HEALERS, Intervention, Team
from maeil.dig.patterns import Finding, Pattern, PatternFinder, Thresholds
from maeil.extension import Extension
from maeil.mind import Act, Note, Turn
from maeil.stages import Stage
from maeil.team import Participant
from maeil.topology import ConversationState
from maeil.trace.events import EpisodeStart, StageChange, Stamped
from quorum_base.names import fold_names

TEMPLATE = Path(__file__).with_name("healer.jinja")


@dataclass(frozen=True, slots=True)
class HealSettings:
    """The healers and their thresholds.

    Attributes:
        healers: the patterns whose healers act.
        thresholds: the numbers in the rules of the patterns.
        attempts: maximum number of times per episode that a healer speaks about plans with too few agents
            (published: 3).
    """

    healers: tuple[Pattern, ...]
    thresholds: Thresholds
    attempts: int


@dataclass(frozen=True, slots=True)
class HealerNote:
    """A healer's remark to an agent. Each of the agent's turns shows it until the agent decides.

    Attributes:
        number: number of the note in its episode, from 0.
        healer: name of the healer's pattern.
        text: the remark.
        subject: the target of the task concerned; empty if there is none.
        handlers: the agents that should continue with it, or that the recipient should listen to; empty if unspecified.
        messages: sender and text of each annotated message; empty for a separate remark.
    """

    number: int
    healer: Pattern
    text: str
    subject: str = ""
    handlers: tuple[int, ...] = ()
    messages: tuple[tuple[int, str], ...] = ()


class Healing(Extension):
    """The healers of one episode.

    Args:
        settings: the healers and their thresholds.
    """

    name = "heal"
    schema = 2

    def __init__(self, settings: HealSettings) -> None:
        self._settings = settings
        self._most = {Pattern.INCOMPLETE_COVERAGE: settings.attempts, Pattern.MISSED_SUBMISSION: 1}
        self._acted: Counter[Pattern] = Counter()
        self._found: list[Finding] = []
        self._said = 0
        self._pending: dict[int, list[HealerNote]] = {}
        """The notes shown or due to each agent since its last decision."""
        self._heard: dict[int, int] = {}

    def start(self, event: EpisodeStart) -> EpisodeStart:
        """Start the graph with the first event."""
        event = super().start(event)
        self._finder = PatternFinder(event, self._settings.thresholds)
        self._team = Team((*event.agents, *event.coordinators), self._finder.builder)
        return event

    def on_event(self, stamped: Stamped) -> None:
        """Add an event to the graph; drop the notes of an agent that has decided."""
        self._found += [found for found in self._finder.take(stamped) if found.pattern in self._settings.healers]
        event = stamped.event
        if isinstance(event, StageChange) and event.to_stage == Stage.WAIT:
            self._pending.pop(event.agent, None)
            self._heard.pop(event.agent, None)

    def after_step(self) -> None:
        """Deliver due remarks, interrupting recipients that are working or ready."""
        for intervention in self.due():
            self._say(intervention)

    def before_thought(self, participant: Participant, turn: Turn) -> Sequence[Note]:  # noqa: ARG002
        """Return the remarks to an agent; a coordinator sees the remarks to all agents."""
        self.after_step()
        if not participant.embodied:
            return self._notes({agent: notes for agent, notes in sorted(self._pending.items()) if notes})
        own = self._pending.get(participant.index, [])
        for note in own[self._heard.get(participant.index, 0) :]:
            self.episode.record(HealerHeard(note.number, participant.index))
        self._heard[participant.index] = len(own)
        return self._notes({participant.index: own}) if own else ()

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return turns to plan for the agents that a healer has interrupted."""
        feedback = self.episode.topology.feedback
        plan = frozenset({Act.PLAN})
        return [Turn(one, plan, feedback=feedback) for one in conversation.undecided if self._pending.get(one)]

    def due(self) -> list[Intervention]:
        """Return the healers' interventions for the findings since the last call."""
        found, self._found = self._found, []
        done = []
        for one in found:
            if self._acted[one.pattern] < self._most.get(one.pattern, self._acted[one.pattern] + 1):
                self._acted[one.pattern] += 1
                done.append(HEALERS[one.pattern](one, self._team))
        return done

    def _say(self, done: Intervention) -> None:
        found = done.finding
        sent = [self._finder.graph.messages[number] for number in found.messages]
        note = HealerNote(
            number=self._said,
            healer=found.pattern,
            text=done.text,
            subject=found.subject,
            handlers=done.handlers,
            messages=tuple((message.sender, message.content) for message in sent),
        )
        self._said += 1
        self.episode.record(
            HealerActed(
                note=note.number,
                healer=note.healer,
                action="annotate" if done.annotates else "create",
                recipients=done.recipients,
                content=note.text,
                messages=found.messages,
                subject=note.subject,
                handlers=note.handlers,
            )
        )
        for agent in done.recipients:
            self._pending.setdefault(agent, []).append(note)
            self.episode.interrupt(agent, self.name)

    def _notes(self, pending: Mapping[int, Sequence[HealerNote]]) -> tuple[Note, ...]:
        """Return one note with all pending remarks for some agents."""
        said = tuple({note.number: note for notes in pending.values() for note in notes}.values())
        return (healer_note(said, self.episode.team.names, tuple(pending)),) if said else ()


def healer_note(said: tuple[HealerNote, ...], names: Sequence[str], agents: tuple[int, ...]) -> Note:
    """Return the note that shows healers' remarks.

    Args:
        said: the remarks, in order.
        names: names of all participants, by index.
        agents: the recipients.
    """
    return Note(Healing.name, said, "healer", [dict(_shown(one, names)) for one in said], TEMPLATE, agents)


def _shown(note: HealerNote, names: Sequence[str]) -> Iterator[tuple[str, object]]:
    """Yield the parts of a note that a prompt shows, by key."""
    yield "finding", note.healer.value
    yield "says", note.text
    if note.subject:
        yield "about", note.subject
    if note.handlers:
        yield "handlers", fold_names([names[agent] for agent in note.handlers])
    if note.messages:
        yield "messages", [[names[sender], text] for sender, text in note.messages]
