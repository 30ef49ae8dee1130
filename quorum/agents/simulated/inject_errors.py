"""Injects the errors that language models make in answers."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

UNKNOWN = 1_000_000
"""An id that no object on a board has, in the range of all ids."""

NOWHERE = "position[999.0, 999.0]"
"""A place outside every grid, in the notation of places."""

WRONG_TYPES: Mapping[str, object] = {
    **dict.fromkeys(("steps", "count"), 0),
    **dict.fromkeys(("block", "id", "box", "units"), "many"),
}
NOT_THERE: Mapping[str, object] = {"block": UNKNOWN, "id": UNKNOWN, "to": NOWHERE}
"""Wrong argument values by name, for all worlds: of the wrong type or out of range; or naming what does not exist."""

WAITING, WASTED = ("idle", "wait", "noop"), 5
"""Names of the action that does nothing, in all worlds, and steps of a wasted plan: `Wait(5)` of CUBE's authors."""

REFUSAL = "I'm sorry, but I can't help with that."


def change(value: dict[str, Any], bad: Mapping[str, object], rng: np.random.Generator) -> dict[str, Any] | None:
    """Set one argument of a plan in an answer to a wrong value; return None if the answer holds no plan."""
    spoilt = copy.deepcopy(value)
    found = [
        (action, name) for plan in plans_of(spoilt) for action in plan["actions"] for name in bad if name in action
    ]
    if not found:
        return None
    action, name = found[rng.integers(len(found))]
    action[name] = bad[name]
    return spoilt


def waste(value: dict[str, Any], schema: Mapping[str, Any], rate: float, rng: np.random.Generator) -> None:
    """Replace the actions of each plan by waiting, with a probability, if the schema has an action for that."""
    shown = orjson.dumps(schema).decode()
    waits = [{"action": name, "steps": WASTED} for name in WAITING if f'"const":"{name}"' in shown][:1]
    for plan in plans_of(value):
        if waits and rng.random() < rate:
            plan["actions"] = waits


def break_json(text: str, rng: np.random.Generator) -> str:
    """Break a JSON text as models do: cut off, single quotes, an extra comma, or no JSON at all."""
    match rng.integers(4):
        case 0:
            return text[: max(1, int(len(text) * rng.random()))]
        case 1:
            return text.replace('"', "'")
        case 2:
            return text[:-1] + ",,}"
        case _:
            return "I would rather wait and see what the others do."


def wrap(text: str, rng: np.random.Generator) -> str:
    """Put prose or a code fence around a JSON text."""
    match rng.integers(3):
        case 0:
            return f"```json\n{text}\n```"
        case 1:
            return f"Here is my answer:\n\n{text}"
        case _:
            return f"Let me think about this.\n\n```json\n{text}\n```\n\nI hope that this helps the team."


def plans_of(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all plans of an answer: an agent's own, or those that a planner role makes for a team."""
    entries = [*(value.get("plans") or ()), *(value.get("choices") or ())]
    found = [value.get("plan"), (value.get("decision") or {}).get("plan"), value.get("proposal")]
    return [plan for plan in (*found, *(entry["plan"] for entry in entries)) if plan is not None]
