"""The simulated model's part in a repair.

It announces its plan and follows advice. Without advice, it plans from scratch, using its observation and the messages
in the channel. If it only receives a notice, it resumes its plan unless that plan is expected to fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from maeil.actions import Vocabulary
from maeil.judging import Advice, Violation
from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Note, PlanView, Resume, Thought, View
from maeil.plans import Plan, PlanStatus, Task
from maeil.tasks import Constraint
from quorum.agents.answer_parts import AnswerPart, Asked
from quorum.agents.simulated.reading import read_calls
from quorum.methods.repair.rules import Notice
from quorum_base.names import unfold_names


class RepairPart(AnswerPart):
    """Repair adds no key to answers: its notes change what a model decides."""

    name = "repair"

    def note(self, blocks: Mapping[str, str], index: Mapping[str, int], vocabulary: Vocabulary) -> Note | None:
        """Parse the notice."""
        if "repair" not in blocks:
            return None
        notice = _notice(orjson.loads(blocks["repair"]), index, vocabulary)
        return Note(self.name, notice, "", None, Path(), notice.channel, replan=notice.replan)

    def thinks(self, asked: Asked) -> Thought | None:
        """Answer a turn that shows a repair; a poor choice ignores the advice."""
        return _answer(asked, asked.view.noted(self.name)[0]) if asked.view.noted(self.name) else None


def _notice(data: Mapping[str, Any], index: Mapping[str, int], vocabulary: Vocabulary) -> Notice:
    """Parse a notice; plan ids stay empty, because no prompt shows them."""

    def agents(shown: Sequence[str]) -> tuple[int, ...]:
        return tuple(index[name] for name in unfold_names(shown))

    def advised(plan: Mapping[str, Any]) -> Plan:
        task = Task(**plan["task"]) if "task" in plan else None
        return Plan(tuple(vocabulary.parse(action) for action in plan["actions"]), task, "as advised")

    def failure(shown: Mapping[str, Any]) -> Violation:
        task, constraint = Task(**shown["task"]), Constraint(shown["constraint"])
        return Violation(task, constraint, agents(shown["agents"]), shown["expected"], shown["needed"])

    def judged(shown: Mapping[str, Any]) -> PlanView:
        task = Task(**shown["task"]) if shown["task"] is not None else None
        return PlanView("", task, read_calls(shown["actions"], vocabulary), shown["actions_done"], PlanStatus.COMMITTED)

    advice = None
    if (shown := data.get("advice")) is not None:
        advice = Advice(Task(**shown["task"]), {index[name]: advised(plan) for name, plan in shown["plans"].items()})
    return Notice(
        tuple(map(failure, data["failures"])),
        {index[name]: judged(shown) for name, shown in data["plans"].items()},
        agents(data["channel"]),
        data["plan_anew"],
        advice,
    )


def _answer(asked: Asked, notice: Notice) -> Thought:
    speaker, view, chooser = asked.speaker, asked.view, asked.chooser
    advised = notice.advice.plans.get(view.agent) if notice.advice is not None else None
    if advised is not None and chooser.is_poor():
        advised = None
    fresh = replace(view, plan=None, notes=())
    if Act.PLAN not in view.turn.acts:
        if advised is not None and notice.advice is not None:
            said = _promise(view, f"I take part in {notice.advice.task}, as advised.", notice.advice.task)
            return Thought(messages=(said,))
        drafts = speaker.answer(fresh, chooser).messages
        return Thought(messages=drafts[:1] or (_promise(view, "I plan anew by what you say."),))
    if advised is not None:
        return Thought(advised)
    concerned = any(view.agent in failure.agents for failure in notice.failures)
    if view.plan is not None and not notice.replan and not concerned:
        return Thought(Resume.RESUME)
    return Thought(speaker.answer(fresh, chooser).decision)


def _promise(view: View, text: str, task: Task | None = None) -> Draft:
    return Draft(view.turn.recipients, text, MessageKind.INFORM, task, ())


part = RepairPart()
