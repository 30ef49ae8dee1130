"""What a run would have been worth with a change after which its minds think on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import fsum

from maeil.metrics.credit import Utility
from maeil.trace import Instant, Stamped, Trace
from maeil.trace.events import EpisodeEnd, MessageSent, ScoreChange, StepTaken
from maeil.user_errors import UserError
from quorum.experiments.branch.aside import play_aside
from quorum.experiments.branch.change import Change
from quorum.experiments.branch.parent import Parent
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.credit.difference import refuse_luck

_FREE = "simulated"
"""The provider whose answers cost nothing, and depend on nothing but what it is asked."""


@dataclass(slots=True)
class Valuing:
    """Listens to an episode for what it is worth to the team."""

    _rewards: list[float] = field(default_factory=list)
    _score: ScoreChange | None = None
    failed: str = ""
    """Why it ended as `error`; empty where it did not."""

    def __call__(self, stamped: Stamped) -> None:
        """Take an event in."""
        event = stamped.event
        if isinstance(event, StepTaken):
            self._rewards.append(event.reward)
        elif isinstance(event, ScoreChange):
            self._score = event
        elif isinstance(event, EpisodeEnd) and event.outcome == "error":
            self.failed = event.reason or event.outcome

    @property
    def utility(self) -> Utility:
        """What it has been worth so far."""
        reached, score = (self._score.reached, self._score.score) if self._score is not None else (0, 0.0)
        return Utility(fsum(self._rewards), reached, score)


def utility_of(trace: Trace) -> Utility:
    """Return what a recorded episode was worth."""
    valuing = Valuing()
    for stamped in trace.among(StepTaken, ScoreChange):
        valuing(stamped)
    return valuing.utility


class Continuations:
    """A run that is played again with changes, after which all minds think on.

    Args:
        parent: the run.

    Raises:
        UserError: its world draws lots, or a model would have to be paid for.
    """

    def __init__(self, parent: Parent) -> None:
        refuse_luck(parent.episode.world(), str(parent.run))
        refuse_paid(parent.configuration, str(parent.run))
        if parent.episode.trace.end is None or parent.episode.trace.end.outcome == "error":
            raise UserError(
                f"{parent.run}: --credit: the run has broken off, and without an agent or a message it would go on",
                "Run it to its end first; --credit agent takes it as far as it goes.",
            )
        self._parent = parent
        self.whole = utility_of(parent.episode.trace)
        """What the run was worth."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Those with a body, by index."""
        return tuple(self._parent.episode.trace.start.agents)

    @property
    def messages(self) -> Iterator[int]:
        """The messages of the run, in the order in which they were sent."""
        return (message.message for message in self._parent.episode.trace.of(MessageSent))

    def without_agent(self, agent: str) -> Utility:
        """Return what the run was worth, minus what it is worth where an agent idles from the start.

        Raises:
            UserError: it cannot be brought back, or nobody can idle in such a team.
        """
        return self._lost(Instant(0), Change((f"agents.members.{agent}=idle",)), f"without {agent}")

    def without_message(self, message: int) -> Utility:
        """Return what the run was worth, minus what it is worth where a message is not sent.

        Raises:
            UserError: it cannot be brought back.
        """
        return self._lost(None, Change(drops=(message,)), f"without message {message}")

    def _lost(self, instant: Instant | None, change: Change, what: str) -> Utility:
        valuing = Valuing()
        try:
            play_aside(self._parent.branch(instant, change), [valuing])
        except UserError as error:
            raise UserError(f"{self._parent.run}: it cannot be played {what}: {error.message}", error.hint) from error
        if valuing.failed:
            raise UserError(f"{self._parent.run}: {what} it ends as an error: {valuing.failed}")
        return self.whole - valuing.utility


def refuse_paid(configuration: Configuration, run: str) -> None:
    """Refuse a team that asks a model of which answers are paid for, or have been given already.

    Raises:
        UserError: it does.
    """
    if not configuration.uses_models:
        return
    asked = {model.name for model in (configuration.llm, *configuration.special_models.values())}
    if others := sorted(asked - {_FREE}):
        raise UserError(
            f"{run}: --credit: its minds would ask llm={', '.join(others)} again, for each agent or message anew",
            "--credit agent asks nobody. One message: quorum branch RUN --drop MESSAGE.",
        )
