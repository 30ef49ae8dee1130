"""A world and two minds with a known value of talk: the truth that `study_truth.py` compares studies with.

Two agents stand in front of doors. In each step, each agent sees the one door that is right for the other agent. It
scores a point if it opens the door that is right for itself and that door does not stick. Boards differ in their doors
and in how many stick. An agent can learn its door only from the other's messages. Let q be the probability that a
message is right, d the number of doors, and s the share of doors that stick. A team that follows the messages then
expects 2 STEPS (1 - s) q points, and a team that guesses 2 STEPS (1 - s) / d.

Minds draw as language models do: separately for each different prompt, and in each draw of a board.
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
from maeil.messages import Draft, Message
from quorum.agents.skills import WorldSkills
from quorum.study.control.statements import Statements

STEPS = 4
DOORS = (2, 3, 4, 5)
"""Numbers of doors of a board, equally likely."""
STICK = 0.5
"""Each board draws its share of doors that stick from 0 to this value."""
HONEST = 0.9
"""Probability that a message names the door that the speaker sees; otherwise it names a random door."""

_SCORE = 2 * STEPS * (1 - STICK / 2) * (1 - fmean(1 / doors for doors in DOORS))
CONTENT, TRUTH = HONEST * _SCORE, _SCORE
"""Expected effects of the content of messages, and of true statements instead, on minds that follow them."""


class Open(SymbolicAction):
    """Open a door."""

    action: Literal["open"] = "open"
    door: PositiveInt


class Wait(SymbolicAction):
    """Open none."""

    action: Literal["wait"] = "wait"


@dataclass(frozen=True, slots=True)
class Sight:
    """An agent's observation.

    Attributes:
        t: step.
        doors: number of doors, numbered from 1.
        secret: the door that is right for the other; 0 for participants without a body.
    """

    t: int
    doors: int
    secret: int

    def text(self) -> str:
        """Return it in words."""
        return f"step {self.t}: door {self.secret} of {self.doors} is right for the other"


class Doors(World):
    """The world; implements `maeil.World`."""

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
        """Return an agent's observation."""
        return Sight(self._t, self._doors, self._right[min(self._t, STEPS - 1)][1 - agent])

    def global_observation(self) -> Sight:
        """Return the observation of a participant without a body."""
        return Sight(self._t, self._doors, 0)

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        """Return the doors that do not exist."""
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
        """Return nothing: no task needs several agents."""
        return ()

    def distance(self, agent: int, other: int) -> None:
        """Return None: the world has no distances."""

    def progress(self) -> Progress:
        """Return the points of the team."""
        return Progress(self._points, 2 * STEPS, self._points)

    def ansi(self) -> str:
        """Draw the world."""
        return f"step {self._t}: {self._points} points"


class DoorSkills(WorldSkills):
    """The skills that the arm `truth` needs."""

    def statements(self, world: World) -> Statements:
        """Return a function that states the door that the sender of a message sees."""
        assert isinstance(world, Doors)
        return lambda messages, _plans: [(_said(world.observe(one.sender).secret), None) for one in messages]


class Guesser:
    """Says which door is right for the other, mostly, and ignores what the other says.

    Args:
        seeds: seeds of its draws, one stream for each prompt.
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
            guess: a random door.
            read: messages of the other, oldest first.
        """
        return guess


class Listener(Guesser):
    """Speaks in the same way, and opens the door that the last message names."""

    def choose(self, guess: int, read: Sequence[Message]) -> int:
        """Return the door of the last message, if it names one."""
        found = re.search(r"\d+", read[-1].content) if read else None
        return int(found.group()) if found else guess


def _door(action: SymbolicAction) -> int:
    return action.door if isinstance(action, Open) else 0


def _said(door: int) -> str:
    return f"open door {door}"
