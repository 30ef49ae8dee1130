"""A mind that once says or plans what it is told, in the first turn of a branch that lets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from maeil import World
from maeil.messages import Draft
from maeil.mind import Act, Mind, Thought, View
from maeil.plans import Plan
from maeil.trace import Prefix
from maeil.user_errors import UserError


@dataclass(frozen=True, slots=True)
class Words:
    """What a participant is told to say, or to plan.

    Attributes:
        participant: its name.
        text: of the message that it sends to all it may write to; None: it is told a plan.
        actions: of the plan that it commits, as the trace has them; None: it is told a message.
    """

    participant: str
    text: str | None = None
    actions: str | None = None

    def __str__(self) -> str:
        how, what = ("say", self.text) if self.text is not None else ("plan", self.actions)
        return f"--{how} {self.participant}:{what}"


class Dictated:
    """Thinks as its mind does, and puts what it is told in the place of what that says or plans, once.

    The thought takes the calls and the time that it would have taken. So nothing else is another in that turn.

    Args:
        mind: that which thinks.
        words: what it is told, for messages.
        said: the message, or the plan.
        world: which may refuse the plan in the state in which its turn comes.
        prefix: says when the instant has come.
    """

    def __init__(self, mind: Mind, words: Words, said: str | Plan, world: World, prefix: Prefix) -> None:
        self._mind = mind
        self._words = words
        self._said = said
        self._world = world
        self._prefix = prefix
        self.done = False
        """Whether its turn has come."""

    @property
    def undone(self) -> Sequence[Words]:
        """What it is told, while its turn has not come."""
        return () if self.done else (self._words,)

    async def think(self, view: View) -> Thought:
        """Have the mind think, and change what it answers where it is told to.

        Raises:
            UserError: the world refuses the plan.
        """
        thought = await self._mind.think(view)
        if self.done or not self._prefix.live or thought.failure or not self._fits(view):
            return thought
        self.done = True
        if isinstance(self._said, str):
            return replace(thought, messages=(Draft(view.turn.recipients, self._said),))
        if reasons := self._world.check_plan(view.agent, self._said):
            raise UserError(f"{self._words}: the world refuses it at {view.t}:{view.t_hat:g}: {'; '.join(reasons)}")
        return replace(thought, decision=self._said)

    def _fits(self, view: View) -> bool:
        if isinstance(self._said, str):
            return bool(view.turn.acts & {Act.SPEAK, Act.ACKNOWLEDGE} and view.turn.recipients)
        return Act.PLAN in view.turn.acts
