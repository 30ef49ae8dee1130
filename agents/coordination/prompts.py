"""Writes the prompts of the roles. They share the system message with all who act in a world; the role stands last.

A set of roles has a folder, `llamac` or `baselines`, with a template for each role; both share those of `roles`. The
rules of a world are those that `naive` shows. The data stand in the blocks of `quorum.agents.prompting.blocks`.

Plans of several agents are shown with their actions as calls, and agents that have the same plan in one entry: a joint
plan of a large team is most of what its planners read, and teams have one plan for all their members.

    {"agent_0": {"actions": [{"action": "idle", "steps": 1}], "task": {"kind": "clear", "target": "x"}},
     "agent_1": (the same)}
 -> {"agent_0, agent_1": {"actions": ["idle(steps=1)"], "task": "clear:x"}}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import orjson

from maeil.drawing import Depicted
from maeil.mind import View
from maeil.names import fold_names, unfold_names
from maeil.world import World
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage
from quorum.agents.prompting.answers import FORM, PLAN, plan_value, united, with_thoughts
from quorum.agents.prompting.blocks import write_example
from quorum.agents.prompting.examples import Example
from quorum.agents.prompting.frame import Frame, always, turn_block, write_blocks
from quorum.agents.prompting.schemas import ground, ids_of, tasks_of
from quorum.agents.prompting.templates import PromptSet, Templates


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

    def example(self, role: str, agent: str) -> str:
        """Return an answer of a role, as a prompt shows it; `agent` may have a plan in it."""


_KEYS = frozenset({"actions", "task", "rationale", "status", "reason"})
"""What a plan may consist of, with what came of it."""
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_BETWEEN = re.compile(r", (?=\w+=)")
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
    """Read the plans in a value: the inverse of `show_plans`, but for tuples, and tasks without a name."""
    if isinstance(value, Mapping):
        if _is_plan(value):
            return _read(value)
        if value and all(map(_is_plan, value.values())):
            names = {name: plan for among, plan in value.items() for name in unfold_names(among.split(_AND))}
            return {name: _read(plan) for name, plan in names.items()}
        return {key: read_plans_shown(part) for key, part in value.items()}
    return [read_plans_shown(part) for part in value] if isinstance(value, list) else value


def _is_plan(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("actions"), list | tuple) and value.keys() <= _KEYS


def _together(plans: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Give agents of equal plans one entry, in the order of the first of them."""
    teams: dict[bytes, list[str]] = {}
    for name, plan in plans.items():
        teams.setdefault(orjson.dumps(plan, option=orjson.OPT_SORT_KEYS), []).append(name)
    return {_AND.join(fold_names(team)): plans[team[0]] for team in teams.values()}


def _show(plan: Mapping[str, Any]) -> dict[str, Any]:
    """A plan without what there is nothing to say about."""
    task, actions = plan.get("task"), plan["actions"]
    shown = {key: part for key, part in plan.items() if part not in (None, "")}
    shown["actions"] = [_call(action) if isinstance(action, Mapping) else action for action in actions]
    return {**shown, "task": f"{task['kind']}:{task['target']}"} if isinstance(task, Mapping) else shown


def _read(plan: Mapping[str, Any]) -> dict[str, Any]:
    read = {**plan, "actions": [_action(call) if isinstance(call, str) else call for call in plan["actions"]]}
    if isinstance(plan.get("task"), str):
        kind, _, target = plan["task"].partition(":")
        read["task"] = {"kind": kind, "target": target}
    return read


def _call(action: Mapping[str, Any]) -> str:
    given = (f"{key}={_word(value)}" for key, value in action.items() if key != "action")
    return f"{action['action']}({_AND.join(given)})"


def _action(call: str) -> Any:
    found = _CALL.fullmatch(call)
    if found is None:
        return call
    given = (pair.partition("=") for pair in _BETWEEN.split(found[2]) if pair)
    return {"action": found[1], **{key: _value(word) for key, _, word in given}}


def _word(value: Any) -> str:
    """A value as JSON; a text that cannot be taken for anything else stands without quotes."""
    if isinstance(value, str) and _value(value) == value and len(_BETWEEN.split(value)) == 1:
        return value
    return orjson.dumps(value).decode().replace("=", "\\u003d")  # so that no argument seems to begin in a text


def _value(word: str) -> Any:
    try:
        return orjson.loads(word)
    except ValueError:
        return word


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
        agent = asked[0] if isinstance(asked, list) else view.name
        shown: dict[str, Any] = {"checks": self.checks}
        if self.notation is not None:
            turn = {**turn, "text": True}
            blocks = {name: self.notation.write(value) for name, value in blocks.items()}
            turn = self.notation.write(turn)
            shown |= {"example": self.notation.example(role, agent), "name": turn["you"]}
        else:
            example = role_example(schema, self.example, agent)
            if not self._frame.room_for_thoughts(view, role):
                del example["thoughts"]
            shown["example"] = write_example(example)
            blocks = {name: value if name in AS_THEY_ARE else show_plans(value) for name, value in blocks.items()}
            if isinstance(asked, list):
                blocks["asked"] = fold_names(asked)
        return self._frame.write(view, shown, write_blocks({"turn": turn, **blocks}), role=role)
