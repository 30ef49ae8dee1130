"""Writes role prompts. They share the system message with all minds that act in a world; the role comes last.

A set of roles has a folder, `llamac` or `baselines`, with one template per role; both share the templates of `roles`.
The world's rules are those of `naive`. Data appear in blocks (`quorum.agents.prompting.blocks`).

Plans look as they do in answers. Agents with equal plans share one entry of a joint plan, because plans are most of
what planners read and the members of a team have the same plan.

    {"agent_0": {"actions": [{"action": "idle", "steps": 1}], "task": "clear:x"}, "agent_1": (the same)}
 -> [{"agent": "agent_0, agent_1",
      "plan": {"actions": [{"action": "idle", "steps": 1}], "task": {"kind": "clear", "target": "x"}}}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import orjson

from maeil.actions import read_call
from maeil.messages import MessageKind
from maeil.mind import View
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage
from quorum.agents.prompting.answers import FORM, PLAN, plan_value, task_value, united, with_thoughts
from quorum.agents.prompting.blocks import write_example
from quorum.agents.prompting.examples import Example
from quorum.agents.prompting.frame import Frame, always, turn_block
from quorum.agents.prompting.schemas import ground, tasks_of
from quorum.agents.prompting.templates import PromptSet, Templates
from quorum_base.drawing import Depicted
from quorum_base.names import fold_names, unfold_names


class Notation(Protocol):
    """A world's text format, used instead of typed JSON. Prompt and answer values mean the same in both.

    Prompts and answers are converted when they are sent and received (`RolePrompts`, `RoleSpeaker`). The simulated
    model converts them back, so that its rules only need typed values.
    """

    def write(self, value: object) -> Any:
        """Convert a prompt value: plans, states, observations and agent names in it; the rest is unchanged."""

    def read(self, value: Any) -> Any:
        """Read a prompt value: the inverse of `write`, for everything an answer depends on."""

    def write_answer(self, answer: Mapping[str, Any], agent: str) -> str:
        """Write an agent's typed answer as text; an assessor's choices contain their plans."""

    def read_answer(self, role: str, text: str) -> dict[str, Any]:
        """Read a text as the typed answer of a role.

        Raises:
            maeil.errors.InvalidThought: it is not such an answer; the reasons say what to fix.
        """

    def example(self, role: str) -> str:
        """Return a role's example answer on another board, as shown in a prompt."""


_KEYS = frozenset({"actions", "task", "rationale", "status", "reason"})
"""Keys of a plan, including its outcome."""
_AND = ", "


def show_plans(value: Any) -> Any:
    """Format the plans in a value (mappings, lists and anything else) for a prompt."""
    if isinstance(value, Mapping):
        if _is_plan(value):
            return _show(value)
        if value and all(map(_is_plan, value.values())):
            return _together({name: _show(plan) for name, plan in value.items()})
        return {key: show_plans(part) for key, part in value.items()}
    return [show_plans(part) for part in value] if isinstance(value, list | tuple) else value


def read_plans_shown(value: Any) -> Any:
    """Read the plans in a value: the inverse of `show_plans`, except for tuples, calls and unnamed tasks."""
    if isinstance(value, Mapping):
        return {key: read_plans_shown(part) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    if value and all(map(_is_entry, value)):
        return {name: entry["plan"] for entry in value for name in unfold_names(entry["agent"].split(_AND))}
    return [read_plans_shown(part) for part in value]


def _is_plan(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("actions"), list | tuple) and value.keys() <= _KEYS


def _is_entry(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"agent", "plan"} and _is_plan(value["plan"])


def _together(plans: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Group agents with equal plans into one entry, in the order of their first agent."""
    teams: dict[bytes, list[str]] = {}
    for name, plan in plans.items():
        teams.setdefault(orjson.dumps(plan, option=orjson.OPT_SORT_KEYS), []).append(name)
    return [{"agent": _AND.join(fold_names(team)), "plan": plans[team[0]]} for team in teams.values()]


def _show(plan: Mapping[str, Any]) -> dict[str, Any]:
    """A plan without its empty fields."""
    shown = {key: part for key, part in plan.items() if part not in (None, "")}
    shown["actions"] = [read_call(action) if isinstance(action, str) else action for action in plan["actions"]]
    if isinstance(task := plan.get("task"), str):
        kind, _, target = task.partition(":")
        shown["task"] = {"kind": kind, "target": target}
    return shown


_THOUGHTS = {
    "issue": "The rule is right: I see nothing that I could do for it now.",
    "agrees": "I can do it now, and it goes together with what the others do.",
}
"""The thoughts of roles that judge their own part, by a key of their answer."""


def role_example(schema: Mapping[str, Any], example: Example, *, critic: str = "explorer") -> dict[str, Any]:
    """Return an example of an answer, JSON-ready, with the keys of its schema in order.

    A joint plan covers all agents of the example. An assessor takes the plans of a whole team from one critic, and
    writes the plan of one more agent itself.

    Args:
        schema: schema of the answer.
        example: the world's example.
        critic: the critic that an assessor chooses.
    """
    form = schema.get("$defs", {}).get(PLAN, {}).get("properties", ())

    def written(plan: Plan) -> dict[str, Any]:
        whole = plan_value(plan)
        return {key: whole[key] for key in form}

    alone = written(example.alone or example.plan)
    task = example.task or example.plan.task or Task("do", "something")
    taken = [{"agent": agent, "source": critic, "plan": None} for agent in example.joint]
    values = {
        "thoughts": _THOUGHTS.get(next(iter(schema["properties"].keys() & _THOUGHTS), ""), example.thoughts),
        "plans": [{"agent": a, "plan": written(plan)} for a, plan in example.joint.items()],
        "choices": [*taken, {"agent": example.one_more, "source": "new", "plan": alone}],
        "plan": written(example.plan),
        "task": task_value(task),
        "why": "It is near, and those of us who are free are as many as it takes.",
        "message": example.says(MessageKind.DIRECTIVE),
        "agrees": True,
        "reason": "",
        "issue": "I cannot do my part now: what another agent does stands in its way.",
        "proposal": alone if "issue" in schema["properties"] else None,
    }
    return {key: values[key] for key in schema["properties"]}


AS_THEY_ARE = ("state", "observation", "refused")
"""Blocks shown as they are: the world's, and the recipient's own earlier answers."""


def role_templates(world: str, world_folder: Path, kind: str, roles: Iterable[str], prompts: PromptSet) -> Templates:
    """Read the templates of some roles.

    Args:
        world: name of the world.
        world_folder: folder of the world's own templates.
        kind: folder name of the set of roles.
        roles: names of the roles.
        prompts: the prompt set.

    Raises:
        ValueError: a template is missing, or none in the user's folder is used.
    """
    parts = {"rules": prompts.rules, **{str(role): prompts.for_role(str(role)) for role in roles}}
    parts |= {"system": prompts.system, "turn": prompts.for_role("turn")}
    return Templates(world, world_folder, parts, own=prompts.folder, kinds=(kind, "roles"))


@dataclass
class RolePrompts:
    """Writes the prompts of a team.

    Attributes:
        templates: templates of its roles.
        world: provides the rules and the vocabulary.
        prompts: the prompt set.
        max_actions: maximum number of actions in a plan.
        example: the world's example.
        tasks: whether plans name their task.
        notation: notation of the values; None for typed JSON.
        checks: rules for joint plans, by gate, shown to the planners.
        thoughts: whether answers start with thoughts if the prompt set leaves that open, as in `TeamContext`.
        forms: formats of all its roles, which share an ungrounded schema; empty: each role has its own.

    Raises:
        ValueError: a template cannot be read, or the world shows observations as pictures.
    """

    templates: Templates
    world: World
    prompts: PromptSet
    max_actions: int
    example: Example
    tasks: bool = True
    notation: Notation | None = None
    checks: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    thoughts: Callable[[str, str], bool] = always
    forms: Sequence[AnswerFormat] = ()

    def __post_init__(self) -> None:
        """Read the templates."""
        if isinstance(self.world, Depicted) and self.world.observation.has_picture:
            raise ValueError(
                f"env.observation={self.world.observation}: teams with roles plan from several observations, which no "
                "single picture shows: set env.observation=text, or agents=naive"
            )
        self._frame = Frame(
            self.templates, self.prompts, self.world, self.max_actions, tasks=self.tasks, thoughts=self.thoughts
        )

    def wanted(self, form: AnswerFormat, role: str, view: View, asked: Any = None) -> AnswerFormat | None:
        """Return the answer format for a role; None for a text in the notation.

        The answer may plan for the agents named in `asked`, or for all agents if it is None. A format that is already
        grounded is unchanged.
        """
        if self.notation is not None:
            return None

        own = form.schema

        def grounded() -> Mapping[str, Any]:
            tasks = tasks_of(self.world, None, view)
            return ground(own, self.world.ids(None), asked or self.world.agents, tasks)

        schema = united(self.forms) if self.forms else own
        in_words, known = self.prompts.form == "words", form.grounded or grounded
        form = replace(form, name=FORM, schema=schema, in_words=in_words, grounded=known)
        return with_thoughts(form, self._frame.room_for_thoughts(view, role))

    def write(
        self, role: str, view: View, blocks: Mapping[str, object], schema: Mapping[str, Any]
    ) -> tuple[ChatMessage, ...]:
        """Write the messages of a call; equal arguments give equal messages.

        Args:
            role: the role that answers.
            view: the turn.
            blocks: the data by name, in order; empty blocks are omitted.
            schema: schema of the answer.

        Raises:
            ValueError: a template uses an undefined variable.
        """
        turn = turn_block(view, self.world.name, role=role)
        asked = blocks.get("asked")
        shown: dict[str, Any] = {"checks": self.checks}
        if self.notation is not None:
            turn = {**turn, "text": True}
            blocks = {name: self.notation.write(value) for name, value in blocks.items()}
            turn = self.notation.write(turn)
            shown |= {"example": self.notation.example(role), "name": turn["you"]}
        else:
            critic = next((name for name in ("explorer", "exploiter") if name in blocks), "explorer")
            example = role_example(schema, self.example, critic=critic)
            if not self._frame.room_for_thoughts(view, role):
                del example["thoughts"]
            shown["example"] = write_example(example)
            blocks = {name: value if name in AS_THEY_ARE else show_plans(value) for name, value in blocks.items()}
            if isinstance(asked, list):
                blocks["asked"] = fold_names(asked)
        return self._frame.write(view, shown, {"turn": turn, **blocks}, role=role)
