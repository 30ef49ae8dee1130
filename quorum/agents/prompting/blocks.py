"""The data in a prompt: blocks of one JSON value each, between markers that text written by a model cannot forge.

    <observation>
    {"agents":[[3,0],[5,0]], ...}
    </observation>

Each value is one line of JSON in which `<` and all line-ending characters are escaped. So no text inside a value can
close its block, open another, or start a line of the prompt, and a reader can find the blocks again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import orjson
from pydantic import BaseModel

_LINE_ENDS_AND_MARKERS = str.maketrans(
    {"<": "\\u003c", "\x7f": "\\u007f", "\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
BLOCK = re.compile(r"^<([a-z_]+)>\n(.*)\n</\1>$", re.MULTILINE)
"""A block: its name and its JSON."""


def write_json(value: object) -> str:
    """Write a value as one line of JSON, with sorted keys and escaped markers; equal values give equal text.

    A value with a method `shown()`, such as an observation, is replaced by its result, at any depth.

    Raises:
        TypeError: the value is not JSON-ready.
    """
    text = orjson.dumps(value, default=_plain, option=_OPTIONS).decode()
    return text.translate(_LINE_ENDS_AND_MARKERS)


def write_example(answer: Mapping[str, object]) -> str:
    """Write an example answer as one line of JSON, with its keys in the wanted order."""
    return orjson.dumps(answer).decode().translate(_LINE_ENDS_AND_MARKERS)


def write_block(name: str, value: object) -> str:
    """Write a value as a block."""
    return f"<{name}>\n{write_json(value)}\n</{name}>"


def read_value(block: str) -> Any:
    """Read the value of a block, for templates that show a part of it; None if the block also contains words."""
    found = BLOCK.fullmatch(block)
    return orjson.loads(found[2]) if found is not None else None


def read_blocks(text: str) -> Mapping[str, str]:
    """Find the blocks of a text: name to JSON. If a name appears twice, the first block counts."""
    found: dict[str, str] = {}
    for name, content in BLOCK.findall(text):
        found.setdefault(name, content)
    return found


def _plain(value: object) -> Any:
    if hasattr(value, "shown"):
        return value.shown()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Sequence):  # such as a history that shares its rounds
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON-ready")
