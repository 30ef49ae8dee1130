"""Reads the notes of extensions in a prompt, and answers the turns that show them: of repairs and of healers.

In a repair the model says what it is going to do, and does as advised where it is advised. Without advice it plans as
though it had no plan, by what it sees and has heard in the channel. If it only learns what will fail, it goes on when
the failure is not of its plan.

When a healer has spoken to it, it follows the remark as far as its rules know how:

| finding | what it does |
|---|---|
| orphan, deadlock, incomplete coverage, repeated effort | plans again, as though what it is about had failed |
| missed submission, excessive rerouting | plans for what it is about, if it is among the handlers |
| missing dependency | listens to the handler, and not to the others whose messages the remark shows |

A remark on something that it does not work on any more changes nothing. The last remark counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from maeil.actions import Vocabulary
from maeil.dig.patterns import Pattern
from maeil.extensions.describe.descriptors import Need
from maeil.extensions.heal.healing import HealerNote
from maeil.extensions.repair.rules import Advice, JudgedPlan, Notice, Violation
from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Note, PlanView, Resume, Thought, View
from maeil.names import unfold_names
from maeil.plans import Plan, PlanStatus, Task
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


def answer_noted(speaker: Speaker[Any], view: View, poor: float, rng: np.random.Generator) -> Thought:
    """Answer a turn that shows a repair, or remarks of healers.

    Args:
        speaker: the rules of the world.
        view: what the prompt shows, with notes.
        poor: probability that a choice is made at random; advice or a remark is then not followed.
        rng: for the choices of this answer.
    """
    return (_answer_repair if view.noted("repair") else _answer_healed)(speaker, view, poor, rng)


def _answer_repair(speaker: Speaker[Any], view: View, poor: float, rng: np.random.Generator) -> Thought:
    """Answer a turn of a repair."""
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


_TAKE_UP = frozenset({Pattern.MISSED_SUBMISSION, Pattern.EXCESSIVE_REROUTING})


def _answer_healed(speaker: Speaker[Any], view: View, poor: float, rng: np.random.Generator) -> Thought:
    """Answer a turn that shows remarks of healers."""
    if poor and rng.random() < poor:
        return speaker.answer(view, poor, rng)
    note = view.noted("heal")[-1][-1]
    if note.healer in _TAKE_UP:
        return _take_up(speaker, view, note, poor, rng)
    if note.healer is Pattern.MISSING_DEPENDENCY:
        return speaker.answer(_listening(view, note), poor, rng)
    return speaker.answer(_without(view, note), poor, rng)


def _take_up(speaker: Speaker[Any], view: View, note: HealerNote, poor: float, rng: np.random.Generator) -> Thought:
    thought = speaker.answer(view, poor, rng)
    plan = speaker.toward(view, note.subject) if view.agent in note.handlers else None
    if plan is None or Act.PLAN not in view.turn.acts:
        return thought
    return replace(thought, decision=plan)


def _listening(view: View, note: HealerNote) -> View:
    """A view that shows only those of the messages in question that a handler has sent."""
    left_out = {text for sender, text in note.messages if sender not in note.handlers}
    unread, memory = (
        tuple(message for message in messages if message.content not in left_out)
        for messages in (view.unread, view.memory)
    )
    return replace(view, unread=unread, memory=memory)


def _without(view: View, note: HealerNote) -> View:
    """A view in which the live plan has failed, where the remark is about what it is for."""
    plan = view.plan
    if plan is None or (note.subject and (plan.task is None or not _is_about(plan.task, note.subject))):
        return view
    failed = PlanView(plan.id, plan.task, plan.actions, plan.done, PlanStatus.FAILED, note.healer)
    return replace(view, plan=None, outcomes=(*view.outcomes, failed))


def _is_about(task: Task, subject: str) -> bool:
    return task.target.partition("/")[0] == subject
