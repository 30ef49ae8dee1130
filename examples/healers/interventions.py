"""The healers: for each failure pattern, the addressed agents and the text (DIG to Heal, arXiv 2603.00309)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from maeil.dig.build import GraphBuilder
from maeil.dig.patterns import Finding, Pattern


@dataclass(frozen=True, slots=True)
class Intervention:
    """A healer's response to a finding.

    Attributes:
        finding: the finding.
        recipients: the addressed agents, ascending.
        text: the remark.
        handlers: the agents that should continue with the subject, or that the recipients should listen to; empty if
            unspecified.
    """

    finding: Finding
    recipients: tuple[int, ...]
    text: str
    handlers: tuple[int, ...] = ()

    @property
    def annotates(self) -> bool:
        """Whether the text is attached to messages already sent (`annotate`), not a separate message (`create`)."""
        return bool(self.finding.messages)


@dataclass(frozen=True, slots=True)
class Team:
    """The healers' knowledge of the team.

    Attributes:
        names: names of all participants, by index.
        builder: builds the graph.
    """

    names: Sequence[str]
    builder: GraphBuilder

    def named(self, agents: Sequence[int]) -> str:
        """Return the names of agents, as a text."""
        return ", ".join(self.names[agent] for agent in agents)

    def least_loaded(self, agents: Sequence[int], number: int) -> tuple[int, ...]:
        """Return the agents with the fewest messages waiting for their next plan; ties go to the first."""
        return tuple(sorted(agents, key=lambda agent: len(self.builder.readings(agent)))[:number])


Healer = Callable[[Finding, Team], Intervention]


def heal_orphan(found: Finding, team: Team) -> Intervention:
    """Return a message that no agent acted on to its sender."""
    others = team.named(found.agents[1:])
    return Intervention(
        found,
        found.agents[:1],
        f"Nobody has taken up your message{_about(found)} in {found.count} steps: {others} discarded it or passed it "
        "on. Ask somebody else, drop it, or do yourself what you can do alone.",
    )


def heal_rerouting(found: Finding, team: Team) -> Intervention:
    """Ask the last agent that passed a message on to handle it."""
    last = found.agents[:1]
    return Intervention(
        found,
        last,
        f"What was asked{_about(found)} has been passed on by {found.count} agents, {team.named(found.agents)}. "
        "Do not pass it on again: do it as well as you can.",
        last,
    )


def heal_repetition(found: Finding, team: Team) -> Intervention:
    """Choose as many handlers as a task takes, the least loaded first, and ask the others to do something else."""
    handlers = tuple(sorted(team.least_loaded(found.agents, found.needed)))
    return Intervention(
        found,
        tuple(sorted(set(found.agents) - set(handlers))),
        f"{found.count} of you work on {found.subject}, which takes {found.needed}: {team.named(found.agents)}. "
        f"{team.named(handlers)} will do it. Do something else.",
        handlers,
    )


def heal_dependency(found: Finding, team: Team) -> Intervention:
    """Show an agent with conflicting requests where each comes from."""
    reader, first, *_ = found.agents
    return Intervention(
        found,
        (reader,),
        f"You are asked for different things by {team.named(found.agents[1:])}, none of whom has heard of the other. "
        f"Do not mix them: begin with what {team.names[first]} asks, and leave the rest for later.",
        (first,),
    )


def heal_coverage(found: Finding, team: Team) -> Intervention:  # noqa: ARG001 - it names nobody
    """Warn the author of a plan for several agents that it has heard of too few."""
    return Intervention(
        found,
        found.agents,
        f"Your plan for {found.subject} takes {found.needed} agents, and since you last began anew you have heard of "
        f"{found.count}, yourself among them. Make sure that enough come, or do something that takes fewer.",
    )


def heal_submission(found: Finding, team: Team) -> Intervention:
    """Ask as many of the requested agents as a task takes to do it."""
    handlers = tuple(sorted(team.least_loaded(found.agents, found.needed)))
    return Intervention(
        found,
        handlers,
        f"{found.subject} takes {found.needed}, all of you have heard that it is asked for, and nobody does it. "
        f"{team.named(handlers)}: do it now.",
        handlers,
    )


def heal_deadlock(found: Finding, team: Team) -> Intervention:  # noqa: ARG001 - it is for all
    """Ask all agents to act with what they have."""
    return Intervention(
        found,
        found.agents,
        f"Nothing has come off for {found.count} steps. Do not wait any longer: act with what you have, and do "
        "something else than before.",
    )


HEALERS: Mapping[Pattern, Healer] = {
    Pattern.ORPHAN: heal_orphan,
    Pattern.EXCESSIVE_REROUTING: heal_rerouting,
    Pattern.REPEATED_EFFORT: heal_repetition,
    Pattern.MISSING_DEPENDENCY: heal_dependency,
    Pattern.INCOMPLETE_COVERAGE: heal_coverage,
    Pattern.MISSED_SUBMISSION: heal_submission,
    Pattern.DEADLOCK: heal_deadlock,
}
"""The healer of each pattern."""


def _about(found: Finding) -> str:
    return f" about {found.subject}" if found.subject else ""
