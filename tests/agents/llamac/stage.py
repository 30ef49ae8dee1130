"""A corridor world with its own gates, and a model that plays each role as a test has written it down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import orjson

from maeil import LoopSettings
from maeil.tasks import Constraint
from maeil.trace import Stamped
from quorum.agents.coordination.asking import RoleSpeaker
from quorum.agents.coordination.joint import Fault, Joint, Rejection, Rule, Sight
from quorum.agents.coordination.prompts import RolePrompts, role_templates
from quorum.agents.llamac.actor import Actor
from quorum.agents.llamac.critic import Scrutiny, TripletCritic
from quorum.agents.llamac.settings import Answers, LlamacRole
from quorum.agents.llm.protocol import Finish, Reply, Request, Usage
from quorum.agents.llm.structured import Structuring
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.prompting.examples import plain_example
from quorum.agents.simulated.joint_plans import read_given
from quorum.agents.skills import Briefing
from tests.agents.llamac.teams import config, coordinated
from tests.maeil.corridor import Corridor, Rest
from tests.maeil.scripted import play

NOT_JSON = "this is no JSON"


def walk(steps: int, target: str = "end") -> dict[str, Any]:
    """A plan as a model writes it."""
    actions = [{"action": "walk", "steps": steps, "fails_at": None}]
    return {"task": {"kind": "walk", "target": target}, "actions": actions}


REST = {"task": None, "actions": [{"action": "rest", "steps": 1}]}


def joint(**plans: Any) -> dict[str, Any]:
    """A critic's answer."""
    return {"thoughts": "so", "plans": [{"agent": agent, "plan": plan} for agent, plan in plans.items()]}


def everybody(agents: int, plan: Any = None) -> dict[str, Any]:
    """A critic's answer with one plan for all."""
    return joint(**{f"agent_{i}": plan or walk(3) for i in range(agents)})


def choose(source: str, *agents: str, plan: Any = None) -> dict[str, Any]:
    """The assessor's answer: one source for some agents."""
    return {"thoughts": "so", "choices": [{"agent": agent, "source": source, "plan": plan} for agent in agents]}


def take(source: str, agents: int) -> dict[str, Any]:
    """The assessor's answer: one source for all agents."""
    return choose(source, *(f"agent_{i}" for i in range(agents)))


FEEDBACK = {"thoughts": "so", "issue": "too short", "proposal": walk(3)}


class Cast:
    """A model that gives each role's answers in turn, the last one for ever; a text is given as it stands."""

    def __init__(self, **answers: Any) -> None:
        self._answers = {role: list(value) if isinstance(value, list) else [value] for role, value in answers.items()}
        self.calls: Counter[str] = Counter()
        self.blocks: list[dict[str, Any]] = []

    async def complete(self, request: Request) -> Reply:
        blocks = read_given(read_blocks(request.messages[1].content))
        role = blocks["turn"]["role"]
        self.calls[role] += 1
        self.blocks.append(blocks)
        answers = self._answers[role]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        text = answer if isinstance(answer, str) else orjson.dumps(answer).decode()
        return Reply(text, Finish.STOP, Usage(10, 7), None, 0.0, "cast")

    @property
    def total(self) -> int:
        return self.calls.total()

    def asked(self, role: str) -> list[dict[str, Any]]:
        """The blocks of all prompts of a role."""
        return [blocks for blocks in self.blocks if blocks["turn"]["role"] == role]


class CorridorBriefing(Briefing):
    """The cells of the agents."""

    def state(self, sight: Sight) -> object:
        return {"cells": [seen.cell for seen in sight.agents]}

    def digest(self, sight: Sight) -> object:
        return sum(seen.cell for seen in sight.agents)


class CorridorGates:
    """No two agents may walk to the place `crowd`; walking less than 3 steps brings nothing; resting cannot be done."""

    rules: Mapping[str, Rule] = {
        "V-CROWD": Rule(Fault.CONFLICT, Constraint.SPATIAL, "one agent a place"),
        "C-SHORT": Rule(Fault.FRUITLESS, Constraint.DEPENDENCY, "a walk leads to the end"),
        "C-REST": Rule(Fault.UNAVAILABLE, Constraint.SPATIAL, "nobody rests"),
    }

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        crowd = [agent for agent, plan in joint.all.items() if plan.task is not None and plan.task.target == "crowd"]
        return [Rejection("V-CROWD", tuple(sorted(crowd)), "too many")] if len(crowd) > 1 else []

    def confirm(self, agent: int, observation: Any, joint: Joint) -> Rejection | None:
        action = joint.plans[agent].actions[0]
        if isinstance(action, Rest):
            return Rejection("C-REST", (agent,), "no rest")
        return Rejection("C-SHORT", (agent,), "too short") if action.steps < 3 else None


def run(
    cast: Cast,
    folder: Any,
    agents: int = 2,
    *,
    world: Corridor | None = None,
    gates: Any = None,
    loop: LoopSettings | None = None,
    repairs: int = 0,
    **switches: Any,
) -> list[Stamped]:
    """Play an episode in the corridor."""
    world = world or Corridor(agents)
    (folder / "rules.jinja").write_text("Walk to the end.", encoding="utf-8")
    settings, gates = config(**switches), gates or CorridorGates()
    templates = role_templates("hallway", folder, "llamac", LlamacRole, settings.prompts)
    prompts = RolePrompts(templates, world, prompts=settings.prompts, max_actions=8, example=plain_example(world))
    answers = Answers(world.vocabulary, 8, world.agents)
    model = Structuring(cast, repairs)
    actors = [
        Actor(
            RoleSpeaker(model, prompts, gates.rules), answers, gates, lambda _, view: view.observation, world, settings
        )
        for _ in range(len(world.agents))
    ]
    speaker = RoleSpeaker(model, prompts, gates.rules)
    scrutiny = Scrutiny(world, gates, settings.scrutiny)
    critic = TripletCritic(speaker, answers, scrutiny, CorridorBriefing(), world, settings)
    topology = coordinated(len(world.agents))
    return play(actors, world, topology=topology, coordinators=[("coordinator", critic)], settings=loop)


def calls_of(events: list[Stamped]) -> list[dict[str, Any]]:
    """The records of all calls."""
    return [call for stamped in events if stamped.event.kind == "thought_end" for call in stamped.event.calls]


def codes_of(events: list[Stamped]) -> list[str]:
    """The codes of all rejections, in order."""
    return [rejection["code"] for call in calls_of(events) for rejection in call.get("rejections", ())]


def committed(events: list[Stamped], t: int = 0) -> dict[int, list[str]]:
    """The actions of the plans that were committed at an environment step, by agent."""
    return {
        stamped.event.agent: [action["action"] for action in stamped.event.actions]
        for stamped in events
        if stamped.event.kind == "plan" and stamped.event.status == "committed" and stamped.t == t
    }
