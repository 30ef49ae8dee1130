"""Reads the notes of extensions in a prompt, and answers the turns that show a repair.

In a repair the model says what it is going to do, and does as advised where it is advised. Without advice it plans as
though it had no plan, by what it sees and has heard in the channel. If it only learns what will fail, it goes on when
the failure is not of its plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from maeil.actions import Vocabulary
from maeil.extensions.describe.descriptors import Need
from maeil.extensions.repair.rules import Advice, JudgedPlan, Notice, Violation
from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Note, Resume, Thought, View
from maeil.names import unfold_names
from maeil.plans import Plan, Task
from maeil.tasks import Constraint
from quorum.agents.skills import Speaker


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
    return tuple(found)


def _note(source: str, content: object, agents: tuple[int, ...] = (), *, replan: bool = False) -> Note:
    return Note(source, content, "", None, Path(), agents, replan=replan)


def _needs(shown: Mapping[str, Any], index: Mapping[str, int]) -> tuple[tuple[int, Need], ...]:
    return tuple((index[name], Need(need["text"], tuple(need["tasks"]))) for name, need in shown.items())


def _notice(data: Mapping[str, Any], index: Mapping[str, int], vocabulary: Vocabulary) -> Notice:
    """Read what a repair shows, except for the ids of plans, which no prompt shows."""

    def agents(shown: Sequence[str]) -> tuple[int, ...]:
        return tuple(index[name] for name in unfold_names(shown))

    def advised(plan: Mapping[str, Any]) -> Plan:
        task = Task(**plan["task"]) if "task" in plan else None
        return Plan(tuple(vocabulary.parse(action) for action in plan["actions"]), task, "as advised")

    def failure(shown: Mapping[str, Any]) -> Violation:
        task, constraint = Task(**shown["task"]), Constraint(shown["constraint"])
        return Violation(task, constraint, agents(shown["agents"]), shown["expected"], shown["needed"])

    def judged(name: str, shown: Mapping[str, Any]) -> JudgedPlan:
        task = Task(**shown["task"]) if shown["task"] is not None else None
        return JudgedPlan(index[name], "", task, tuple(shown["actions"]), shown["actions_done"])

    advice = None
    if (shown := data.get("advice")) is not None:
        advice = Advice(Task(**shown["task"]), {index[name]: advised(plan) for name, plan in shown["plans"].items()})
    return Notice(
        tuple(map(failure, data["failures"])),
        tuple(judged(name, shown) for name, shown in data["plans"].items()),
        agents(data["channel"]),
        data["plan_anew"],
        advice,
    )


def answer_repair(speaker: Speaker[Any], view: View, poor: float, rng: np.random.Generator) -> Thought:
    """Answer a turn that shows a repair.

    Args:
        speaker: the rules of the world.
        view: what the prompt shows, with notes.
        poor: probability that a choice is made at random; advice is then not followed.
        rng: for the choices of this answer.
    """
    (notice,) = view.noted("repair")
    advised = notice.advice.plans.get(view.agent) if notice.advice is not None else None
    if advised is not None and poor and rng.random() < poor:
        advised = None
    fresh = replace(view, plan=None, notes=())
    if Act.PLAN not in view.turn.acts:
        if advised is not None and notice.advice is not None:
            return Thought(messages=(_promise(view, f"I take part in {notice.advice.task}, as advised."),))
        said = speaker.answer(fresh, poor, rng).messages
        return Thought(messages=said[:1] or (_promise(view, "I plan anew by what you say."),))
    if advised is not None:
        return Thought(advised)
    concerned = any(view.agent in failure.agents for failure in notice.failures)
    if view.plan is not None and not notice.replan and not concerned:
        return Thought(Resume.RESUME)
    return Thought(speaker.answer(fresh, poor, rng).decision)


def _promise(view: View, text: str) -> Draft:
    return Draft(view.turn.recipients, text, MessageKind.INFORM)
