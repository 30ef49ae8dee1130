"""Reads prompts for what they say about the present: no word may have two values for one thing.

A prompt shows the world in blocks of JSON. Of each block, every value is entered as (thing, word, value). A thing is an
agent, a block of CUBE, a cell, a box, an item or a task; what stands below it belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from quorum.agents.prompting.blocks import read_blocks

QUOTED = frozenset((
    "memory", "unread", "plan", "past_plans", "problems", "history", "suggestion", "objections", "proposal",
    "proposals", "others", "own", "dialogue", "refused", "feedback", "failed_check", "explorer", "exploiter",
    "commitments", "instances", "prototypes", "expected", "partners", "repair", "turns_left",
))  # fmt: skip
"""Blocks, and parts of them, of what was said, planned or seen at other times. All others speak about the present."""
ROWS = {"agents": "agent_", "blocks": ""}
"""Lists of rows of numbers, of which the first says what a row is about: how its name begins."""

_THING = re.compile(r"(agent_\d+|coordinator|box_\w+|(?:[a-z]+_)?\d+(?:/\w+)?)(?:, .*)?")
Fact = tuple[tuple[str, ...], str, str]
"""The thing within the things that hold it, the word, and the value as JSON."""


def facts_of(prompt: Mapping[str, str]) -> list[Fact]:
    """Return what the blocks of a prompt, as JSON by name, say about the present."""
    you = orjson.loads(prompt["turn"])["you"]
    found: list[Fact] = []
    for name, text in prompt.items():
        if name not in QUOTED:
            found += _facts(orjson.loads(text), (), (), you)
    return found


def clashes(prompt: Mapping[str, str]) -> list[str]:
    """Return the words that have two values for one thing in a prompt."""
    values: dict[tuple[tuple[str, ...], str], set[str]] = {}
    for thing, word, value in facts_of(prompt):
        values.setdefault((thing, word), set()).add(value)
    return [f"{word} of {'/'.join(thing)}: {sorted(seen)}" for (thing, word), seen in values.items() if len(seen) > 1]


def blocks_of(request: Mapping[str, Any]) -> dict[str, str]:
    """Return the blocks of a recorded request; of an answer that was refused, the first question's."""
    found: dict[str, str] = {}
    for message in request["messages"]:
        if message["role"] != "assistant" and "turn" not in found:
            found |= read_blocks(message["content"])
    return found


def _facts(value: Any, thing: tuple[str, ...], words: tuple[str, ...], you: str) -> Iterator[Fact]:
    """The facts of a value: `words` are the keys since the last thing, or before it where nothing has followed."""
    if isinstance(value, list) and words[-1:] and words[-1] in ROWS:
        for first, *row in value:
            yield (*thing, f"{ROWS[words[-1]]}{first}"), _word(words), _json(row)
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        for part in value:
            yield from _facts(part, thing, words, you)
    elif isinstance(value, dict):
        yield from _facts_of_keys(value, thing, words, you)
    elif thing:
        yield thing, _word(words), _json(value)


def _facts_of_keys(
    value: Mapping[str, Any], thing: tuple[str, ...], words: tuple[str, ...], you: str
) -> Iterator[Fact]:
    own = _identity(value)
    if own is not None:
        thing, words = (*thing, own), ()
        value = {key: part for key, part in value.items() if key not in ("task", "agent")}
    counts = bool(words) and all(isinstance(part, int | float) for part in value.values())
    for key, part in value.items():
        if key == "you" and isinstance(part, dict):
            yield from _facts(part, (you,), (), you)
        elif not counts and not _THING.fullmatch(key):
            yield from _facts(part, thing, (*words, key), you) if key not in QUOTED else ()
        elif isinstance(part, dict):
            yield from _facts(part, (*thing, _called(key)), (), you)
        else:
            yield (*thing, _called(key)), _word(words), _json(part)


def _identity(value: Mapping[str, Any]) -> str | None:
    """What a mapping with more than one key is about, where it says so."""
    task = value.get("task")
    if isinstance(task, Mapping) and len(value) > 1:
        return _called(task["target"])
    agent = value.get("agent")
    return agent if isinstance(agent, str) and len(value) > 1 else None


def _called(name: str) -> str:
    """A block, a cell or a task by one name: `block_3/left`, the task of delivering it, is the block `3`."""
    found = re.fullmatch(r"(?!agent)[a-z]+_(\d+)(?:/left)?", name)
    return found[1] if found else name


def _word(words: tuple[str, ...]) -> str:
    return ".".join(words)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
