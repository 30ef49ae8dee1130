"""Writes the prompt of a turn: words from Jinja templates around data in blocks.

A prompt set names three templates: `system` (the world's rules, the vocabulary, the schema of answers: the same for all
agents, turns, topologies and team sizes, so that a provider's prompt cache can keep it), `rules` (the world's rules,
included by `system`), and `turn` (everything the agent sees, stable parts first; then its identity and what this turn
allows). `quorum.agents.prompting.templates` finds them, `quorum.agents.prompting.frame` renders them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from maeil.actions import read_call
from maeil.messages import Message
from maeil.mind import Act, PlanView, View
from maeil.topology import Topology
from maeil.world import World
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage
from quorum.agents.naive.answers import ALL, AnswerTypes, may_talk
from quorum.agents.prompting.answers import task_value, with_thoughts
from quorum.agents.prompting.blocks import write_example
from quorum.agents.prompting.frame import Frame, always, turn_block
from quorum.agents.prompting.open_tasks import OpenTaskWriter
from quorum.agents.prompting.schemas import foreseen_of, ground, tasks_of
from quorum.agents.prompting.templates import PromptSet
from quorum.agents.skills import prompts_of, skills_of
from quorum_base.names import fold_names


class PromptWriter:
    """Writes the prompts of a team.

    Args:
        prompts: names of the templates.
        world: provides the rules and the vocabulary.
        topology: the team's topology.
        answers: its answer types.
        thoughts: whether answers start with thoughts if the prompt set leaves that open, as in `TeamContext`.

    Raises:
        ValueError: a template is missing or unreadable.
    """

    def __init__(
        self,
        prompts: PromptSet,
        world: World,
        topology: Topology,
        answers: AnswerTypes,
        thoughts: Callable[[str, str], bool] = always,
    ) -> None:
        templates = prompts.for_turns(world.name, prompts_of(world.name))
        self._endings = {
            one.ending: prompts.for_ending(one.ending, world.name, prompts_of(world.name)).find(one.ending)
            for one in answers.of_team
            if one.ending
        }
        self._frame = Frame(templates, prompts, world, answers.max_actions, thoughts=thoughts)
        self._world = world
        self._topology = topology
        self.answers = answers
        """The team's answer types."""
        self._example = skills_of(world.name).example(world)
        self._in_words = prompts.form == "words"

    def write(self, view: View) -> tuple[ChatMessage, ...]:
        """Write the messages of a turn; equal arguments give equal messages.

        Args:
            view: the turn.

        Raises:
            ValueError: a template uses an undefined variable.
        """
        words = (note.words for note in view.notes)
        example = self.answers.example(view, self._example)
        keys = self.answers.keys(view)
        if not self._frame.room_for_thoughts(view):
            keys, _ = keys[1:], example.pop("thoughts")
        turn = {
            "acts": [act.value for act in sorted(view.turn.acts)],
            "may_acknowledge": Act.ACKNOWLEDGE in view.turn.acts and may_talk(view.turn),
            "role": view.turn.role,
            "how_the_team_talks": next(filter(None, words), None) or self._topology.describe(view.turn.role),
            "limit": view.turn.limit,
            "answer": keys,
            "example": write_example(example),
            "message": next(iter(example.get("messages", ())), None),
        }
        last = [self._endings[one.ending] for one in self.answers.parts(view) if one.ending]
        shown = {"observation", "constraints"} if view.turn.feedback else {"observation"}
        return self._frame.write(view, turn, self._data(view), required=frozenset(shown), last=last)

    def wanted(self, view: View) -> AnswerFormat:
        """Return the format of a turn's answer."""
        form = replace(
            self.answers.wanted(view), in_words=self._in_words, grounded=partial(self._grounded_schema, view)
        )
        return with_thoughts(form, self._frame.room_for_thoughts(view))

    def _grounded_schema(self, view: View) -> Mapping[str, Any]:
        agent = view.agent if view.agent < len(self._world.agents) else None
        schema = self.answers.wanted(view, grounded=True, world=self._world).schema
        tasks = tasks_of(self._world, agent, view)
        foreseen = foreseen_of(self._world, view) if may_talk(view.turn) else None
        return ground(schema, self._world.ids(agent), self._world.agents, tasks, foreseen)

    def _data(self, view: View) -> Mapping[str, object]:
        """Return the data of a turn's blocks by name."""
        turn = turn_block(view, self._world.name, may=view.turn.words)
        if view.turn.recipients:
            turn["recipients"] = fold_names([view.names[recipient] for recipient in view.turn.recipients])
        if view.turn.limit is not None:
            turn["most_messages"] = view.turn.limit
        if view.turn.role:
            turn["role"] = view.turn.role
        for one in self.answers.parts(view):
            turn |= one.turn(view)
        if view.turn.task is not None:
            turn["task"] = task_value(view.turn.task)
        writer = OpenTaskWriter(self._world, view)
        return {
            "turn": turn,
            "observation": view.observation,
            "memory": write_messages(view.memory, view.names),
            "unread": write_messages(view.unread, view.names),
            "plan": write_plan(view.plan) if view.plan is not None else None,
            "past_plans": [write_plan(plan) for plan in view.outcomes],
            "constraints": [writer.write(task) for task in view.constraints],
            "problems": view.problems,
        }


def write_messages(messages: Sequence[Message], names: Sequence[str]) -> list[dict[str, object]]:
    """Write messages in order, with the fields used in answers; consecutive messages state shared fields once."""
    written: list[dict[str, Any]] = []
    for message in messages:
        everybody = 1 < len(message.recipients) == len(names) - 1
        recipients = [ALL] if everybody else fold_names([names[recipient] for recipient in message.recipients])
        shared = {"step": message.t, "recipients": recipients, "kind": message.kind.value}
        if not written or not shared.items() <= written[-1].items():
            written.append({**shared, "messages": []})
        written[-1]["messages"].append({"author": names[message.sender], "content": message.content})
    return written


def write_plan(plan: PlanView) -> dict[str, object]:
    """Write a plan as in answers, with its status; `actions_done` is omitted if all its actions are done."""
    shown: dict[str, object] = {
        "task": task_value(plan.task),
        "actions": [read_call(action) for action in plan.actions],
        "status": plan.status.value,
    }
    if plan.done < len(plan.actions):
        shown["actions_done"] = plan.done
    if plan.reason:
        shown["reason"] = plan.reason
    return shown
