"""The mind `planted`: an agent whose skill depends on one cause, so that the effect of talk is known.

In each turn to plan, it follows the world's heuristic with a probability, its skill, and otherwise idles for some
steps. The skill changes for the rest of the episode once the agent has met its cause:

| cause | the agent has |
|---|---|
| `nothing` | - (the skill never changes) |
| `turn` | had a turn to speak |
| `message` | read a message of another agent, even an empty one |
| `words` | read such a message with any text |
| `content` | read such a message with a text about this board by another agent |

Each cause implies those above it. A message interrupts nothing: a woken agent resumes its plan. Each agent draws from
one stream, once for each plan, so two episodes with equal draws differ only if the skill differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from maeil import Act, Mind, Plan, Resume, Seeds, TeamContext, Thought, View
from maeil.actions import SymbolicAction
from maeil.component import Compatibility, Component, ComponentConfig, Handover
from maeil.messages import Draft, Message
from quorum.agents.skills import role_of
from quorum.configuration.registry import minds

Share = Annotated[float, Field(ge=0, le=1)]
_TEXT = re.compile(r"board (\d+): (\w+) ")


class Cause(StrEnum):
    """What changes an agent's skill."""

    NOTHING = "nothing"
    TURN = "turn"
    MESSAGE = "message"
    WORDS = "words"
    CONTENT = "content"


class PlantedConfig(ComponentConfig):
    """Values of `planted`."""

    name: Literal["planted"]
    cause: Cause
    """What changes the skill."""
    skill: Share
    """Probability of following the rules in a turn to plan."""
    skill_then: Share
    """The probability once the agent has met the cause."""
    idle: PositiveInt
    """Number of steps for which it idles otherwise."""
    odd: NonNegativeInt | None
    """Index of an agent with another skill, which no cause changes; null: none."""
    odd_skill: Share
    """The skill of that agent."""


class PlantedMind:
    """The mind of one agent.

    Args:
        config: its values.
        rules: the mind that follows the rules.
        idle: the action that does nothing for a step.
        seeds: place of its draws; the seed is the number of the board.
        odd: whether it is the agent with another skill.
    """

    def __init__(self, config: PlantedConfig, rules: Mind, idle: SymbolicAction, seeds: Seeds, *, odd: bool) -> None:
        self._cause = config.cause
        self._skill, self._skill_then = (config.odd_skill,) * 2 if odd else (config.skill, config.skill_then)
        self._rules = rules
        self._idle = Plan((idle,) * config.idle, None, "I pause")
        self._board = str(seeds.seed)
        self._random = seeds.generator()
        self._met: set[Cause] = set()

    async def think(self, view: View) -> Thought:
        """Speak, or plan."""
        self._met.update(self._causes(view))
        if Act.SPEAK in view.turn.acts:
            text = f"board {self._board}: {view.name} plans in step {view.t}"
            return Thought(messages=(Draft(view.turn.recipients, text),))
        if view.may_resume:
            return Thought(Resume.RESUME)
        skill = self._skill_then if self._cause in self._met else self._skill
        return await self._rules.think(view) if self._random.random() < skill else Thought(self._idle)

    def _causes(self, view: View) -> Iterator[Cause]:
        """Yield the causes that the agent meets in a turn."""
        if Act.SPEAK in view.turn.acts:
            yield Cause.TURN
        for message in (one for one in view.unread if one.sender != view.agent):
            yield Cause.MESSAGE
            if message.content:
                yield Cause.WORDS
            if self._informs(message, view.name):
                yield Cause.CONTENT

    def _informs(self, message: Message, reader: str) -> bool:
        """Whether a text is about this board, and by another agent."""
        found = _TEXT.match(message.content)
        return found is not None and found[1] == self._board and found[2] != reader


def build(config: PlantedConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent.

    Raises:
        ValueError: the world has no heuristic.
    """
    rules: Sequence[Mind] = role_of(context.world.name, "heuristic", f"agents={config.name}")(context.world)
    return [
        PlantedMind(config, mind, context.world.idle, context.seeds.child(agent), odd=agent == config.odd)
        for agent, mind in enumerate(rules)
    ]


minds.register(
    "planted",
    Component(PlantedConfig, build, compatible=Compatibility.ANYBODY, handover=Handover.SHADOW, draws=True),
)
