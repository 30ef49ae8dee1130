"""Carries out what healers do: what they say is recorded, and told to those whom they address."""

from __future__ import annotations

from maeil.healing.healers import Intervention
from maeil.healing.watch import HealSettings, Watch
from maeil.notices import HealerNote
from maeil.stages import Stage, Trigger
from maeil.team import Team
from maeil.trace.events import EpisodeStart, HealerActed


class Healing:
    """The healers of one episode, and the team that they speak to.

    A healer is no participant: its notes come beside the messages, cost nothing on the cognitive clock, and arrive at
    once.

    Args:
        settings: who heals.
        start: the first event of the episode.
        team: that is watched from now on.
    """

    def __init__(self, settings: HealSettings, start: EpisodeStart, team: Team) -> None:
        self._watch = Watch(settings, start)
        self._team = team
        self._notes = 0
        team.listen(self._watch.take)

    def speak(self) -> None:
        """Tell what there is to say since the last time; whoever is at work or ready is interrupted by it."""
        for intervention in self._watch.due():
            self._tell(intervention)

    def _tell(self, done: Intervention) -> None:
        found = done.finding
        sent = [self._watch.messages[number] for number in found.messages]
        note = HealerNote(
            number=self._notes,
            healer=found.pattern,
            text=done.text,
            subject=found.subject,
            handlers=done.handlers,
            messages=tuple((message.sender, message.content) for message in sent),
        )
        self._notes += 1
        self._team.record(
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
        for index in done.recipients:
            recipient = self._team.agents[index]
            recipient.notes.append(note)
            if recipient.stage in (Stage.WAIT, Stage.EXECUTE):
                self._team.change_stage(recipient, Trigger.HEAL)
