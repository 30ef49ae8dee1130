"""Values that are drawn to fit a schema: every choice in them is uniform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import orjson
import pytest

from quorum.agents.prompting.instances import random_instance

GO = {"properties": {"action": {"const": "go"}, "way": {"enum": ["up", "down"]}, "id": {"minimum": 3, "maximum": 14}}}
WAIT = {"properties": {"action": {"const": "wait"}, "alone": {"type": "boolean"}}}
ENTRY = {"properties": {"agent": {"enum": ["a", "b"]}, "plan": {"enum": [1, 2]}}}


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Make an object of which every property is required, its numbers whole."""
    properties = {
        name: {"type": "integer", **part} if "minimum" in part else part for name, part in schema["properties"].items()
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


FORM = {"type": "array", "minItems": 1, "maxItems": 8, "items": {"anyOf": [{"$ref": "#/$defs/Go"}, closed(WAIT)]}}
DEFINITIONS = {"Go": closed(GO)}


def expected(longest: int) -> Iterator[tuple[bytes, float]]:
    """Enumerate what can be drawn, with its probability: each node by itself, without the code that draws."""
    ways = [({"action": "go", "way": way, "id": number}, 1 / 48) for way in ("up", "down") for number in range(3, 15)]
    actions = [*ways, *(({"action": "wait", "alone": alone}, 1 / 4) for alone in (True, False))]
    for length in range(1, longest + 1):
        for drawn in product(actions, repeat=length):
            yield orjson.dumps([action for action, _ in drawn]), float(np.prod([p for _, p in drawn])) / longest


def test_every_value_is_drawn_as_often_as_its_choices_say() -> None:
    rng, draws = np.random.default_rng(0), 20_000
    found = Counter(orjson.dumps(random_instance(FORM, DEFINITIONS, rng, 2)) for _ in range(draws))
    known = dict(expected(2))
    assert found.keys() <= known.keys()
    assert sum(known.values()) == pytest.approx(1)
    statistic = sum((found[value] - p * draws) ** 2 / (p * draws) for value, p in known.items())
    freedom = len(known) - 1
    assert abs(statistic - freedom) < 3 * np.sqrt(2 * freedom), "chi-square, three standard deviations"


def test_a_number_without_an_upper_bound_is_one_of_the_ten_smallest() -> None:
    rng = np.random.default_rng(0)
    assert {random_instance({"type": "integer", "minimum": 1}, {}, rng) for _ in range(500)} == set(range(1, 11))


def test_a_list_about_agents_names_each_once() -> None:
    rng, schema = np.random.default_rng(0), {"type": "array", "items": closed(ENTRY)}
    found = [random_instance(schema, {}, rng, 3) for _ in range(200)]
    about = [[entry["agent"] for entry in entries] for entries in found]
    assert {len(names) for names in about} == {0, 1, 2}
    assert all(len(set(names)) == len(names) for names in about)
