# ruff: noqa: ARG002 - default hooks do nothing, so they ignore their arguments
"""Extensions: hooks by which a method changes the behaviour of the loop without changing its code.

An extension subclasses `Extension` and overrides the hooks it needs. In the order of an environment step:

| hook | when | what it can do |
|---|---|---|
| `begin` | once, before the first event | keep the episode; `start` can change the first event |
| `conversation_begins` | a conversation starts | change the world, adopt other settings |
| `reads` | a participant starts to think | replace the messages that it reads |
| `before_thought` | after `reads` | show the participant notes |
| `review` | a thought has ended | refuse it, with reasons that its author sees |
| `answered` | a thought is accepted, or refused for good | use the answer to the extension |
| `conversation_rests` | no thought or message is in flight | compute data that the topology gets from `found` |
| `turns` | the topology gives no turn | give turns itself |
| `plans_committed` | all agents are ready, no plan has started | interrupt agents, let them talk again |
| `after_step` | the world has made a step | interrupt agents |
| `on_event` | at each event of the trace | observe the episode |

The hooks of several extensions run in the order of `run_episode(extensions=...)`. See the guide
`docs/writing-an-extension.md` and the complete example `examples/blackboard`.
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
    """The interface of an episode for its extensions."""

    world: World
    """The environment."""
    team: Team
    """The participants, and the clocks (`team.now`)."""
    topology: Topology
    """The team's topology."""
    constraints: ConstraintTracker
    """The constraints of the active tasks after the last step."""

    def record(self, event: Event) -> None:
        """Record an event of an extension."""

    def interrupt(self, agent: int, extension: str) -> None:
        """Make an agent in W or X reconsider its plan. The trace gives the name of the extension as the reason."""

    async def converse(self, topology: Topology) -> None:
        """Run a conversation with the turns of another topology until all agents are ready again."""

    def adopt(self, settings: LoopSettings) -> None:
        """Continue with other settings. The clock unit and the wall-clock limits stay the same."""

    def world_changed(self) -> None:
        """Update the loop after an external change of the world; actions that cannot continue end."""


class Extension:
    """A method that takes part in the loop. Every hook does nothing unless it is overridden."""

    name: str
    """Its registered name, as in `extension=NAME`, `Turn.asks` and `Thought.answers`."""
    episode: Episode
    """The episode; available from `begin` on."""

    def begin(self, episode: Episode) -> None:
        """Start to take part in an episode, before any event is recorded."""
        self.episode = episode

    def start(self, event: EpisodeStart) -> EpisodeStart:
        """Return the first event of the trace."""
        return event

    def conversation_begins(self, topology: Topology) -> None:
        """Act before the first thought of a conversation: of each step's, and of those that extensions start."""

    def reads(self, participant: Participant, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the messages that a participant reads at the start of a thought, instead of those in its mailbox.

        Its memory keeps the returned messages. Wake-ups and read receipts are unaffected.
        """
        return messages

    def before_thought(self, participant: Participant, turn: Turn) -> Sequence[Note]:
        """Return notes for a participant that starts to think; a coordinator gets the notes meant for its agents."""
        return ()

    def review(self, thought: Thought, view: View, author: Participant) -> Sequence[str]:
        """Return the reasons for refusing a thought; its author sees them and tries again. Empty to accept it."""
        return ()

    def answered(self, view: View, answer: Any) -> None:
        """Receive the answer to this extension; None if the author gave none, or if its thought was refused."""

    async def conversation_rests(self, topology: Topology, conversation: ConversationState) -> None:
        """Act when no thought or message is in flight, before the topology gives turns."""

    def found(self) -> Any:
        """Return data for topologies in this conversation (`ConversationState.found_by`)."""
        return None

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return turns for agents that need one if the topology gives none."""
        return ()

    async def plans_committed(self) -> None:
        """Act when all agents are ready, before the first action of any new plan."""

    def after_step(self) -> None:
        """Act after a step, unless it ended the episode."""

    def on_event(self, stamped: Stamped) -> None:
        """Receive an event of the trace, stamped with both clocks only; its number and wall time are 0."""


def no_skill(name: str) -> Callable[..., Any]:
    """Reject any name of a skill.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"the world has no skill {name!r}")


@dataclass(frozen=True, slots=True)
class ExtensionContext:
    """The context in which an extension is built.

    Attributes:
        world: the world of the episode.
        topology: the team's topology.
        seeds: the extension's random streams.
        skill: returns a skill of the world by name, such as `repair`. It raises a `ValueError` if there is none.
    """

    world: World
    topology: Topology
    seeds: Seeds = field(default_factory=lambda: Seeds(0, "extension"))
    skill: Callable[[str], Callable[..., Any]] = no_skill


class ExtensionConfig(BaseModel):
    """Base of an extension's configuration: the values at `extension.NAME`. Fields have no defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")
