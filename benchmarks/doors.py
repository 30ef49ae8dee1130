"""A world and two minds of which it is known what talk is worth: the truth that `study_truth.py` holds studies against.

Two agents stand in front of doors. In each step each sees the one door that is right for the other, and scores a point
if it opens the one that is right for itself and that door does not stick. Boards differ in their doors and in how many
stick. Nobody can find out anything but by what the other says, so with q the probability that what is read is right,
d doors, and s the share of them that stick, 2 STEPS (1 - s) q points are expected of a team that does what it reads,
and 2 STEPS (1 - s) / d of one that guesses.

Minds draw as language models do: again where they read anything else, and in each draw of a board.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from pydantic import PositiveInt

from maeil import Act, Plan, Progress, Seeds, SymbolicAction, Thought, Transition, View, Vocabulary, World
from maeil.acting import end_of
from maeil.controllers import Repeat
from maeil.extensions.control.statements import Statements
from maeil.messages import Draft, Message
from quorum.agents.skills import WorldSkills

STEPS = 4
DOORS = (2, 3, 4, 5)
"""Doors of a board, each number as likely as the others."""
STICK = 0.5
"""The share of doors that stick is drawn for each board from 0 to this."""
HONEST = 0.9
"""Probability that what is said is what the speaker sees; else it names a door at random."""

_SCORE = 2 * STEPS * (1 - STICK / 2) * (1 - fmean(1 / doors for doors in DOORS))
CONTENT, TRUTH = HONEST * _SCORE, _SCORE
"""Expected effects of what messages say, and of true statements in their place, on minds that do what they read."""


class Open(SymbolicAction):
    """Open a door."""

    action: Literal["open"] = "open"
    door: PositiveInt


class Wait(SymbolicAction):
    """Open none."""

    action: Literal["wait"] = "wait"


@dataclass(frozen=True, slots=True)
class Sight:
    """What an agent sees.

    Attributes:
        t: step.
        doors: how many there are; they are numbered from 1.
        secret: the door that is right for the other; 0 for who sees none.
    """

    t: int
    doors: int
    secret: int

    def text(self) -> str:
        """Return it in words."""
        return f"step {self.t}: door {self.secret} of {self.doors} is right for the other"


class Doors(World):
    """The world; fulfils `maeil.World`."""

    name = "doors"
    agents: tuple[str, ...] = ("agent_0", "agent_1")
    vocabulary = Vocabulary(Open, Wait)
    idle = Wait()

    def reset(self, seed: int) -> Mapping[str, Any]:
        """Draw the doors of a board, which of them are right in each step, and which stick, each shape (STEPS, 2)."""
        random = Seeds(seed, "doors").generator()
        self._t = self._points = 0
        self._doors = DOORS[int(random.integers(len(DOORS)))]
        self._right = random.integers(1, self._doors + 1, (STEPS, 2)).tolist()
        self._stuck = (random.random((STEPS, 2)) < STICK * random.random()).tolist()
        return {"doors": self._doors, "right": self._right, "stuck": self._stuck}

    def observe(self, agent: int) -> Sight:
        """Return what an agent sees."""
        return Sight(self._t, self._doors, self._right[min(self._t, STEPS - 1)][1 - agent])

    def global_observation(self) -> Sight:
        """Return what who has no body sees."""
        return Sight(self._t, self._doors, 0)

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Return which doors there are not."""
        return tuple(f"there is no {action}" for action in plan.actions if _door(action) > self._doors)

    def start_action(self, agent: int, action: SymbolicAction) -> Repeat:
        """Start an action, which takes one step."""
        return Repeat(_door(action), 1)

    def step(self, joint: Sequence[int]) -> Transition:
        """Open doors: one for each agent, 0 for none."""
        tried = zip(joint, self._right[self._t], self._stuck[self._t], strict=True)
        points = sum(door == right and not stuck for door, right, stuck in tried)
        self._points += points
        self._t += 1
        return Transition((), points / 2, end_of(success=False, truncated=self._t == STEPS))

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> tuple[()]:
        """Return none: nothing takes several agents."""
        return ()

    def distance(self, agent: int, other: int) -> None:
        """Return none: there is no space."""

    def progress(self) -> Progress:
        """Return the points of the team."""
        return Progress(self._points, 2 * STEPS, self._points)

    def ansi(self) -> str:
        """Draw the world."""
        return f"step {self._t}: {self._points} points"


class DoorSkills(WorldSkills):
    """What the arm `truth` needs to know of the world."""

    def statements(self, world: World) -> Statements:
        """Return what states the door that the sender of a message sees."""
        assert isinstance(world, Doors)
        return lambda messages, _plans: [(_said(world.observe(one.sender).secret), None) for one in messages]


class Guesser:
    """Says which door is right for the other, mostly, and ignores what the other says.

    Args:
        seeds: of its draws, one stream for each prompt.
    """

    def __init__(self, seeds: Seeds) -> None:
        self._seeds = seeds

    async def think(self, view: View) -> Thought:
        """Speak, or open a door."""
        sight = view.observation
        assert isinstance(sight, Sight)
        messages = (*view.memory, *view.unread)
        prompt = (view.turn.words, sight.text(), [(message.sender, message.content) for message in messages])
        random = self._seeds.child(repr(prompt)).generator()
        door = int(random.integers(1, sight.doors + 1))
        if Act.SPEAK in view.turn.acts:
            honest = random.random() < HONEST
            return Thought(messages=(Draft(view.turn.recipients, _said(sight.secret if honest else door)),))
        return Thought(Plan((Open(door=self.choose(door, [one for one in messages if one.sender != view.agent])),)))

    def choose(self, guess: int, read: Sequence[Message]) -> int:
        """Return the door to open.

        Args:
            guess: one that was drawn.
            read: messages of the other, oldest first.
        """
        return guess


class Listener(Guesser):
    """Speaks in the same way, and opens the door that it has read of last."""

    def choose(self, guess: int, read: Sequence[Message]) -> int:
        """Return the door of the last message, if it names one."""
        found = re.search(r"\d+", read[-1].content) if read else None
        return int(found.group()) if found else guess


def _door(action: SymbolicAction) -> int:
    return action.door if isinstance(action, Open) else 0


def _said(door: int) -> str:
    return f"open door {door}"
