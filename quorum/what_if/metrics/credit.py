"""The worth of agents and messages to the team: its utility, minus that of the same run without them.

These metrics are computed only on demand, from re-runs without each agent or message. Utilities are of the whole team:
see `Utility`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isclose

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import deviation, mean, ratio

_SAME = 1e-9
"""Returns closer than this are equal: sums of the same rewards may be rounded differently."""


@dataclass(frozen=True, slots=True)
class Utility:
    """The worth of an episode to the team, or the difference of two.

    Attributes:
        returned: sum over the steps of the mean reward of the agents, as `outcome.return`.
        reached: goals reached at the end, as `outcome.reached`.
        score: the world's own score at the end, as `outcome.score`.
    """

    returned: float
    reached: float
    score: float

    def __sub__(self, other: Utility) -> Utility:
        returned = 0.0 if isclose(self.returned, other.returned, abs_tol=_SAME) else self.returned - other.returned
        return Utility(returned, self.reached - other.reached, self.score - other.score)

    @property
    def is_nothing(self) -> bool:
        """Whether nothing differs."""
        return not (self.returned or self.reached or self.score)


@dataclass(frozen=True, slots=True)
class Differences:
    """What the team lost without each agent, while all others acted as recorded.

    Attributes:
        agents: for each agent, the utility of the run minus that of the run in which it idles from the first step on.
    """

    agents: Sequence[Utility]


_OF_AGENTS = (
    "D_i = G(run) - G(the same joint actions, except that agent i idles from the first step on), replayed by the rules "
    "of the world from the seed, so no agent thinks again (Wolpert and Tumer 2001: the wonderful life utility with "
    "idling as the null action; Agogino and Tumer 2008)"
)


def _mean_of(agents: Sequence[Utility], part: Callable[[Utility], float]) -> Value:
    return mean([part(agent) for agent in agents])


@metric(
    "credit.difference",
    "reward",
    title="difference reward",
    doc=f"Mean over agents of the difference reward, with the return as G: {_OF_AGENTS}.",
    source=Differences,
)
def difference(found: Differences) -> Value:
    """Return the mean of the differences in the return."""
    return _mean_of(found.agents, lambda agent: agent.returned)


@metric("credit.difference_reached", "goals", title="difference reward in goals", source=Differences)
def difference_reached(found: Differences) -> Value:
    """Mean over agents of the difference reward, with the goals reached at the end as G."""
    return _mean_of(found.agents, lambda agent: agent.reached)


@metric("credit.difference_score", "points of the world", title="difference reward in score", source=Differences)
def difference_score(found: Differences) -> Value:
    """Mean over agents of the difference reward, with the world's own score at the end as G."""
    return _mean_of(found.agents, lambda agent: agent.score)


@metric("credit.least", "reward", title="least difference reward", source=Differences)
def least(found: Differences) -> Value:
    """The least difference reward of an agent, with the return as G."""
    return min((agent.returned for agent in found.agents), default=None)


@metric("credit.most", "reward", title="largest difference reward", source=Differences)
def most(found: Differences) -> Value:
    """The largest difference reward of an agent, with the return as G."""
    return max((agent.returned for agent in found.agents), default=None)


@metric("credit.spread", "reward", title="spread of difference rewards", source=Differences)
def spread(found: Differences) -> Value:
    """Standard deviation of the difference reward over the agents of the team, with the return as G."""
    return deviation([agent.returned for agent in found.agents])


@metric("credit.idle_harmless", "share of agents", title="agents whose idling changes nothing", source=Differences)
def idle_harmless(found: Differences) -> Value:
    """Share of the agents whose idling would not have changed the return, the goals or the score."""
    return ratio(sum(agent.is_nothing for agent in found.agents), len(found.agents))


@metric(
    "credit.idle_better", "share of agents", better="lower", title="agents whose idling is better", source=Differences
)
def idle_better(found: Differences) -> Value:
    """Share of the agents without whom the return would have been higher: D_i < 0."""
    return ratio(sum(agent.returned < 0 for agent in found.agents), len(found.agents))


class LiveDifferences(Differences):
    """What the team lost without each agent, which idles from the start, while the minds of all others think again."""


@metric(
    "credit.live_difference",
    "reward",
    title="difference reward against a team that reacts",
    doc="Mean over agents of G(run) - G(a re-run in which agent i idles and says nothing from the start, while all "
    "other minds think), with the return as G.",
    source=LiveDifferences,
)
def live_difference(found: LiveDifferences) -> Value:
    """Return the mean of the differences in the return."""
    return _mean_of(found.agents, lambda agent: agent.returned)


@metric(
    "credit.live_difference_reached",
    "goals",
    title="difference reward in goals against a team that reacts",
    source=LiveDifferences,
)
def live_difference_reached(found: LiveDifferences) -> Value:
    """As `credit.live_difference`, with the goals reached at the end as G."""
    return _mean_of(found.agents, lambda agent: agent.reached)


@metric(
    "credit.live_idle_better",
    "share of agents",
    better="lower",
    title="agents without whom a team that reacts is better",
    source=LiveDifferences,
)
def live_idle_better(found: LiveDifferences) -> Value:
    """Share of the agents without whom the return would have been higher, with all others thinking again."""
    return ratio(sum(agent.returned < 0 for agent in found.agents), len(found.agents))


@dataclass(frozen=True, slots=True)
class MessageValues:
    """The worth of the messages of a run.

    Attributes:
        messages: for each message, the utility of the run minus that of the run without it, in which all minds think
            again.
    """

    messages: Sequence[Utility]


@metric(
    "credit.message_mean",
    "reward",
    title="value of a message",
    doc="Mean over messages of G(run) - G(a re-run without that one message, in which all minds think), with the "
    "return as G: its counterfactual value.",
    source=MessageValues,
)
def message_mean(found: MessageValues) -> Value:
    """Return the mean of the differences in the return."""
    return _mean_of(found.messages, lambda message: message.returned)


@metric(
    "credit.message_helped", "share of messages", better="higher", title="messages that helped", source=MessageValues
)
def message_helped(found: MessageValues) -> Value:
    """Share of the messages without which the return would have been lower."""
    return ratio(sum(message.returned > 0 for message in found.messages), len(found.messages))


@metric("credit.message_neutral", "share of messages", title="messages that changed nothing", source=MessageValues)
def message_neutral(found: MessageValues) -> Value:
    """Share of the messages without which the return would have been the same."""
    return ratio(sum(message.returned == 0 for message in found.messages), len(found.messages))


@metric(
    "credit.message_harmed", "share of messages", better="lower", title="messages that did harm", source=MessageValues
)
def message_harmed(found: MessageValues) -> Value:
    """Share of the messages without which the return would have been higher."""
    return ratio(sum(message.returned < 0 for message in found.messages), len(found.messages))
