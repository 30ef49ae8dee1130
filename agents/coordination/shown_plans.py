"""Plans of several agents as a prompt shows them: actions as calls, and agents that have the same plan in one entry.

    {"agent_0": {"actions": [{"action": "idle", "steps": 1}], "task": {"kind": "clear", "target": "x"}},
     "agent_1": (the same)}
 -> {"agent_0, agent_1": {"actions": ["idle(steps=1)"], "task": "clear:x"}}

A joint plan of a large team is most of what its planners read, and teams have one plan for all their members.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from maeil.names import fold_names, unfold_names

_KEYS = frozenset({"actions", "task", "rationale", "status", "reason"})
"""What a plan may consist of, with what came of it."""
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_BETWEEN = re.compile(r", (?=\w+=)")
_AND = ", "


def show_plans(value: Any) -> Any:
    """Write the plans in a value, which is made of mappings, lists and anything else, as a prompt shows them."""
    if isinstance(value, Mapping):
        if _is_plan(value):
            return _show(value)
        if value and all(map(_is_plan, value.values())):
            return _together({name: _show(plan) for name, plan in value.items()})
        return {key: show_plans(part) for key, part in value.items()}
    return [show_plans(part) for part in value] if isinstance(value, list | tuple) else value


def read_plans_shown(value: Any) -> Any:
    """Read the plans in a value: the inverse of `show_plans`, but for tuples, and tasks without a name."""
    if isinstance(value, Mapping):
        if _is_plan(value):
            return _read(value)
        if value and all(map(_is_plan, value.values())):
            names = {name: plan for among, plan in value.items() for name in unfold_names(among.split(_AND))}
            return {name: _read(plan) for name, plan in names.items()}
        return {key: read_plans_shown(part) for key, part in value.items()}
    return [read_plans_shown(part) for part in value] if isinstance(value, list) else value


def _is_plan(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("actions"), list | tuple) and value.keys() <= _KEYS


def _together(plans: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Give agents of equal plans one entry, in the order of the first of them."""
    teams: dict[bytes, list[str]] = {}
    for name, plan in plans.items():
        teams.setdefault(orjson.dumps(plan, option=orjson.OPT_SORT_KEYS), []).append(name)
    return {_AND.join(fold_names(team)): plans[team[0]] for team in teams.values()}


def _show(plan: Mapping[str, Any]) -> dict[str, Any]:
    """A plan without what there is nothing to say about."""
    task, actions = plan.get("task"), plan["actions"]
    shown = {key: part for key, part in plan.items() if part not in (None, "")}
    shown["actions"] = [_call(action) if isinstance(action, Mapping) else action for action in actions]
    return {**shown, "task": f"{task['kind']}:{task['target']}"} if isinstance(task, Mapping) else shown


def _read(plan: Mapping[str, Any]) -> dict[str, Any]:
    read = {**plan, "actions": [_action(call) if isinstance(call, str) else call for call in plan["actions"]]}
    if isinstance(plan.get("task"), str):
        kind, _, target = plan["task"].partition(":")
        read["task"] = {"kind": kind, "target": target}
    return read


def _call(action: Mapping[str, Any]) -> str:
    given = (f"{key}={_word(value)}" for key, value in action.items() if key != "action")
    return f"{action['action']}({_AND.join(given)})"


def _action(call: str) -> Any:
    found = _CALL.fullmatch(call)
    if found is None:
        return call
    given = (pair.partition("=") for pair in _BETWEEN.split(found[2]) if pair)
    return {"action": found[1], **{key: _value(word) for key, _, word in given}}


def _word(value: Any) -> str:
    """A value as JSON; a text that cannot be taken for anything else stands without quotes."""
    if isinstance(value, str) and _value(value) == value and len(_BETWEEN.split(value)) == 1:
        return value
    return orjson.dumps(value).decode().replace("=", "\\u003d")  # so that no argument seems to begin in a text


def _value(word: str) -> Any:
    try:
        return orjson.loads(word)
    except ValueError:
        return word
