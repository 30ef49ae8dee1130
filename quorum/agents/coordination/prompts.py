"""Writes the prompts of the roles. They share the system message with all who act in a world; the role stands last.

A set of roles has a folder, `llamac` or `baselines`, with a template for each role; both share those of `roles`. The
rules of a world are those that `naive` shows. The data stand in the blocks of `quorum.agents.prompting.blocks`.

Plans are shown as answers have them. Agents that have the same plan stand in one entry of a joint plan, since that is
most of what its planners read, and teams have one plan for all their members.

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
from quorum.agents.prompting.frame import Frame, always, turn_block, write_blocks
from quorum.agents.prompting.schemas import ground, ids_of, tasks_of
from quorum.agents.prompting.templates import PromptSet, Templates
from quorum_base.drawing import Depicted
from quorum_base.names import fold_names, unfold_names


class Notation(Protocol):
    """A text format of a world, in place of typed JSON. The values of prompts and answers mean the same in both.

    Prompts and answers of the minds are put into it where they are sent and received (`RolePrompts`, `RoleSpeaker`);
    the simulated model puts them back, so that its rules need to know typed values alone.
    """

    def write(self, value: object) -> Any:
        """Write a value of a prompt: plans, states, observations and the names of agents in it; the rest as it is."""

    def read(self, value: Any) -> Any:
        """Read a value of a prompt: the inverse of `write`, for all that an answer depends on."""

    def write_answer(self, answer: Mapping[str, Any], agent: str) -> str:
        """Write the typed answer of an agent as text; an assessor's choices have their plans in them."""

    def read_answer(self, role: str, text: str) -> dict[str, Any]:
        """Read the text of an answer as the typed answer of a role.

        Raises:
            maeil.errors.InvalidThought: it is none; the reasons say what to mend.
        """

    def example(self, role: str) -> str:
        """Return an answer of a role on another board, as a prompt shows it."""


_KEYS = frozenset({"actions", "task", "rationale", "status", "reason"})
"""What a plan may consist of, with what came of it."""
_AND = ", "


def show_plans(value: Any) -> Any:
    """Write the plans in a value, which is made of mappings, lists and anything else, as a prompt shows them."""
    if isinstance(value, Mapping):
        if _is_plan(value):
            return _show(value)
        if value and all(map(_is_plan, value.values())):
            return _together({name: _show(plan) for name, plan in value.items()})
        return {key: show_plans(part) for key, part in value.items()}
    return [show_plans(part) for part in value] if isinstance(value, list | tuple) else value


def read_plans_shown(value: Any) -> Any:
    """Read the plans in a value: the inverse of `show_plans`, but for tuples, calls, and tasks without a name."""
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
    """Give agents of equal plans one entry, in the order of the first of them."""
    teams: dict[bytes, list[str]] = {}
    for name, plan in plans.items():
        teams.setdefault(orjson.dumps(plan, option=orjson.OPT_SORT_KEYS), []).append(name)
    return [{"agent": _AND.join(fold_names(team)), "plan": plans[team[0]]} for team in teams.values()]


def _show(plan: Mapping[str, Any]) -> dict[str, Any]:
    """A plan without what there is nothing to say about."""
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
"""What those think who judge their own part, by a key of their answer."""


def role_example(schema: Mapping[str, Any], example: Example, *, critic: str = "explorer") -> dict[str, Any]:
    """Return an example of an answer, JSON-ready, with the keys of its form in their order.

    A joint plan is one of all agents of the example. An assessor takes the plans of a whole team from one critic, and
    makes that of one more agent itself.

    Args:
        schema: of the answer.
        example: of the world.
        critic: whose plans an assessor takes.
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
"""Blocks that are shown as they are: those of the world, and what the one who is asked has answered itself."""


def role_templates(world: str, world_folder: Path, kind: str, roles: Iterable[str], prompts: PromptSet) -> Templates:
    """Read the templates of some roles.

    Args:
        world: name of the world.
        world_folder: where the world's own templates are.
        kind: name of the folder of the set of roles.
        roles: the names of those that are asked.
        prompts: the set of prompts.

    Raises:
        ValueError: a template is not there, or nothing in the own folder is used.
    """
    parts = {"rules": prompts.rules, **{str(role): prompts.for_role(str(role)) for role in roles}}
    parts |= {"system": prompts.system, "turn": prompts.for_role("turn")}
    return Templates(world, world_folder, parts, own=prompts.folder, kinds=(kind, "roles"))


@dataclass
class RolePrompts:
    """Writes the prompts of a team.

    Attributes:
        templates: of its roles.
        world: whose rules and vocabulary they show.
        prompts: the set of prompts.
        max_actions: actions of a plan, at most.
        example: of the world.
        tasks: whether plans name what they are for.
        notation: of the values in them; None: typed JSON.
        checks: the rules that joint plans are judged by, shown to those who make them; by gate.
        thoughts: whether answers begin with thoughts where the set leaves that open, as in `TeamContext`.
        forms: those of all its roles, which share a schema where it is not grounded; none: each has its own.

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
                f"env.observation={self.world.observation}: teams with roles plan from what several see, which no "
                "picture shows: set env.observation=text, or agents=naive"
            )
        self._frame = Frame(
            self.templates, self.prompts, self.world, self.max_actions, tasks=self.tasks, thoughts=self.thoughts
        )

    def wanted(self, form: AnswerFormat, role: str, view: View, asked: Any = None) -> AnswerFormat | None:
        """Return the form of an answer in a role as these prompts ask for it; None for a text in the notation.

        An answer may plan for those who are asked about, by name; for any agent of the team where nothing says who
        they are. A form that is grounded already stays as it is.
        """
        if self.notation is not None:
            return None

        own = form.schema

        def grounded() -> Mapping[str, Any]:
            tasks = tasks_of(self.world, None, view)
            return ground(own, ids_of(self.world, None), asked or self.world.agents, tasks)

        schema = united(self.forms) if self.forms else own
        in_words, known = self.prompts.form == "words", form.grounded or grounded
        form = replace(form, name=FORM, schema=schema, in_words=in_words, grounded=known)
        return with_thoughts(form, self._frame.room_for_thoughts(view, role))

    def write(
        self, role: str, view: View, blocks: Mapping[str, object], schema: Mapping[str, Any]
    ) -> tuple[ChatMessage, ...]:
        """Write the messages of a call: the same for equal arguments.

        Args:
            role: who is to answer.
            view: the turn in which it is asked.
            blocks: the data by name, in order; empty ones are left out.
            schema: of the answer.

        Raises:
            ValueError: a template asks for what there is not.
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
        return self._frame.write(view, shown, write_blocks({"turn": turn, **blocks}), role=role)
