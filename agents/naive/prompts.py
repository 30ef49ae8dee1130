"""Writes the prompt of a turn: words from Jinja templates around data in blocks.

A set of prompts names three templates: `system` (who the agent is, the rules of the world, the vocabulary; the same in
every turn, so that a provider's prompt cache can keep it), `rules` (the rules of the world, included by `system`), and
`turn` (what this turn allows, and all that the agent sees). `quorum.agents.prompting.templates` finds them.

The templates decide the words and the order; what they print of the world and of other agents are the blocks of
`quorum.agents.prompting.blocks` alone. They get no wall time, no cognitive time and nothing else that differs between
equal runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import TemplateError
from pydantic import BaseModel, ConfigDict, Field

from maeil.messages import Message
from maeil.mind import Act, PlanView, View
from maeil.tasks import OpenTask
from maeil.topology import Topology
from maeil.world import World
from quorum.agents.llm.protocol import ChatMessage, ChatRole
from quorum.agents.naive.answers import ALL, may_talk
from quorum.agents.prompting.blocks import write_block
from quorum.agents.prompting.templates import Templates
from quorum.agents.prompting.vocabulary import describe
from quorum.agents.skills import prompts_of


class PromptSet(BaseModel):
    """A set of prompts: values of the group `prompts`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str | None
    """A folder of templates that come before the shipped ones; null: none."""
    system: str = Field(min_length=1)
    """Template of the system message."""
    rules: str = Field(min_length=1)
    """Template of the rules of the world."""
    turn: str = Field(min_length=1)
    """Template of the message of a turn."""


def read_templates(prompts: PromptSet, world: str) -> Templates:
    """Read the templates of a set for a world, by its name.

    Raises:
        ValueError: a template is not there, or nothing in the set's own folder is used.
    """
    parts = {"rules": prompts.rules, "system": prompts.system, "turn": prompts.turn}
    return Templates(world, prompts_of(world), parts, own=prompts.folder)


class PromptWriter:
    """Writes the prompts of a team.

    Args:
        prompts: names of the templates.
        world: whose rules and vocabulary they tell.
        topology: how the team may talk.
        max_actions: actions of a plan, at most.

    Raises:
        ValueError: a template is not there, or cannot be read.
    """

    def __init__(self, prompts: PromptSet, world: World, topology: Topology, max_actions: int) -> None:
        self._world = world.name
        self._topology = topology
        self._vocabulary = world.vocabulary.names
        self._common: dict[str, Any] = {
            "world": world.name,
            "actions": describe(world.vocabulary),
            "action_names": world.vocabulary.names,
            "max_actions": max_actions,
            "agents": len(world.agents),
            "prompts": prompts.model_dump(),
        }
        templates = read_templates(prompts, world.name)
        templates.find("rules")
        self._system, self._turn = templates.find("system"), templates.find("turn")
        self._systems: dict[str, str] = {}

    def write(self, view: View) -> tuple[ChatMessage, ...]:
        """Write the messages of a turn: the same for equal views.

        Raises:
            ValueError: a template asks for what there is not.
        """
        who = {**self._common, "name": view.name, "names": view.names, "embodied": view.agent < self._common["agents"]}
        turn = {
            **who,
            "acts": [act.value for act in sorted(view.turn.acts)],
            "may_speak": Act.SPEAK in view.turn.acts and may_talk(view.turn),
            "may_acknowledge": Act.ACKNOWLEDGE in view.turn.acts and may_talk(view.turn),
            "may_plan": Act.PLAN in view.turn.acts,
            "role": view.turn.role,
            "how_the_team_talks": self._topology.describe(view.turn.role),
            "limit": view.turn.limit,
            "has_plan": view.plan is not None,
            "blocks": self._blocks(view),
        }
        try:
            if view.name not in self._systems:
                self._systems[view.name] = self._system.render(who).strip()
            return (
                ChatMessage(ChatRole.SYSTEM, self._systems[view.name]),
                ChatMessage(ChatRole.USER, self._turn.render(turn).strip()),
            )
        except TemplateError as error:
            raise ValueError(f"prompts: a template cannot be filled in: {error}") from error

    def _blocks(self, view: View) -> Mapping[str, str]:
        """The blocks of a turn by name; those that would be empty are left out, but for what the turn is to show."""
        turn = {
            "world": self._world,
            "vocabulary": self._vocabulary,
            "topology": self._topology.name,
            "you": view.name,
            "team": view.names,
            "step": view.t,
            "role": view.turn.role,
            "may": sorted(act.value for act in view.turn.acts),
            "recipients": [view.names[recipient] for recipient in view.turn.recipients],
            "most_messages": view.turn.limit,
        }
        tasks = view.constraints or next((m.constraints for m in reversed(view.unread) if m.constraints), ())
        values: dict[str, object] = {
            "turn": turn,
            "observation": view.observation,
            "memory": [_message(message, view.names) for message in view.memory],
            "unread": [_message(message, view.names) for message in view.unread],
            "plan": _plan(view.plan) if view.plan is not None else None,
            "past_plans": [_plan(plan) for plan in view.outcomes],
            "constraints": [_open_task(task, view.names) for task in tasks],
            "problems": view.problems,
        }
        shown = {"observation", "constraints"} if view.turn.feedback else {"observation"}
        return {name: write_block(name, value) for name, value in values.items() if value or name in shown}


def _message(message: Message, names: Sequence[str]) -> dict[str, object]:
    to_all = 1 < len(message.recipients) == len(names) - 1
    return {
        "from": names[message.sender],
        "to": ALL if to_all else [names[recipient] for recipient in message.recipients],
        "kind": message.kind.value,
        "step": message.t,
        "text": message.content,
    }


def _plan(plan: PlanView) -> dict[str, object]:
    return {
        "task": {"kind": plan.task.kind, "target": plan.task.target} if plan.task is not None else None,
        "actions": plan.actions,
        "actions_done": plan.done,
        "status": plan.status.value,
        "reason": plan.reason,
    }


def _open_task(task: OpenTask, names: Sequence[str]) -> dict[str, object]:
    """An open task as a prompt tells it: by the names of the agents, without what there is nothing to say about."""
    told: dict[str, object] = {
        "task": {"kind": task.task.kind, "target": task.task.target},
        "needs": task.needs,
        "more": task.more,
    }
    for key, agents in (("in_place", task.in_place), ("able", task.able), ("planned", task.planned or None)):
        if agents is not None:
            told[key] = [names[agent] for agent in agents]
    if task.missing:
        told["missing"] = dict(task.missing)
    if task.before:
        told["before"] = task.before
    return told
