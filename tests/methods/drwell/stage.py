"""A hallway with two tasks, and teams of DR. WELL over models that tests write down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from maeil import Seeds, TeamContext
from maeil.plans import Plan
from maeil.tasks import OpenTask
from maeil.trace import Stamped
from quorum.agents.llm.protocol import Finish, Reply, Request, Usage
from quorum.agents.llm.structured import Structuring
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated.joint_plans import read_given
from quorum.methods.drwell import DrwellConfig, DrwellMind, build
from quorum.topologies.negotiation import Negotiation, NegotiationConfig
from tests.agents.naive_team import prompts, shipped
from tests.maeil.scripted import play
from tests.topologies.room import DOOR, GATE, Hallway

NEEDS = {DOOR: 1, GATE: 2}


class ClosingHallway(Hallway):
    """A hallway whose gate is open, and so no task any more, when two agents stand at its end."""

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> list[OpenTask]:
        over = sum(cell == self.length for cell in self.cells) >= self.needs[GATE]
        return [task for task in super().open_tasks(plans) if not (over and task.task == GATE)]


def walk(steps: int, fails_at: int | None = None) -> dict[str, Any]:
    """A planner's answer: one of a step serves the door, longer ones serve the gate."""
    action = {"action": "walk", "steps": steps, "fails_at": fails_at}
    return {"thoughts": "so", "plan": {"actions": [action]}}


def choose(target: str, why: str | None = None) -> dict[str, Any]:
    """The answer of a committer; with a reason, of a proposer."""
    answer: dict[str, Any] = {"thoughts": "so", "task": {"kind": "open", "target": target}}
    return answer if why is None else {**answer, "why": why}


class Cast:
    """A model that gives the answers of each agent in each role in turn, the last one for ever; keeps the prompts."""

    def __init__(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        self._answers = {
            who: {role: list(given) if isinstance(given, list) else [given] for role, given in roles.items()}
            for who, roles in answers.items()
        }
        self.prompts: list[tuple[str, str, str]] = []
        self.systems: Counter[str] = Counter()

    async def complete(self, request: Request) -> Reply:
        text = request.messages[1].content
        turn = orjson.loads(read_blocks(text)["turn"])
        self.prompts.append((turn["you"], turn["role"], text))
        self.systems[request.messages[0].content] += 1
        given = self._answers.get(turn["you"], self._answers.get("all", {}))[turn["role"]]
        value = given.pop(0) if len(given) > 1 else given[0]
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        return Reply(text, Finish.STOP, Usage(10, 5), None, 0.1, "cast")

    def asked(self, role: str, who: str = "") -> list[dict[str, Any]]:
        """The blocks of the prompts of a role, in order."""
        return [read_given(read_blocks(text)) for name, found, text in self.prompts if found == role and who in name]


def config(folder: Path, **changes: Any) -> DrwellConfig:
    """The shipped configuration."""
    own = {**prompts(), "folder": str(folder)}
    return DrwellConfig(**{**shipped("agents", "drwell"), "prompts": own, "repairs": 2, **changes})


def team(
    model: Any, folder: Path, agents: int = 2, *, world: Any = None, memories: Mapping[str, Any] | None = None
) -> tuple[Any, Negotiation, list[DrwellMind]]:
    """The world, the topology and the minds of a team."""
    (folder / "rules.jinja").write_text("Walk to the end.", encoding="utf-8")
    world = world or ClosingHallway(NEEDS, agents)
    topology = Negotiation(NegotiationConfig(name="negotiation", rounds=2))
    context = TeamContext(world, topology, Seeds(0, "minds"), lambda _: Structuring(model, 0), memories or {})
    minds = build(config(folder), context)
    return world, topology, [mind for mind in minds if isinstance(mind, DrwellMind)]


def run(model: Any, folder: Path, agents: int = 2, **changes: Any) -> tuple[list[Stamped], list[DrwellMind]]:
    """Play an episode."""
    world, topology, minds = team(model, folder, agents, **changes)
    return play(minds, world, topology=topology), minds
