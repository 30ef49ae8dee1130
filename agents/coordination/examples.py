"""What prompts show as an example of the answer in a role: the keys of its form, with what the world has for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quorum.agents.prompting.answers import PLAN, plan_value
from quorum.agents.prompting.examples import Example


def role_example(schema: Mapping[str, Any], example: Example, agent: str) -> dict[str, Any]:
    """Return an example of an answer, JSON-ready, with the keys of its form in their order.

    Args:
        schema: of the answer.
        example: of the world.
        agent: the name of an agent that the answer may be about.
    """
    written = plan_value(example.plan)
    plan = {key: written[key] for key in schema.get("$defs", {}).get(PLAN, {}).get("properties", ())}
    values = {
        "thoughts": example.thoughts,
        "plans": [{"agent": agent, "plan": plan}],
        "choices": [{"agent": agent, "source": "new", "plan": plan}],
        "plan": plan,
        "task": written["task"] or {"kind": "do", "target": "something"},
        "why": "It is near, and those of us who are free are as many as it takes.",
        "message": example.message,
        "agrees": False,
        "reason": "Another agent is nearer, and I am in its way.",
        "issue": "I cannot get there: another agent stands in the only way.",
        "proposal": plan,
    }
    return {key: values[key] for key in schema["properties"]}
