"""Where what comes again in later prompts ends in the message of a turn, for the prompt caches of providers.

The message goes from what is stable to what changes:

1. the words before its first block: the same for all who are asked in this sort of turn;
2. in the prompts of agents that talk, what they see, which all their turns of a step begin with;
3. in the prompts of planners, each entry of their history, which grows at its end;
4. in the same prompts, the state of the turn, which every further question of the turn begins with.

The memory of an agent that plans for itself is not marked. It is a short window that moves on, so that what a provider
charges for keeping it is seldom earned: over 60 steps in three worlds (n = 4, six topologies) its entries were read
again 0.25 times for each time that they would have been kept, and 0.28 times pay for it at the usual prices (1.25 to
keep a token, 0.1 to read it). What agents see that talk was read again 0.5 to 1.9 times (20 steps, the same worlds), in
a chain never; the history of planners 0.6 to 8 times, the state of their turn 0.5 to 5.

The places follow from the text alone, so that those of a recorded prompt are the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import takewhile

from quorum.agents.prompting.blocks import BLOCK

HISTORIES = frozenset({"memory", "history"})
"""Blocks that hold the history of a planner, a list that grows at its end."""
OF_THE_TURN = frozenset({"state", "commitments", "asked"})
"""Blocks that all questions of a planner's turn share."""
OF_THE_STEP = frozenset({"observation", "past_plans"})
"""Blocks that all turns of an agent in a step share, in a team whose agents plan for themselves."""
_STATE = "state"
"""The block that prompts of planners have, and no others."""
_TURN = "turn"
_HEARD = frozenset({"memory", "unread"})
"""Blocks of what others have said."""


def marks(text: str) -> tuple[int, ...]:
    """Return where what comes again ends in the message of a turn, in characters, rising; nothing where it has no data.

    Args:
        text: the message, whatever templates it is made of.
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
    """Whether an agent has further turns in its step: it has heard something, or may do something else than plan."""
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
    """Return the end of each entry of a list; nothing of what is none, which templates of one's own may hold."""
    decoder = json.JSONDecoder()
    while text[place] in "[," and place < end:
        try:
            _, place = decoder.raw_decode(text, place + 1)
        except ValueError:
            return
        yield place
