"""The simulated model when a healer has spoken to it: it does what it is told, as far as its rules know how.

| finding | what it does |
|---|---|
| orphan, deadlock, incomplete coverage, repeated effort | plans anew, as though what it is about had failed |
| missed submission, excessive rerouting | plans for what it is about, if it is among the handlers |
| missing dependency | listens to the handler, and not to the others whose messages the remark shows |

A remark on something that it does not work on any more changes nothing. The last remark counts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from maeil.dig.patterns import Pattern
from maeil.extensions.heal.healing import HealerNote
from maeil.mind import Act, PlanView, Thought, View
from maeil.plans import PlanStatus, Task
from quorum.agents.skills import Speaker

_TAKE_UP = frozenset({Pattern.MISSED_SUBMISSION, Pattern.EXCESSIVE_REROUTING})


def answer_healed(speaker: Speaker[Any], view: View, poor: float, rng: np.random.Generator) -> Thought:
    """Answer a turn that shows remarks of healers.

    Args:
        speaker: the rules of the world.
        view: what the prompt tells, with notes.
        poor: probability that a choice is made at random; a remark is then not heeded.
        rng: for the choices of this answer.
    """
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
