"""What an agent is shown for planning: the typed symbolic observation and its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from crafter_env.constants import NEED_MAX, Cell

OPEN = "open"
"""The goal of an episode that only its limit ends."""
UNSEEN = "?"
"""Character of a cell that was not seen, in `SeenMap`."""


ORE = ("coal", "iron", "diamond")
"""What a prompt names by id wherever it is in view, since it may be behind stone, where no task is."""
_USUAL: Mapping[str, object] = {"alive": True, "sleeping": False, "agents_not_shown": 0}
"""What goes without saying in a prompt."""


@dataclass(frozen=True, slots=True)
class SeenMap:
    """A drawing of what an agent has seen, in the characters of `Layout`; `?` is unseen, digits are agents in view."""

    left: int
    """Column of the first character of each row."""
    top: int
    """Row of the first row."""
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeenEntity:
    """A creature in view."""

    id: int
    kind: str
    cell: Cell
    health: int


@dataclass(frozen=True, slots=True)
class Teammate:
    """Another agent in view."""

    agent: str
    """Its name."""
    cell: Cell
    sleeping: bool


@dataclass(frozen=True, slots=True)
class LastSeen:
    """Where another agent was seen that is out of view now."""

    agent: str
    """Its name."""
    cell: Cell
    step: int
    """When that was."""


@dataclass(frozen=True, slots=True)
class TargetHint:
    """A cell that the agent has seen and can reach: a task, a source of water, or a station."""

    id: int
    kind: str
    """Its material."""
    cell: Cell
    distance: int
    """Steps to where it can be acted on."""
    ready: bool
    """Whether this agent holds the tool that it takes."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """The nearest cell in a direction from which something unseen can be seen."""

    id: int
    direction: str
    cell: Cell
    distance: int


@dataclass(frozen=True, slots=True)
class Cooperation:
    """What the level asks of the team."""

    agents: Mapping[str, int]
    """Capable agents that each resource takes."""
    points: Mapping[str, float]
    """Points of a unit of each resource, for each agent that collects it."""
    craft_agents: int
    """Agents that must make the same tool at once."""
    radius: int
    """Cells within which a `do` reaches."""
    area: bool
    """Whether a `do` acts on all that is within the radius, not on one cell."""
    share_radius: int | None
    """Cells within which items can be shared; None: any distance, and -1: never."""
    iron_needs_table: bool
    """Whether iron tools need a table beside the furnace."""
    mobs: bool
    """Whether there are monsters and plants."""


@dataclass(frozen=True, slots=True)
class PastAction:
    """A symbolic action that has ended."""

    action: str
    args: Mapping[str, object]
    status: str
    reason: str
    steps: int


@dataclass(frozen=True, slots=True)
class CrafterObservation:
    """What one agent knows of the world.

    Cells are (x, y): x counts columns to the right, y rows downward. The id of a cell never changes.
    """

    step: int
    max_steps: int
    goal: str
    """The achievement that ends the episode; `open`: to score as much as possible."""
    score: float
    """Points of the team."""
    size: Cell
    """Columns and rows of the map."""
    daylight: float
    """0 at midnight, 1 at noon; monsters come out in the dark."""
    agent: str
    """Name of the observing agent; empty for one who sees the world from outside."""
    alive: bool
    sleeping: bool
    cell: Cell | None
    """Where it stands; None for one who sees the world from outside."""
    facing: Cell
    """The direction that it faces, (0, 0) for one without a body."""
    needs: Mapping[str, int]
    """Health, food, drink and energy, 0 to 9."""
    inventory: Mapping[str, int]
    """What it holds."""
    cooperation: Cooperation
    known_only: bool
    """Whether plans may name only cells that this agent has seen."""
    map: SeenMap
    visible: Mapping[str, tuple[int, ...]]
    """Ids of the cells in view, by material; those that can be walked on are left out."""
    entities: tuple[SeenEntity, ...]
    teammates: tuple[Teammate, ...]
    """Those in view, nearest first."""
    last_seen: tuple[LastSeen, ...]
    """Teammates that were seen earlier, nearest first."""
    agents_not_shown: int
    """Teammates that it sees or has seen, and that are not listed: see `env.text.max_agents`."""
    tasks: tuple[TargetHint, ...]
    """The nearest trees, stones, coals, irons and diamonds that it knows and can reach."""
    supplies: tuple[TargetHint, ...]
    """The nearest water, tables and furnaces that it knows and can reach."""
    frontiers: tuple[Frontier, ...]
    """Where to go to see more."""
    history: tuple[PastAction, ...] = ()
    """Its recent symbolic actions, oldest first."""

    def shown(self) -> dict[str, Any]:
        """Return what a prompt shows: what a plan needs, once; `crafter_env.read_shown` makes it whole again.

        Left out are what the configuration says of the whole episode, which the rules of a prompt tell; the agent's own
        name and the ended actions, which its turn tells; what follows from the rest (whether the tool for a cell is
        held, the cell of an id, the ids of what the map draws, but for ore in view that no task names); what no action
        takes (the facing, the health of creatures); and what is empty, full or as usual.
        """
        named = {hint.id for hint in self.tasks}
        ore = {kind: [each for each in self.visible.get(kind, ()) if each not in named] for kind in ORE}
        you = {
            "alive": self.alive,
            "sleeping": self.sleeping,
            "cell": self.cell,
            "needs": {need: units for need, units in self.needs.items() if units < NEED_MAX},
            "inventory": self.inventory,
            "map": asdict(self.map),
            "visible": {kind: ids for kind, ids in ore.items() if ids},
            "creatures": creatures_by_kind(self.entities),
            "teammates": {mate.agent: mate.cell for mate in self.teammates},
            "asleep": [mate.agent for mate in self.teammates if mate.sleeping],
            "last_seen": {mate.agent: [*mate.cell, mate.step] for mate in self.last_seen},
            "agents_not_shown": self.agents_not_shown,
            "tasks": _steps(self.tasks),
            "supplies": _steps(self.supplies),
            "frontiers": {edge.direction: {str(edge.id): edge.distance} for edge in self.frontiers},
        }
        return {"now": self.now, "you": _told(you)}

    @property
    def now(self) -> dict[str, float]:
        """What a prompt tells of the moment, the same for all agents."""
        return {"step": self.step, "score": self.score, "daylight": self.daylight}

    def text(self) -> str:
        """The observation as readable lines."""
        end = f"reach {self.goal}" if self.goal != OPEN else "open, score as much as possible"
        lines = [
            f"Step {self.step} of {self.max_steps}; goal: {end}; score {self.score:g}; daylight {self.daylight:.2f}.",
            self._self_line(),
            f"Needs: {_amounts(self.needs)}. Bag: {_amounts(self.inventory) or 'empty'}.",
            f"Agents needed at once: {_amounts(self.cooperation.agents)}; to craft {self.cooperation.craft_agents}; "
            f"reach {self.cooperation.radius}. Points: {_amounts(self.cooperation.points)}.",
            f"Seen so far, from column {self.map.left}, row {self.map.top}:",
            *self.map.rows,
        ]
        lines += [f"In view: {material} {', '.join(map(str, ids))}" for material, ids in self.visible.items()]
        lines += [f"- {e.kind} {e.id} at {e.cell}, health {e.health}" for e in self.entities]
        lines += [f"- {t.agent} at {t.cell}{', asleep' if t.sleeping else ''}" for t in self.teammates]
        lines += [f"- {t.agent} was at {t.cell} at step {t.step}" for t in self.last_seen]
        lines += [f"- {self.agents_not_shown} other agents are farther away"] if self.agents_not_shown else []
        lines += [_hint_line(hint) for hint in (*self.tasks, *self.supplies)]
        lines += [f"- unseen land {f.direction}: cell {f.id} at {f.cell}, {f.distance} steps" for f in self.frontiers]
        lines += [_past_line(entry) for entry in self.history]
        return "\n".join(lines)

    def _self_line(self) -> str:
        if self.cell is None:
            return "You have no body."
        if not self.alive:
            return f"You are {self.agent}, and dead."
        return f"You are {self.agent} at {self.cell}{', asleep' if self.sleeping else ''}."


def _told(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in values.items()
        if value not in ("", (), [], {}, None) and not (key in _USUAL and value == _USUAL[key])
    }


def creatures_by_kind(entities: Iterable[SeenEntity]) -> dict[str, dict[str, Cell]]:
    """Return the cell of each creature by its id, by kind."""
    found: dict[str, dict[str, Cell]] = {}
    for entity in entities:
        found.setdefault(entity.kind, {})[str(entity.id)] = entity.cell
    return found


def _steps(hints: Iterable[TargetHint]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for hint in hints:
        found.setdefault(hint.kind, {})[str(hint.id)] = hint.distance
    return found


def _amounts(amounts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {amount:g}" for name, amount in amounts.items())


def _hint_line(hint: TargetHint) -> str:
    tool = "" if hint.ready else ", its tool is missing"
    return f"- {hint.kind} {hint.id} at {hint.cell}, {hint.distance} steps{tool}"


def _past_line(entry: PastAction) -> str:
    arguments = ", ".join(f"{key}={value}" for key, value in entry.args.items() if value is not None)
    reason = f" ({entry.reason})" if entry.reason else ""
    return f"- you did {entry.action}({arguments}): {entry.status}{reason}, {entry.steps} steps"
