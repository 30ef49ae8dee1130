"""Reads the notes of extensions back out of a prompt, as a model would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from maeil.actions import Vocabulary
from maeil.dig.patterns import Pattern
from maeil.extensions.describe.descriptors import Need
from maeil.extensions.heal.healing import HealerNote
from maeil.extensions.repair.rules import Advice, JudgedPlan, Notice, Violation
from maeil.mind import Note
from maeil.names import unfold_names
from maeil.plans import Plan, Task
from maeil.tasks import Constraint


def read_notes(blocks: Mapping[str, str], index: Mapping[str, int], vocabulary: Vocabulary) -> tuple[Note, ...]:
    """Read the notes of the extensions that ship with the loop.

    Args:
        blocks: of a prompt by name, as JSON.
        index: of each participant, by its name.
        vocabulary: of advised plans.

    Raises:
        KeyError, ValueError: a block is not what its extension writes.
    """
    found = []
    if "repair" in blocks:
        notice = _notice(orjson.loads(blocks["repair"]), index, vocabulary)
        found.append(_note("repair", notice, notice.channel, replan=notice.replan))
    if "needs" in blocks:
        found.append(_note("describe", _needs(orjson.loads(blocks["needs"]), index)))
    if "healer" in blocks:
        found.append(_note("heal", _said(orjson.loads(blocks["healer"]), index)))
    return tuple(found)


def _note(source: str, content: object, agents: tuple[int, ...] = (), *, replan: bool = False) -> Note:
    return Note(source, content, "", None, Path(), agents, replan=replan)


def _needs(shown: Mapping[str, Any], index: Mapping[str, int]) -> tuple[tuple[int, Need], ...]:
    return tuple((index[name], Need(need["text"], tuple(need["tasks"]))) for name, need in shown.items())


def _said(data: Sequence[Mapping[str, Any]], index: Mapping[str, int]) -> tuple[HealerNote, ...]:
    return tuple(
        HealerNote(
            number=number,
            healer=Pattern(shown["finding"]),
            text=shown["says"],
            subject=shown.get("about", ""),
            handlers=tuple(index[name] for name in unfold_names(shown.get("handlers", ()))),
            messages=tuple((index[name], text) for name, text in shown.get("messages", ())),
        )
        for number, shown in enumerate(data)
    )


def _notice(data: Mapping[str, Any], index: Mapping[str, int], vocabulary: Vocabulary) -> Notice:
    """Read what a repair shows, except for the ids of plans, which no prompt shows."""

    def agents(told: Sequence[str]) -> tuple[int, ...]:
        return tuple(index[name] for name in unfold_names(told))

    def advised(plan: Mapping[str, Any]) -> Plan:
        task = Task(**plan["task"]) if "task" in plan else None
        return Plan(tuple(vocabulary.parse(action) for action in plan["actions"]), task, "as advised")

    def failure(told: Mapping[str, Any]) -> Violation:
        task, constraint = Task(**told["task"]), Constraint(told["constraint"])
        return Violation(task, constraint, agents(told["agents"]), told["expected"], told["needed"])

    def judged(name: str, told: Mapping[str, Any]) -> JudgedPlan:
        task = Task(**told["task"]) if told["task"] is not None else None
        return JudgedPlan(index[name], "", task, tuple(told["actions"]), told["actions_done"])

    advice = None
    if (told := data.get("advice")) is not None:
        advice = Advice(Task(**told["task"]), {index[name]: advised(plan) for name, plan in told["plans"].items()})
    return Notice(
        tuple(map(failure, data["failures"])),
        tuple(judged(name, told) for name, told in data["plans"].items()),
        agents(data["channel"]),
        data["plan_anew"],
        advice,
    )
