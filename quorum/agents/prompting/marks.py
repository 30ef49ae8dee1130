"""Where the recurring parts of a turn's message end, for the prompt caches of providers.

The message goes from stable to changing parts:

1. the words before its first block: the same in all turns of this kind;
2. in the prompts of agents that talk, their observation, which all their turns of a step share;
3. in the prompts of planners, each entry of their history, which grows at its end;
4. in the same prompts, the state of the turn, which all further requests of the turn share.

The memory of an agent that plans for itself is not marked. It is a short sliding window, so the provider's charge for
caching it rarely pays off: over 60 steps in three worlds (n = 4, six topologies), its entries were read again 0.25
times per cache write, while 0.28 times break even at the usual prices (1.25 to write a token, 0.1 to read it). The
observations of talking agents were read again 0.5 to 1.9 times (20 steps, the same worlds) but never in a chain, the
history of planners 0.6 to 8 times, and the state of their turn 0.5 to 5 times.

The places depend only on the text, so recorded prompts have the same ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import takewhile

from quorum.agents.prompting.blocks import BLOCK

HISTORIES = frozenset({"memory", "history"})
"""Blocks with the history of a planner, a list that grows at its end."""
OF_THE_TURN = frozenset({"state", "commitments", "asked"})
"""Blocks that all requests of a planner's turn share."""
OF_THE_STEP = frozenset({"observation", "past_plans"})
"""Blocks that all turns of an agent in a step share, in a team whose agents plan for themselves."""
_STATE = "state"
"""The block that only prompts of planners have."""
_TURN = "turn"
_HEARD = frozenset({"memory", "unread"})
"""Blocks with messages of others."""


def marks(text: str) -> tuple[int, ...]:
    """Return where the recurring parts of a turn's message end, in characters, ascending; empty without data blocks.

    Args:
        text: the message, from any templates.
    """
    blocks = list(BLOCK.finditer(text))
    if not blocks:
        return ()
    words = text.rfind("\n\n", 0, blocks[0].start()) + 2
    found = [words] if words > 1 else []
    if any(block[1] == _STATE for block in blocks):
        found += _of_planner(text, blocks)
    elif _talks(blocks):
        shared = list(takewhile(lambda block: block[1] in OF_THE_STEP, blocks))
        found += [block.end() for block in shared[-1:]]
    return tuple(found)


def _talks(blocks: list[re.Match[str]]) -> bool:
    """Return whether an agent has further turns in its step: it has read a message, or may do more than plan."""
    turn = next((block[2] for block in blocks if block[1] == _TURN), "")
    may_talk = '"may":' in turn and '"may":["plan"]' not in turn
    return may_talk or any(block[1] in _HEARD for block in blocks)


def _of_planner(text: str, blocks: list[re.Match[str]]) -> Iterator[int]:
    shared = 0
    for block in blocks:
        if block[1] in HISTORIES and not shared:
            yield from _entries(text, *block.span(2))
        elif block[1] in OF_THE_TURN:
            shared = block.end()
        else:
            break
    if shared:
        yield shared


def _entries(text: str, place: int, end: int) -> Iterator[int]:
    """Return the end of each entry of a list; nothing for other values, which a user's templates may contain."""
    decoder = json.JSONDecoder()
    while text[place] in "[," and place < end:
        try:
            _, place = decoder.raw_decode(text, place + 1)
        except ValueError:
            return
        yield place
