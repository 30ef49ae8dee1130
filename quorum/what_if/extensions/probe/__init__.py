"""Belief probes: at an instant, each agent answers closed questions about its beliefs, and the episode ends."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from maeil.errors import EpisodeStop
from maeil.extension import Episode, Extension
from maeil.mind import Note, Thought, Turn, View
from maeil.outcomes import Outcome
from maeil.stages import may_send
from maeil.team import Participant
from maeil.topology import ConversationState, Topology
from maeil.trace.events import Stamped
from quorum.what_if.extensions.probe.events import Belief
from quorum.what_if.extensions.probe.facts import UNKNOWN, Fact, ProbeSkills, Talk, facts_of, tasks_of

PROBE = "probe"
"""Key of the request in a turn (`Turn.asks`) and of its answer in a thought (`Thought.answers`): a choice per fact."""
TEMPLATE = Path(__file__).with_name("questions.jinja")


class ProbeOver(EpisodeStop):
    """All agents have answered."""

    outcome = Outcome.TRUNCATED


class _Asking(Topology):
    """Gives each agent whose mind can answer one turn for the questions."""

    name = PROBE
    talks = False
    words = "Nobody speaks or plans in this turn."

    def __init__(self, agents: Sequence[int]) -> None:
        self._turns = [Turn(agent, frozenset(), asks=frozenset({PROBE})) for agent in agents]

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:  # noqa: ARG002
        given, self._turns = self._turns, []
        return given


class Probe(Extension):
    """Asks each agent about its beliefs as a step starts, before any agent thinks in it, and then ends the episode.

    Args:
        t: the environment step.
        agents: indices of the agents whose minds can answer.
        skills: skills of the world.

    Raises (from `conversation_rests`):
        ProbeOver: all agents have answered.
    """

    name = PROBE

    def __init__(self, t: int, agents: Collection[int], skills: ProbeSkills) -> None:
        self._t = t
        self._agents = agents
        self._skills = skills
        self._facts: Mapping[str, Fact] = {}
        self._over = False

    def begin(self, episode: Episode) -> None:
        """Record the tasks at the start."""
        super().begin(episode)
        self._talk = Talk(episode.team.names)
        self._things = tasks_of(episode.world)

    def on_event(self, stamped: Stamped) -> None:
        """Record messages, and the tasks of plans."""
        self._talk.take(stamped)

    async def conversation_rests(self, topology: Topology, conversation: ConversationState) -> None:
        """Ask when the step starts; end the episode when all have answered."""
        if conversation.t != self._t:
            return
        if isinstance(topology, _Asking):
            if self._over:
                raise ProbeOver("the agents were asked what they believe; a probe is not continued")
            self._over = True
            return
        facts = facts_of(self.episode.world, self._talk, self._skills, self._things)
        self._facts = {f"q{number}": fact for number, fact in enumerate(facts, 1)}
        for agent in self._agents:
            self.episode.interrupt(agent, PROBE)
        able = [agent for agent in self._agents if may_send(self.episode.team.agents[agent].stage)]
        if not able or not self._facts:
            raise ProbeOver("there is nobody to ask, or nothing to ask about")
        await self.episode.converse(_Asking(able))

    def before_thought(self, participant: Participant, turn: Turn) -> Sequence[Note]:
        """Return the questions for an agent: all but those about itself."""
        if PROBE not in turn.asks:
            return ()
        own = {name: fact for name, fact in self._facts.items() if fact.about != participant.name}
        return (Note(PROBE, own, "questions", {name: fact.shown() for name, fact in own.items()}, TEMPLATE),)

    def review(self, thought: Thought, view: View, author: Participant) -> Sequence[str]:  # noqa: ARG002
        """Return why an answer is refused: it skips a question, or its choice is not one of those offered."""
        if PROBE not in view.turn.asks:
            return ()
        given = thought.answers.get(PROBE, {})
        return [
            f"beliefs.{name}: choose one of {', '.join((*fact.choices, UNKNOWN))}"
            for name, fact in questions_of(view).items()
            if given.get(name) not in (*fact.choices, UNKNOWN)
        ]

    def answered(self, view: View, answer: Any) -> None:
        """Record what an agent believes."""
        for name, choice in (answer or {}).items() if PROBE in view.turn.asks else ():
            fact = self._facts[name]
            hop = self._talk.hops(fact).get(view.agent)
            self.episode.record(Belief(view.agent, fact.kind, fact.about, fact.truth, choice, len(fact.choices), hop))


def questions_of(view: View) -> Mapping[str, Fact]:
    """Return the facts that a turn asks about, by the keys of its answer."""
    return next(iter(view.noted(PROBE)), {})


__all__ = ["PROBE", "Belief", "Probe", "ProbeOver", "questions_of"]
