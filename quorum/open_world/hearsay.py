"""The messages of simulated open-world speakers, and the knowledge of others that a listener draws from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from crafter_env import COLLECT, Cell, CrafterObservation, Material
from maeil.messages import Message, MessageKind
from maeil.mind import View
from maeil.plans import PlanStatus, Task

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
    """An assignment of agents to a task: a call to others, an order, or one agent's claim.

    Attributes:
        agents: indices of the agents.
        task: `collect` of a cell (`iron_2081`), or `craft` of a tool.
        cell: id of the cell, or of the station for the tool.
        steps: number of attempts.
        t: environment step of the message.
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


def write_report(cell: int, bag: Mapping[str, int], seen: Iterable[str]) -> str:
    """Write the speaker's position, inventory and sights."""
    held = ", ".join(f"{units} {item}" for item, units in bag.items()) or "nothing"
    places = ", ".join(seen)
    return f"I am at cell {cell}. I hold {held}." + (f" I have seen {places}." if places else "")


def write_assignment(assignment: Assignment) -> str:
    """Write an assignment."""
    agents = ", ".join(f"agent_{agent}" for agent in sorted(assignment.agents))
    what = f"{assignment.task.kind} {assignment.task.target}"
    where = f" at table_{assignment.cell}" if assignment.task.kind == "craft" else ""
    return f"{agents}: {what}{where}, try {assignment.steps} times."


def write_refusal(task: Task, reason: str) -> str:
    """Write that the speaker cannot follow an order, and why."""
    return f"I cannot {task.kind} {task.target}: {reason}."


def read_cell(text: str) -> int | None:
    """Parse the speaker's position."""
    found = _HERE.search(text)
    return int(found[1]) if found else None


def read_bag(text: str) -> dict[str, int] | None:
    """Parse the speaker's inventory."""
    found = _BAG.search(text)
    return {item: int(units) for units, item in _UNITS.findall(found[1])} if found else None


def read_places(text: str) -> list[tuple[str, int]]:
    """Parse the places the speaker has seen, as material and id."""
    found = _SEEN.search(text)
    return [(kind, int(cell)) for kind, cell in _PLACE.findall(found[1])] if found else []


def read_assignments(text: str, t: int) -> list[Assignment]:
    """Parse assignments."""
    found = [
        Assignment(_agents(agents), Task("collect", f"{kind}_{cell}"), int(cell), int(steps), t)
        for agents, kind, cell, steps in _COLLECT.findall(text)
    ]
    return found + [
        Assignment(_agents(agents), Task("craft", tool), int(cell), int(steps), t)
        for agents, tool, cell, steps in _CRAFT.findall(text)
    ]


def read_refusals(text: str) -> list[Task]:
    """Parse the tasks the speaker refuses."""
    return [Task(kind, target) for kind, target in _REFUSAL.findall(text)]


def _agents(text: str) -> frozenset[int]:
    return frozenset(int(agent) for agent in _AGENT.findall(text))


LIFETIME = 60
"""Steps after which an agreement is forgotten."""
WAIT = 20
"""Number of attempts if the feedback names other agents that need help."""
_IN_VAIN = (PlanStatus.FAILED, PlanStatus.TIMED_OUT)


@dataclass(slots=True)
class Hearsay:
    """One agent's knowledge beyond what it has seen.

    Attributes:
        cells: the last known positions of other agents.
        bags: the inventories of other agents, as they reported them.
        places: materials of cells, as others reported them.
        assignments: the assignments still in force.
        refused: tasks that agents have said they cannot do.
        short: tasks of others that lack agents, according to the feedback.
    """

    cells: dict[int, Cell] = field(default_factory=dict)
    bags: dict[int, dict[str, int]] = field(default_factory=dict)
    places: dict[Cell, Material] = field(default_factory=dict)
    assignments: list[Assignment] = field(default_factory=list)
    refused: set[tuple[int, Task]] = field(default_factory=set)
    short: list[Assignment] = field(default_factory=list)

    def of(self, agent: int) -> Assignment | None:
        """Return an agent's assignment; None if it has none."""
        return next((found for found in self.assignments if agent in found.agents), None)

    def add(self, assignment: Assignment) -> None:
        """Add an assignment, replacing older ones of any of its agents."""
        self.assignments = [old for old in self.assignments if not old.agents & assignment.agents]
        self.assignments.append(assignment)

    def taken(self, agent: int) -> frozenset[int]:
        """Return the cells that others work on."""
        return frozenset(found.cell for found in self.assignments if agent not in found.agents)

    def holds(self, agent: int, item: str) -> bool:
        """Return whether an agent is known to hold an item."""
        return self.bags.get(agent, {}).get(item, 0) > 0


def listen(view: View) -> Hearsay:
    """Collect knowledge of others from a view's observation, messages and feedback."""
    seen = view.observation
    assert isinstance(seen, CrafterObservation)
    known = Hearsay()
    index = {name: agent for agent, name in enumerate(view.names)}
    seen_at = {index[missed.agent]: missed.step for missed in seen.last_seen}
    known.cells = {index[missed.agent]: missed.cell for missed in seen.last_seen}
    messages = sorted((*view.memory, *view.unread), key=lambda message: message.t)
    for message in messages:
        _hear(known, message, view, seen_at)
    known.cells |= {index[mate.agent]: mate.cell for mate in seen.teammates}
    for assignment in _in_order(messages, view.t):
        known.add(assignment)
    _close(known, messages, view)
    _feel(known, view)
    return known


def _hear(known: Hearsay, message: Message, view: View, seen_at: dict[int, int]) -> None:
    """Record a speaker's position, inventory, sights and refusals."""
    rows = view.observation.size[1]  # type: ignore[attr-defined]
    known.refused |= {(message.sender, task) for task in read_refusals(message.content)}
    if message.sender == view.agent:
        return
    cell, bag = read_cell(message.content), read_bag(message.content)
    if cell is not None and message.t >= seen_at.get(message.sender, 0):
        known.cells[message.sender] = divmod(cell - 1, rows)
    if bag is not None:
        known.bags[message.sender] = bag
    for kind, identity in read_places(message.content):
        if kind in Material.__members__:
            known.places[divmod(identity - 1, rows)] = Material[kind]


def _in_order(messages: list[Message], t: int) -> list[Assignment]:
    """Return assignments, highest precedence last: by step, then joint ones, then those of lower-index speakers.

    A leader's last word counts, so it can change its mind.
    """
    found = [
        ((said.t, said.is_joint, -message.sender, number), said)
        for number, message in enumerate(messages)
        for said in read_assignments(message.content, message.t)
        if t - said.t <= LIFETIME
    ]
    return [said for _, said in sorted(found, key=lambda entry: entry[0])]


def _close(known: Hearsay, messages: list[Message], view: View) -> None:
    """Drop assignments no longer in force: a member failed, refused, or has spoken since, so that it has no plan."""
    last = view.outcomes[-1] if view.outcomes else None
    failed = last.task if last is not None and last.status in _IN_VAIN else None

    def stands(said: Assignment) -> bool:
        if said.t < view.t and view.agent in said.agents and said.task == failed:
            return False
        since = {m.sender for m in messages if m.t > said.t and m.kind is not MessageKind.DIRECTIVE}
        return not since & said.agents and not any((agent, said.task) in known.refused for agent in said.agents)

    known.assignments = [said for said in known.assignments if stands(said)]


def _feel(known: Hearsay, view: View) -> None:
    """Record the feedback: cells of tasks, holders of the required tools, and agents that still wait for others."""
    rows = view.observation.size[1]  # type: ignore[attr-defined]
    for open_task in view.constraints:
        kind, _, identity = open_task.task.target.rpartition("_")
        if open_task.task.kind != "collect" or kind not in Material.__members__ or not identity.isdigit():
            continue
        material = Material[kind]
        known.places[divmod(int(identity) - 1, rows)] = material
        others = set(open_task.planned) - {view.agent}
        if open_task.needs == 1 and not any(known.of(other) for other in others) and others:
            known.add(Assignment(frozenset(others), open_task.task, int(identity), WAIT, view.t))
        if 0 < len(others) < open_task.needs and known.of(view.agent) is None:
            known.short.append(
                Assignment(frozenset({*others, view.agent}), open_task.task, int(identity), WAIT, view.t)
            )
        tool = COLLECT[material].tool
        if tool is not None:
            everybody = tuple(range(len(view.names)))
            for agent in everybody if open_task.able is None else open_task.able:
                known.bags.setdefault(agent, {})[tool.name] = 1
