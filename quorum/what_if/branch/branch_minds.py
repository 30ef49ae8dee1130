"""Wrappers of a participant's mind in a branch: takeovers, shadow runs, scripted answers, dropped messages.

Each of them keeps the calls and the cognitive time of the wrapped mind, so nothing else changes in a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from maeil import World
from maeil.messages import Draft
from maeil.mind import Act, Mind, Thought, View
from maeil.plans import Plan
from maeil.trace import Prefix, Stamped
from maeil.trace.events import MessageSent, ThoughtEnd
from quorum_base.user_errors import UserError


class Takeover:
    """Thinks with one mind up to the branch point, and with another one from there on.

    Minds that are built together may share knowledge. A mind that takes over from its own copy has the right knowledge
    only if its whole team has thought: then the others run as shadows from start to end.

    Args:
        before: the mind up to the branch point.
        after: the mind from then on.
        prefix: knows when the branch point is reached; None: the second mind never takes over.
        shadow: whether the second mind also runs before, as a shadow whose answers are discarded.
    """

    def __init__(self, before: Mind, after: Mind, prefix: Prefix | None, *, shadow: bool) -> None:
        self._before = before
        self._after = after
        self._prefix = prefix
        self._shadow = shadow

    async def think(self, view: View) -> Thought:
        """Return the thought of the mind in charge."""
        if self._prefix is not None and self._prefix.live:
            return await self._after.think(view)
        thought = await self._before.think(view)
        if self._shadow:
            await self._after.think(view)
        return thought


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """A message or a plan for the next turn of a participant that allows it.

    Attributes:
        participant: its name.
        text: the message, to all possible recipients; None: this is a plan.
        actions: the plan, in the format of the trace; None: this is a message.
        since: first environment step in which it may be used.
    """

    participant: str
    text: str | None = None
    actions: str | None = None
    since: int = 0

    def __str__(self) -> str:
        how, what = ("say", self.text) if self.text is not None else ("plan", self.actions)
        return f"--{how} {self.participant}{f'@{self.since}' if self.since else ''}:{what}"


class ScriptedMind:
    """Thinks as its mind does, but replaces its message or its plan with a scripted one, once.

    Args:
        mind: the mind that thinks.
        answer: the scripted answer, for error messages.
        content: the message, or the plan.
        world: may refuse the plan in the state of its turn.
        prefix: knows when the branch point is reached.
    """

    def __init__(self, mind: Mind, answer: ScriptedAnswer, content: str | Plan, world: World, prefix: Prefix) -> None:
        self._mind = mind
        self._answer = answer
        self._content = content
        self._world = world
        self._prefix = prefix
        self._done = False

    @property
    def undone(self) -> Sequence[ScriptedAnswer]:
        """The scripted answer, until it is used."""
        return () if self._done else (self._answer,)

    async def think(self, view: View) -> Thought:
        """Let the mind think, and replace its answer in the scripted turn.

        Raises:
            UserError: the world refuses the plan.
        """
        thought = await self._mind.think(view)
        if self._done or not self._prefix.live or thought.failure or not self._fits(view):
            return thought
        self._done = True
        if isinstance(self._content, str):
            return replace(thought, messages=(Draft(view.turn.recipients, self._content),))
        if reasons := self._world.check_plan(view.agent, self._content):
            raise UserError(f"{self._answer}: the world refuses it at {view.t}:{view.t_hat:g}: {'; '.join(reasons)}")
        return replace(thought, decision=self._content)

    def _fits(self, view: View) -> bool:
        if view.t < self._answer.since:
            return False
        if isinstance(self._content, str):
            return bool(view.turn.acts & {Act.SPEAK, Act.ACKNOWLEDGE} and view.turn.recipients)
        return Act.PLAN in view.turn.acts


@dataclass(frozen=True, slots=True)
class DroppedMessage:
    """A message of a recorded run that a branch of it does not deliver.

    Attributes:
        message: its id in the run.
        sender: index of the participant who sent it.
        t: environment step in which it was sent.
        number: its place among the messages of its sender in that step, from 0.
    """

    message: int
    sender: int
    t: int
    number: int

    def __str__(self) -> str:
        return f"--drop {self.message}"


class DroppingMind:
    """Thinks as its mind does, but leaves messages out of its thoughts.

    It counts messages as they are sent, so it also listens to the episode: a refused thought sends none, and the next
    try leaves the same message out again.

    Args:
        mind: the mind that thinks.
        drops: the messages that it does not send; all of one sender.
        prefix: knows when the branch point is reached.
    """

    def __init__(self, mind: Mind, drops: Sequence[DroppedMessage], prefix: Prefix) -> None:
        self._mind = mind
        self._left = list(drops)
        self._sender = drops[0].sender
        self._prefix = prefix
        self._held: list[DroppedMessage] = []  # in the current thought
        self._t = 0
        self._sent = 0  # in step t, including dropped messages

    @property
    def undone(self) -> Sequence[DroppedMessage]:
        """The messages that it has not written yet."""
        return self._left

    async def think(self, view: View) -> Thought:
        """Let the mind think, and leave the dropped messages out."""
        thought = await self._mind.think(view)
        if not self._prefix.live:
            return thought
        before = self._sent if view.t == self._t else 0
        here = {drop.number - before: drop for drop in self._left if drop.t == view.t}
        self._held = [here[index] for index in range(len(thought.messages)) if index in here]
        if not self._held:
            return thought
        kept = tuple(draft for index, draft in enumerate(thought.messages) if index not in here)
        return replace(thought, messages=kept)

    def __call__(self, stamped: Stamped) -> None:
        """Process an event of the episode."""
        event = stamped.event
        if isinstance(event, MessageSent) and event.sender == self._sender:
            self._count(stamped.t, 1)
        elif isinstance(event, ThoughtEnd) and event.agent == self._sender:
            if not event.refused:
                self._left = [drop for drop in self._left if drop not in self._held]
                self._count(stamped.t, len(self._held))
            self._held = []

    def _count(self, t: int, messages: int) -> None:
        self._sent = messages + (self._sent if t == self._t else 0)
        self._t = t
