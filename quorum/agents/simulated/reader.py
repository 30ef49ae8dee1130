"""The simulated reader of a run: rules that use the transcript alone.

These are rules that a person would try first, not tuned to labels. A turn is suspicious if

- its plan starts with several steps of waiting;
- it commits a plan again that has just failed or timed out;
- it commits a plan that then fails or times out, as far as that is shown;
- it may speak but is silent, and the agent spoke in its turn before.

A message that names one task claims it, and asks for any other tasks that it names: names alone tell no more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

_WAITS = re.compile(r"^(?:idle|wait|noop)\((?:.*\bsteps=(\d+))?")
_NAME = re.compile(r"\w+")
_LONG = 3
"""Minimum number of waiting steps at the start of a suspicious plan."""
_FAILED = ("failed", "timed_out")


def answer(blocks: Mapping[str, str]) -> dict[str, Any]:
    """Answer a question about a transcript.

    Raises:
        ValueError, KeyError: the blocks were not written by `blame.reader` or `results.message_judge`.
    """
    turn = orjson.loads(blocks["turn"])
    if turn["role"] == "reader_message":
        return _claims(orjson.loads(blocks["message"]), orjson.loads(blocks["tasks"]), turn["team"])
    if turn["role"] == "reader_bisection":
        first, second = (suspicions(orjson.loads(blocks[f"{half}_half"])) for half in ("first", "second"))
        return {"thoughts": "I count what is suspicious.", "half": "second" if len(second) > len(first) else "first"}
    entries = orjson.loads(blocks["transcript"])
    found = suspicions(entries)
    if turn["role"] == "reader_step_by_step":
        why = found.get(turn["turn"], "")
        return {"thoughts": "I look at the last turn.", "decisive": bool(why), "mistake": why}
    numbers = [entry["turn"] for entry in entries if "turn" in entry]
    number = min(found, default=numbers[0])
    agent = next(entry["agent"] for entry in entries if entry.get("turn") == number)
    why = found.get(number, "I find nothing, and name the first turn")
    return {"thoughts": "I take the first turn that is suspicious.", "agent": agent, "turn": number, "mistake": why}


def _claims(message: Mapping[str, Any], tasks: Mapping[str, Sequence[str]], team: Sequence[str]) -> dict[str, Any]:
    """Return what a message claims and asks, judging by the names in it."""
    words = set(_NAME.findall(message["text"]))
    named = [{"kind": kind, "target": target} for kind, some in tasks.items() for target in some if target in words]
    task = named[0] if len(named) == 1 else None
    others = [name for name in team if name in words and name != message["from"]] if task is not None else []
    asks = [{"agent": name, "task": task} for name in others]
    return {"thoughts": "I go by the names.", "task": None if asks else task, "asks": asks}


def suspicions(entries: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Return the suspicious turns by number, in order, each with the reason."""
    found: dict[int, str] = {}
    last: dict[str, Mapping[str, Any]] = {}
    spoke: dict[str, bool] = {}
    failed: dict[str, Sequence[str]] = {}
    for entry in entries:
        agent = entry.get("agent", "")
        if "turn" in entry:
            plan = entry.get("plans")
            if plan is not None:
                if _waits(plan["actions"]) >= _LONG:
                    found[entry["turn"]] = "it begins with waiting"
                elif plan["actions"] == failed.get(agent):
                    found[entry["turn"]] = "it repeats what has failed"
                last[agent] = entry
            if "speak" in entry["may"]:
                if spoke.get(agent) and "says" not in entry:
                    found.setdefault(entry["turn"], "it is silent now")
                spoke[agent] = "says" in entry
        elif entry.get("plan") in _FAILED and agent in last:
            found.setdefault(last[agent]["turn"], f"its plan has ended as {entry['plan']}")
            failed[agent] = last[agent]["plans"]["actions"]
    return dict(sorted(found.items()))


def _waits(actions: Sequence[str]) -> int:
    """Count the waiting steps at the start of a plan."""
    steps = 0
    for action in actions:
        waits = _WAITS.match(action)
        if waits is None:
            break
        steps += int(waits[1] or 1)
    return steps
