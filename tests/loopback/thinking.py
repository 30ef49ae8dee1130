"""A brain that thinks before it answers: it spends tokens on thoughts, and ends without an answer at set rates.

The thoughts are made up, as is their number: what is simulated is what they do to counts, room and money.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from quorum.agents.llm.limits import CHARACTERS_PER_TOKEN
from quorum.agents.llm.protocol import Finish, Model, Reply, Request
from quorum.agents.llm.protocol import ThinkingEffort as Effort

_WORDS = "Simulated thoughts. "
_LONGEST_TEXT = 2000
"""Characters of thoughts that are returned: servers return a summary, too."""
_TIMES: Mapping[Effort | None, float] = {
    Effort.NONE: 0, Effort.MINIMAL: 0.25, Effort.LOW: 0.5, None: 1, Effort.MEDIUM: 1, Effort.HIGH: 2, Effort.XHIGH: 4,
    Effort.MAX: 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Thinking:
    """How a brain thinks.

    Attributes:
        tokens: of thoughts before an answer, at the usual effort; a quarter to eight times as many at others, and no
            more than a budget that is asked for.
        empty_stop: share of the answers that hold nothing but thoughts.
        empty_length: share of the answers whose thoughts use up all tokens.
        seed: of these draws. The same question in the same room is drawn alike.

    Raises:
        ValueError: no tokens, or the shares are none.
    """

    tokens: int
    empty_stop: float = 0.0
    empty_length: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise ValueError("a brain that thinks spends at least 1 token on it")
        if min(self.empty_stop, self.empty_length) < 0 or self.empty_stop + self.empty_length > 1:
            raise ValueError("the shares of empty answers are at least 0, and at most 1 together")


class ThinkingModel:
    """A brain that thinks before it answers.

    Args:
        brain: what answers.
        how: how much it thinks, and how often nothing comes of it.
    """

    def __init__(self, brain: Model, how: Thinking) -> None:
        self._brain = brain
        self._how = how

    async def complete(self, request: Request) -> Reply:
        """Answer a request; thoughts and answer share the room for the answer.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: as the brain does.
        """
        sampling, how = request.sampling, self._how
        thoughts = int(how.tokens * _TIMES[sampling.effort])
        if sampling.thinking_tokens is not None:
            thoughts = min(thoughts, sampling.thinking_tokens)
        if not thoughts:
            return await self._brain.complete(request)
        room = sampling.max_tokens
        drawn = random.Random(_seed(how.seed, request)).random()
        if thoughts >= room or drawn < how.empty_length:
            reply = await self._brain.complete(request)
            return _with_thoughts(replace(reply, text="", finish=Finish.LENGTH), room, 0)
        answer = replace(request, sampling=replace(sampling, max_tokens=room - thoughts))
        reply = await self._brain.complete(answer)
        if drawn < how.empty_length + how.empty_stop:
            return _with_thoughts(replace(reply, text="", finish=Finish.STOP), thoughts, 0)
        return _with_thoughts(reply, thoughts, reply.usage.completion)


def _with_thoughts(reply: Reply, thoughts: int, answer: int) -> Reply:
    usage = replace(reply.usage, completion=thoughts + answer, reasoning=thoughts)
    characters = min(thoughts * CHARACTERS_PER_TOKEN, _LONGEST_TEXT)
    return replace(reply, usage=usage, thinking=(_WORDS * (characters // len(_WORDS) + 1))[:characters])


def _seed(seed: int, request: Request) -> bytes:
    parts = [str(seed), str(request.sampling.max_tokens), *(message.content for message in request.messages)]
    return hashlib.sha256("\x1f".join(parts).encode()).digest()
