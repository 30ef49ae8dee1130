"""Samples actions and plans from the schemas of a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from pydantic import ValidationError

from maeil.actions import SymbolicAction, Vocabulary
from maeil.plans import Plan

SPREAD = 4
"""Range of sampled numbers, starting at the smallest number that the schema allows."""

TRIES = 50
"""Maximum number of samples for an action until one passes its validators."""

LONGEST = 3
"""Maximum number of actions in a plan."""


class ActionSampler:
    """Samples actions and plans.

    Args:
        vocabulary: the actions.
        examples: actions to choose from, for actions with a schema that does not describe all valid values.
    """

    def __init__(self, vocabulary: Vocabulary, examples: Sequence[SymbolicAction]) -> None:
        self._vocabulary = vocabulary
        self._schemas = {model: model.model_json_schema() for model in vocabulary}
        self._examples = {model: [action for action in examples if type(action) is model] for model in vocabulary}

    def plan(self, agent: int, rng: Random) -> Plan:
        """Sample a plan of one to three actions for an agent."""
        models = tuple(self._vocabulary.of(agent))
        return Plan(tuple(self.action(rng.choice(models), rng) for _ in range(rng.randint(1, LONGEST))))

    def action(self, model: type[SymbolicAction], rng: Random) -> SymbolicAction:
        """Sample an action.

        Raises:
            ValueError: no valid action can be sampled from the schema, and there is no example.
        """
        if examples := self._examples[model]:
            return rng.choice(examples)
        schema = self._schemas[model]
        for _ in range(TRIES):
            try:
                return model.model_validate(_draw(schema, schema.get("$defs", {}), rng))
            except ValidationError:
                continue
        name = model.model_fields["action"].default
        raise ValueError(f"cannot draw a valid {name!r} from its schema: pass examples to check_world as `actions`")


def _draw(schema: Mapping[str, Any], definitions: Mapping[str, Any], rng: Random) -> Any:
    """Sample a value that fits the ranges and choices of a schema."""
    match schema:
        case {"$ref": str(reference)}:
            return _draw(definitions[reference.rpartition("/")[2]], definitions, rng)
        case {"const": value}:
            return value
        case {"enum": values}:
            return rng.choice(values)
        case {"anyOf": options} | {"oneOf": options}:
            return _draw(rng.choice(options), definitions, rng)
        case {"type": "object", "properties": properties}:
            required = schema.get("required", ())
            chosen = [name for name in properties if name in required or rng.random() < 0.5]
            return {name: _draw(properties[name], definitions, rng) for name in chosen}
        case {"type": "array", "prefixItems": parts}:
            return [_draw(part, definitions, rng) for part in parts]
        case {"type": "array", "items": part}:
            return [_draw(part, definitions, rng) for _ in range(max(schema.get("minItems", 1), 1))]
        case {"type": "integer" | "number" as kind}:
            low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
            high = min(schema.get("maximum", low + SPREAD), low + SPREAD)
            return rng.randint(low, high) if kind == "integer" else rng.uniform(low, high)
        case {"type": "boolean"}:
            return rng.random() < 0.5
        case {"type": "string"}:
            return "text"
    return None
