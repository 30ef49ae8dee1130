"""Notices of a repair in a prompt: how they are told, and how they are read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maeil.actions import Vocabulary
from maeil.notices import Advice, JudgedPlan, Notice, Violation
from maeil.plans import Plan, Task
from maeil.tasks import Constraint
from quorum.agents.prompting.answers import part_value
from quorum.agents.prompting.names import fold_names, unfold_names


def write_notice(notice: Notice, names: Sequence[str]) -> dict[str, object]:
    """Return a notice as it is told, JSON-ready: what fails, whose plans, who takes part, and what is advised.

    Args:
        notice: the notice.
        names: of all participants by index.
    """

    def named(agents: Sequence[int]) -> Sequence[str]:
        return fold_names([names[agent] for agent in agents])

    told: dict[str, object] = {
        "failures": [
            {
                "task": _written(failure.task),
                "constraint": failure.constraint.value,
                "agents": named(failure.agents),
                "expected": failure.expected,
                "needed": failure.needed,
            }
            for failure in notice.failures
        ],
        "plans": {
            names[judged.agent]: {"task": _written(judged.task), "actions": judged.actions, "actions_done": judged.done}
            for judged in notice.plans
        },
        "channel": named(notice.channel),
        "plan_anew": notice.replan,
    }
    if notice.advice is not None:
        plans = {names[agent]: part_value(plan) for agent, plan in notice.advice.plans.items()}
        told["advice"] = {"task": _written(notice.advice.task), "plans": plans}
    return told


def read_notice(data: Mapping[str, Any], index: Mapping[str, int], vocabulary: Vocabulary) -> Notice:
    """Read what `write_notice` writes, but for the ids of plans, which no prompt shows.

    Args:
        data: a notice as it is told.
        index: of each agent, by its name.
        vocabulary: of advised plans.

    Raises:
        KeyError, ValueError: it is not what is written.
    """

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


def _written(task: Task | None) -> dict[str, str] | None:
    return {"kind": task.kind, "target": task.target} if task is not None else None
