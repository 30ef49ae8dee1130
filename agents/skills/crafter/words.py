"""What simulated speakers of the open world say to each other, and how it is understood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from maeil.plans import Task

_HERE = re.compile(r"\bI am at cell (\d+)\b")
_BAG = re.compile(r"\bI hold ([^.]*)\.")
_UNITS = re.compile(r"\b(\d+) ([a-z_]+)")
_SEEN = re.compile(r"\bI have seen ([^.]*)\.")
_PLACE = re.compile(r"\b([a-z]+)_(\d+)\b")
_AGENT = re.compile(r"\bagent_(\d+)\b")
_COLLECT = re.compile(r"((?:agent_\d+, )*agent_\d+): collect ([a-z]+)_(\d+), try (\d+) times")
_CRAFT = re.compile(r"((?:agent_\d+, )*agent_\d+): craft ([a-z_]+) at [a-z]+_(\d+), try (\d+) times")
_REFUSAL = re.compile(r"\bI cannot (collect|craft) (\w+)")


@dataclass(frozen=True, slots=True)
class Assignment:
    """Who does what where: a call to others, an order, or the claim of one agent.

    Attributes:
        agents: by index.
        task: `collect` of a cell (`iron_2081`), or `craft` of a tool.
        cell: id of the cell, or of the station at which the tool is made.
        steps: times to try.
        t: environment step in which it was said.
    """

    agents: frozenset[int]
    task: Task
    cell: int
    steps: int
    t: int

    @property
    def is_joint(self) -> bool:
        """Whether it takes more than one agent."""
        return len(self.agents) > 1


def report(cell: int, bag: Mapping[str, int], seen: Iterable[str]) -> str:
    """Say where one is, what one holds, and which places one has seen."""
    held = ", ".join(f"{units} {item}" for item, units in bag.items()) or "nothing"
    places = ", ".join(seen)
    return f"I am at cell {cell}. I hold {held}." + (f" I have seen {places}." if places else "")


def assign(assignment: Assignment, station: str = "table") -> str:
    """Say who does what."""
    agents = ", ".join(f"agent_{agent}" for agent in sorted(assignment.agents))
    what = f"{assignment.task.kind} {assignment.task.target}"
    where = f" at {station}_{assignment.cell}" if assignment.task.kind == "craft" else ""
    return f"{agents}: {what}{where}, try {assignment.steps} times."


def refuse(task: Task, reason: str) -> str:
    """Say that one cannot do what one was told."""
    return f"I cannot {task.kind} {task.target}: {reason}."


def read_cell(text: str) -> int | None:
    """Find where the speaker is."""
    found = _HERE.search(text)
    return int(found[1]) if found else None


def read_bag(text: str) -> dict[str, int] | None:
    """Find what the speaker holds."""
    found = _BAG.search(text)
    return {item: int(units) for units, item in _UNITS.findall(found[1])} if found else None


def read_places(text: str) -> list[tuple[str, int]]:
    """Find the places that the speaker has seen: material and id."""
    found = _SEEN.search(text)
    return [(kind, int(cell)) for kind, cell in _PLACE.findall(found[1])] if found else []


def read_assignments(text: str, t: int) -> list[Assignment]:
    """Find who is to do what."""
    found = [
        Assignment(_agents(agents), Task("collect", f"{kind}_{cell}"), int(cell), int(steps), t)
        for agents, kind, cell, steps in _COLLECT.findall(text)
    ]
    return found + [
        Assignment(_agents(agents), Task("craft", tool), int(cell), int(steps), t)
        for agents, tool, cell, steps in _CRAFT.findall(text)
    ]


def read_refusals(text: str) -> list[Task]:
    """Find what the speaker refuses."""
    return [Task(kind, target) for kind, target in _REFUSAL.findall(text)]


def _agents(text: str) -> frozenset[int]:
    return frozenset(int(agent) for agent in _AGENT.findall(text))
