"""The form of an answer in fewer characters: what is referred to once stands where it is referred to.

Providers that take a schema read it with every prompt, so its characters are paid for like those of the words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson

from quorum.agents.prompting.answers import PLAN


def compact(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema that takes the same values, to be read only.

    A definition that is referred to once is put in that place, and one that nothing refers to is left out. The plan
    stays a definition, since who reads a form finds it by its name.
    """
    return _compact(orjson.dumps(schema))


@lru_cache(maxsize=256)
def _compact(schema: bytes) -> Mapping[str, Any]:
    whole: dict[str, Any] = orjson.loads(schema)
    definitions = whole.pop("$defs", {})
    uses = _uses(whole, definitions)
    once = {name: definitions[name] for name, count in uses.items() if count == 1 and name != PLAN}
    kept = {name: _inlined(part, once) for name, part in definitions.items() if uses[name] and name not in once}
    found: Mapping[str, Any] = _inlined(whole, once)
    return {"$defs": kept, **found} if kept else found


def _uses(whole: Any, definitions: Mapping[str, Any]) -> Counter[str]:
    """Count how often each definition is referred to, by all that the whole leads to."""
    uses: Counter[str] = Counter()
    open_parts = [whole]
    while open_parts:
        for name in _names(open_parts.pop()):
            uses[name] += 1
            if uses[name] == 1:
                open_parts.append(definitions[name])
    return uses


def _names(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            yield _name(part)
        for value in part.values():
            yield from _names(value)
    elif isinstance(part, list):
        for value in part:
            yield from _names(value)


def _inlined(part: Any, once: Mapping[str, Any]) -> Any:
    # It comes to an end: of a circle of references that the whole leads to, one is referred to from outside as well.
    if isinstance(part, dict):
        if "$ref" in part and _name(part) in once:
            return _inlined(once[_name(part)], once)
        return {key: _inlined(value, once) for key, value in part.items()}
    return [_inlined(value, once) for value in part] if isinstance(part, list) else part


def _name(reference: Mapping[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
