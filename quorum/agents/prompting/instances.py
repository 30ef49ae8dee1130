"""Values that match a JSON schema of typed answers: the smallest one, or a random one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

LARGEST = 100_000
"""Maximum total of values and characters in an instance, because a schema can require any number of them."""
DEEPEST = 100
"""Maximum nesting depth of values and references, because a schema can refer to itself."""
_WIDTH = 10
"""Maximum number of lengths of a list, or of values of a number without an upper bound, to draw from."""
_MOST = 2**63 - 1


def minimal_instance(schema: Mapping[str, Any]) -> Any:
    """Return the smallest matching value, for the part of JSON Schema that typed answers use.

    Raises:
        ValueError: the schema has an unsupported type or bound, or no small enough value matches.
    """
    return _made(schema, lambda: schema.get("$defs", {}), lambda _choices: 0)


def random_instance(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], rng: np.random.Generator, longest: int = _WIDTH
) -> Any:
    """Draw a matching value, with a uniform distribution at each choice.

    Numbers have any value within their bounds, or one of the ten smallest if they have no upper bound; lists have any
    length up to the longest. Texts are fixed. A list whose entries start with `agent` names each agent once: repeated
    draws of an agent keep its first entry.

    Args:
        schema: schema of the value.
        definitions: definitions that its references name.
        rng: random generator.
        longest: maximum list entries, unless the schema requires more.

    Raises:
        ValueError: as for `minimal_instance`.
    """
    return _made(schema, lambda: definitions, lambda choices: int(rng.integers(choices)), longest)


def resolved(schema: Mapping[str, Any], definitions: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the definition that a schema refers to; other schemas are unchanged."""
    return definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def with_words(schema: Any, words: Collection[str]) -> Any:
    """Return a schema in which texts with a pattern are limited to the given words that match it, if any."""
    if isinstance(schema, list):
        return [with_words(part, words) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("pattern"), str) and (
        fitting := sorted(filter(re.compile(schema["pattern"]).search, words))
    ):
        return {"enum": fitting}
    return {key: with_words(part, words) for key, part in schema.items()}


def _made(
    schema: Any, definitions: Callable[[], Mapping[str, Any]], choose: Callable[[int], int], longest: int = _WIDTH
) -> Any:
    """Make a value; `choose` picks one of a number of options, of which 0 is the smallest."""
    try:
        return _Maker(dict(definitions()), choose, longest).value(schema)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"it is not a schema: {type(error).__name__}: {error}") from error


@dataclass
class _Maker:
    definitions: Mapping[str, Any]
    choose: Callable[[int], int]
    longest: int
    left: int = LARGEST

    def value(self, schema: Any, depth: int = 0) -> Any:
        self._take(1)
        if depth > DEEPEST:
            raise ValueError(f"the value would be nested more than {DEEPEST} levels deep")
        if "$ref" in schema:
            return self.value(self.definitions[schema["$ref"].rpartition("/")[2]], depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._one_of(schema, "enum")
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.value(self._one_of(schema, key), depth + 1)
        match schema.get("type"):
            case "object":
                wanted = list(schema.get("required", []))
                properties = schema.get("properties", {}).items()
                return {name: self.value(part, depth + 1) for name, part in properties if name in wanted}
            case "array":
                length = self._length(schema)
                self._take(length)
                return one_each([self.value(schema.get("items"), depth + 1) for _ in range(length)])
            case "string":
                least, most = _bound(schema, "minLength"), _bound(schema, "maxLength")
                self._take(int(least or 0))
                return "simulated"[: None if most is None else int(most)].ljust(int(least or 0), ".")
            case "integer" | "number":
                return self._number(schema)
            case "boolean":
                return not self.choose(2)
            case "null":
                return None
        raise ValueError(f"no known value fits the type {schema.get('type')!r}")

    def _take(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise ValueError(f"the smallest value that fits has more than {LARGEST} parts and characters")

    def _one_of(self, schema: Mapping[str, Any], key: str) -> Any:
        choices = schema[key]
        if not isinstance(choices, list):
            raise ValueError(f"{key}: a list of choices is needed")
        return choices[self.choose(len(choices))]

    def _length(self, schema: Mapping[str, Any]) -> int:
        least = math.ceil(_bound(schema, "minItems") or 0)
        most = _bound(schema, "maxItems")
        longest = self.longest if most is None else min(int(most), self.longest)
        return least + self.choose(max(longest - least, 0) + 1)

    def _number(self, schema: Mapping[str, Any]) -> int:
        """Make an integer within the bounds of a schema, which may be exclusive."""
        low, above = _bound(schema, "minimum"), _bound(schema, "exclusiveMinimum")
        high, below = _bound(schema, "maximum"), _bound(schema, "exclusiveMaximum")
        if low is None:
            low = 0 if above is None else above + 1
        if high is None:
            high = low + _WIDTH - 1 if below is None else below - 1
        return math.ceil(low) + self.choose(max(int(high - low) + 1, 1))


def one_each(entries: list[Any]) -> list[Any]:
    """Keep only the first entry about each agent."""
    about: dict[object, Any] = {}
    for place, entry in enumerate(entries):
        by_agent = isinstance(entry, dict) and next(iter(entry), "") == "agent"
        about.setdefault(entry["agent"] if by_agent else place, entry)
    return list(about.values())


def _bound(schema: Mapping[str, Any], key: str) -> int | float | None:
    bound = schema.get(key)
    if bound is None:
        return None
    negative = isinstance(bound, int | float) and bound < 0 and key.endswith(("Items", "Length"))
    if isinstance(bound, bool) or not isinstance(bound, int | float) or abs(bound) > _MOST or negative:
        raise ValueError(f"{key}: {bound!r} is not a bound")
    return bound
