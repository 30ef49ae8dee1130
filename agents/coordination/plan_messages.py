"""What planners and agents write to each other, as JSON: joint plans, and objections to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from maeil.actions import Vocabulary
from maeil.messages import Draft, Message, MessageKind
from maeil.plans import Plan, Task
from quorum.agents.coordination.joint import named
from quorum.agents.prompting.answers import part_value


@dataclass(frozen=True, slots=True)
class Objection:
    """An agent's feedback on its part of a joint plan.

    Attributes:
        agent: who objects.
        code: the rule that its part breaks; empty where no rule was asked.
        problem: what the rule found.
        issue: what the agent's model finds wrong; empty when that gave no answer.
        proposal: the plan that it would have instead.
    """

    agent: int
    code: str = ""
    problem: str = ""
    issue: str = ""
    proposal: Plan | None = None


def directive(recipients: Sequence[int], plans: Mapping[int, Plan], names: Sequence[str]) -> Draft:
    """Write a suggestion to those whom it concerns: each reads its own part, and who its partners are."""
    content = {"suggestions": named(plans, names)}
    return Draft(tuple(recipients), orjson.dumps(content).decode(), MessageKind.DIRECTIVE)


def read_directive(message: Message, vocabulary: Vocabulary, names: Sequence[str]) -> dict[int, Plan]:
    """Read a suggestion."""
    return read_plans(orjson.loads(message.content)["suggestions"], vocabulary, names)


def read_plans(plans: Mapping[str, Any], vocabulary: Vocabulary, names: Sequence[str]) -> dict[int, Plan]:
    """Read plans by the names of their agents: the inverse of `quorum.agents.coordination.joint.named`."""
    return {names.index(name): _plan(value, vocabulary) for name, value in plans.items()}


def feedback(recipients: Sequence[int], objection: Objection) -> Draft:
    """Write an objection."""
    content = {
        "code": objection.code,
        "problem": objection.problem,
        "issue": objection.issue,
        "proposal": part_value(objection.proposal) if objection.proposal is not None else None,
    }
    return Draft(tuple(recipients), orjson.dumps(content).decode(), MessageKind.FEEDBACK)


def read_objections(messages: Iterable[Message], vocabulary: Vocabulary) -> list[Objection]:
    """Read the objections among some messages, by agent."""
    found = []
    for message in messages:
        if message.kind is MessageKind.FEEDBACK:
            content = orjson.loads(message.content)
            proposal = _plan(content["proposal"], vocabulary) if content["proposal"] is not None else None
            found.append(Objection(message.sender, content["code"], content["problem"], content["issue"], proposal))
    return sorted(found, key=lambda objection: objection.agent)


def show(objection: Objection, names: Sequence[str]) -> dict[str, Any]:
    """Write an objection for a prompt, JSON-ready, without what it does not say."""
    shown = {
        "agent": names[objection.agent],
        "code": objection.code,
        "problem": objection.problem,
        "issue": objection.issue,
        "proposal": part_value(objection.proposal) if objection.proposal is not None else None,
    }
    return {key: value for key, value in shown.items() if value}


def _plan(value: Mapping[str, Any], vocabulary: Vocabulary) -> Plan:
    task = Task(**value["task"]) if "task" in value else None
    return Plan(tuple(vocabulary.parse(action) for action in value["actions"]), task)
