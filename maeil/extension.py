# ruff: noqa: ARG002 - hooks that do nothing have no use for their arguments
"""Extensions: how a method changes the loop without a change to the loop.

An extension subclasses `Extension` and overrides the hooks it needs. In the order of an environment step:

| hook | when | what it can do |
|---|---|---|
| `begin` | once, before the first event | keep the episode; change its first event by `start` |
| `conversation_begins` | a conversation begins | change the world, adopt other settings |
| `reads` | a participant begins to think | give it other messages to read |
| `before_thought` | after that | show it notes |
| `review` | a thought has ended | refuse it, with reasons that its author sees |
| `answered` | the thought is accepted, or refused for good | take the answer to what the turn asks |
| `conversation_rests` | nobody thinks, nothing is in flight | compute what the topology reads by `found` |
| `turns` | the topology gives no turn | give turns itself |
| `plans_committed` | all agents are ready, no plan has begun | interrupt agents, let them talk again |
| `after_step` | the world has made a step | interrupt agents |
| `on_event` | at each event of the trace | follow what happens |

The hooks of several extensions run in the order of `run_episode(extensions=...)`. `docs/writing-an-extension.md` is the
guide, `examples/blackboard` a whole one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from maeil.constraints import ConstraintTracker
from maeil.messages import Message
from maeil.mind import Note, Thought, Turn, View
from maeil.seeds import Seeds
from maeil.settings import LoopSettings
from maeil.team import Participant, Team
from maeil.topology import ConversationState, Topology
from maeil.trace.events import EpisodeStart, Event, Stamped
from maeil.world import World


class Episode(Protocol):
    """An episode as its extensions see it, and what they can do in it."""

    world: World
    """The environment."""
    team: Team
    """The participants, and the clocks (`team.now`)."""
    topology: Topology
    """How the team talks."""
    constraints: ConstraintTracker
    """The constraints of the active tasks, as the last step left them."""

    def record(self, event: Event) -> None:
        """Record an event of an extension."""

    def interrupt(self, agent: int, extension: str) -> None:
        """Make an agent think again about its plan, if it is ready or at work; the trace names the extension."""

    async def converse(self, topology: Topology) -> None:
        """Hold a conversation with the turns of another topology, until all agents are ready again."""

    def adopt(self, settings: LoopSettings) -> None:
        """Go on with other settings; the clock's unit and the limits of the wall clock stay."""

    def world_changed(self) -> None:
        """Take in that the world was changed from outside; actions that cannot go on end."""


class Extension:
    """A method that takes part in the loop. Every hook does nothing unless it is overridden."""

    name: str
    """Under which it is registered: `extension=NAME`, `Turn.asks`, `Thought.answers`."""
    episode: Episode
    """The episode; available from `begin` on."""

    def begin(self, episode: Episode) -> None:
        """Take part in an episode. Nothing has been recorded yet."""
        self.episode = episode

    def start(self, event: EpisodeStart) -> EpisodeStart:
        """Return the first event of the trace."""
        return event

    def conversation_begins(self, topology: Topology) -> None:
        """Act before anybody thinks: at the start of each step, and of each conversation that an extension begins."""

    def reads(self, participant: Participant, messages: Sequence[Message]) -> Sequence[Message]:
        """Return what a participant who begins to think reads in the place of the messages that lie in its mailbox.

        It remembers what it reads. Who was woken, and that the messages were read, stays as it is.
        """
        return messages

    def before_thought(self, participant: Participant, turn: Turn) -> Sequence[Note]:
        """Return what to show a participant who begins to think; a coordinator sees what its agents are to see."""
        return ()

    def review(self, thought: Thought, view: View, author: Participant) -> Sequence[str]:
        """Return why a thought is refused, one reason each; its author sees them and tries again."""
        return ()

    def answered(self, view: View, answer: Any) -> None:
        """Take the author's answer to this extension; None when it gave none, or when its thought was refused."""

    async def conversation_rests(self, topology: Topology, conversation: ConversationState) -> None:
        """Act when nobody is thinking and no message is in flight, before the topology is asked for turns."""

    def found(self) -> Any:
        """Return what topologies can read in this conversation (`ConversationState.found_by`)."""
        return None

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return turns for agents who need one when the topology gives none."""
        return ()

    async def plans_committed(self) -> None:
        """Act when all agents are ready, before anything of a new plan is carried out."""

    def after_step(self) -> None:
        """Act after a step that has not ended the episode."""

    def on_event(self, stamped: Stamped) -> None:
        """Take an event of the trace, stamped with both clocks only; its number and wall time are 0."""


def no_skill(name: str) -> Callable[..., Any]:
    """Return nothing.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"the world has no skill {name!r}")


@dataclass(frozen=True, slots=True)
class ExtensionContext:
    """What an extension is built for.

    Attributes:
        world: the world of the episode.
        topology: how its team talks.
        seeds: the place of its random streams.
        skill: returns what the skills of the world have under a name, such as `repair`. It raises a `ValueError` where
            they have nothing.
    """

    world: World
    topology: Topology
    seeds: Seeds = field(default_factory=lambda: Seeds(0, "extension"))
    skill: Callable[[str], Callable[..., Any]] = no_skill


class ExtensionConfig(BaseModel):
    """Base of an extension's configuration: the values at `extension.NAME`. Fields have no defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")
