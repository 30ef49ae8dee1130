"""Prompts and answers in a world's own text format, for rules that know typed values alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from quorum.agents.coordination.prompts import Notation
from quorum.agents.skills import role_of


def read_text_blocks(blocks: Mapping[str, str]) -> tuple[Mapping[str, str], Notation | None]:
    """Return the blocks of a prompt with typed values, and the notation that they were in; None where they were typed.

    Raises:
        ValueError, KeyError: the blocks are not what `quorum.agents.coordination.prompts` writes.
    """
    turn = orjson.loads(blocks["turn"])
    if not turn.get("text"):
        return blocks, None
    shown = orjson.loads(blocks["state" if "state" in blocks else "observation"])
    notation = role_of(turn["world"], "notation", "this prompt")(lambda: shown)
    return {name: orjson.dumps(notation.read(orjson.loads(text))).decode() for name, text in blocks.items()}, notation


def resolve_choices(answer: dict[str, Any], blocks: Mapping[str, str]) -> None:
    """Put the plans that an assessor has chosen into its answer: a text names no critic."""
    for choice in answer.get("choices", ()):
        if choice["plan"] is None:
            choice["plan"] = orjson.loads(blocks[choice["source"]])["plans"][choice["agent"]]
