"""`check_world` accepts a world that keeps the contract, and names the rule that a broken one breaks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from pydantic import Field, field_serializer

from maeil import (
    ActionEnd,
    ActionStatus,
    Attempt,
    OpenTask,
    Outcome,
    Plan,
    Progress,
    SymbolicAction,
    Task,
    TaskState,
    Vocabulary,
)
from maeil.mind import Arrays
from maeil.testing import BrokenContract, check_world
from quorum_base.drawing import Canvas, Drawing, Mark, MarkKind
from tests.maeil.corridor import Corridor, CorridorView, Rest, Walk, Walker


class Team(Corridor):
    """The corridor, with the one task that all go on at once, and with a picture."""

    def reset(self, seed: int) -> Mapping[str, Any]:
        self.last: TaskState | None = None
        return super().reset(seed)

    def state(self, joint: Sequence[int]) -> TaskState | None:
        n = len(self.agents)
        here, moving = (cell < self.length for cell in self.cells), map(bool, joint)
        both = [pair for pair in zip(here, moving, strict=True) if any(pair)]
        if all(cell == self.length for cell in self.cells):
            return None
        return TaskState(
            Task("go", "on"), n, sum(h for h, _ in both), sum(m for _, m in both), n, sum(map(all, both)), True
        )

    def tasks(self, agent: int | None, text: str = "") -> Mapping[str, Sequence[str]]:
        return {"go": ["on"]}

    def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
        unknown = plan.task is not None and plan.task != Task("go", "on")
        return (*super().check_plan(agent, plan), *["there is no such task"][: int(unknown)])

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        state, before = self.state(joint), self.last
        self.last = state
        if state == before:
            return ()
        return (state,) if state is not None else (replace(before, threshold=0),)

    def step(self, joint: Sequence[int]) -> Any:
        attempts = (Attempt(Task("go", "on"), (0,), succeeded=False),) if any(joint) else ()
        return replace(super().step(joint), attempts=attempts)

    def canvas(self) -> Canvas:
        return Canvas(self.length + 1, len(self.agents), (MarkKind("walker", "#000000", "#ffffff"),))

    def draw(self) -> Drawing:
        return Drawing(b"", {name: Mark(0, self.cells[i], i, agent=i) for i, name in enumerate(self.agents)})

    def primitive_name(self, primitive: int) -> str:
        return ("rest", "walk")[primitive]


def mutant(rule: str, **changes: Any) -> Any:
    """A world with some members changed, and a part of the rule that it breaks then."""
    (name,) = set(changes) - {"state", "reset"} or set(changes)
    number = next(_NUMBERS)
    return pytest.param(type("Mutant", (Team,), changes), rule, id=f"{number}-{name}")


_NUMBERS = itertools.count(1)
_CLOCK = itertools.count()


class Lossy(SymbolicAction):
    action: Literal["lossy"] = "lossy"
    steps: int = Field(default=1, ge=0)

    @field_serializer("steps")
    def _more(self, steps: int) -> int:
        return steps + 1


class Hasty(Walker):
    def status(self) -> ActionEnd | None:
        return ActionEnd(ActionStatus.SUCCESS)


class Speechless(Walker):
    def status(self) -> Any:
        return "done" if self.ticks else None


class Unreasonable(Walker):
    def status(self) -> ActionEnd | None:
        return ActionEnd(ActionStatus.FAILED) if self.ticks else None


class Numeric(Walker):
    def act(self) -> Any:
        return np.int64(super().act())


def controlled(kind: type[Walker]) -> Any:
    return lambda self, agent, action: kind(int(isinstance(action, Walk)), action.steps)


def undecided(self: Team, agent: int, plan: Plan) -> tuple[str, ...]:
    return Team.check_plan(self, agent, plan) if plan.actions == (self.idle,) else (f"call {next(_CLOCK)}",)


def leaping(self: Team, agent: int, action: SymbolicAction) -> Walker:
    """A controller that moves its agent without a primitive."""
    self.cells[agent] = self.length
    return Walker(0, 1)


def stepped(**changes: Any) -> Any:
    return lambda self, joint: replace(Corridor.step(self, joint), **changes)


def late_noise(self: Team, joint: Sequence[int]) -> Any:
    taken = Corridor.step(self, joint)
    return replace(taken, reward=taken.reward + next(_CLOCK)) if self.t > 8 else taken


def moving(method: str) -> Any:
    """A method that moves an agent when it is asked."""

    def asked(self: Team, *arguments: Any) -> Any:
        self.cells[0] = min(self.cells[0] + 1, self.length)
        return getattr(Team, method)(self, *arguments)

    return asked


def kept(self: Team, seed: int) -> Mapping[str, Any]:
    """A reset that keeps the last state."""
    last = getattr(self, "last", None)
    board = Team.reset(self, seed)
    self.last = last
    return board


def counted(**changes: Any) -> Any:
    """Constraints with one number changed."""

    def state(self: Team, joint: Sequence[int]) -> TaskState | None:
        found = Team.state(self, joint)
        return replace(found, **changes) if found is not None else None

    return state


ARRAYS: Mapping[str, Any] = {
    "array_sizes": lambda self, agent: (2, 2),
    "arrays": lambda self, agent: Arrays(np.array(self.cells, np.float32), np.ones(2, np.int8)),
    "action_of": lambda self, agent, index: (Rest(), Walk())[index],
}
"""What makes the corridor a world for learned policies."""


def arrayed(rule: str, **changes: Any) -> Any:
    """A world for learned policies with one mistake in that, and the rule that it breaks."""
    (name,) = changes
    return pytest.param(type("M", (Team,), {**ARRAYS, **changes}), rule, id=name)


GO_ON = OpenTask(Task("go", "on"), 2, 1)


def walking(self: Team, plans: Sequence[Plan | None], text: str = "") -> list[OpenTask]:
    self.cells[0] = min(self.cells[0] + 1, self.length)
    return [GO_ON]


def telling(self: Team, plans: Sequence[Plan | None], text: str = "") -> list[OpenTask]:
    return [] if self.constraints([0] * len(plans), plans) else [GO_ON]


class Endless(Walker):
    def status(self) -> ActionEnd | None:
        return None


class Handed(Walker):
    """A controller that lacks a method."""

    close = None  # type: ignore[assignment]


SHARED = Walker(1, 3)


def lazy_reset(self: Team, seed: int) -> Mapping[str, Any]:
    """A reset that sets where the agents are only once."""
    cells = getattr(self, "cells", None)
    board = Team.reset(self, seed)
    self.cells = cells or self.cells
    return board


class Live:
    """An observation that shows the world as it is, and not as it was."""

    def __init__(self, world: Team) -> None:
        self.world = world

    def text(self) -> str:
        return str(self.world.cells)


@dataclass
class Cells:
    cells: list[int]
    text = "the cells"


@dataclass
class LiveCells(Cells):
    def text(self) -> str:  # type: ignore[override]
        return str(self.cells)


def in_place(self: Team, joint: Sequence[int]) -> Any:
    """A step that changes the list of cells, which somebody may have been given."""
    cells = self.cells
    taken = Team.step(self, joint)
    cells[:], self.cells = self.cells, cells
    return taken


def unended(self: Team, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
    return [state for state in Team.constraints(self, joint, plans) if state.threshold]


class Halfway(Team):
    """Its task is over when the first agent has arrived."""

    def state(self, joint: Sequence[int]) -> TaskState | None:
        return None if self.length in self.cells else Team.state(self, joint)


class Drawn(Team):
    """Draws from a stream that no seed begins."""

    rng = Random(0)

    def reset(self, seed: int) -> Mapping[str, Any]:
        return {**Team.reset(self, seed), "start": self.rng.random()}


MUTANTS = [
    # What beginners forget or mistake.
    mutant("a world has every member that maeil.World requires", idle=property()),
    mutant(
        "a world has every member that maeil.World requires", __init__=lambda self: setattr(self, "agents", ["agent_0"])
    ),
    mutant("a world has every member that maeil.World requires", vocabulary=[Walk, Rest]),
    mutant("idle is an action of the vocabulary", idle=Rest),
    mutant("idle can always begin, and lasts exactly one step", idle=Rest(steps=2)),
    mutant("reset() depends on its seed alone, not on what was played before", reset=lazy_reset),
    pytest.param(Drawn, "reset() depends on its seed alone", id="unseeded"),
    mutant("reset() returns the board as a record", reset=lambda self, seed: Team.reset(self, seed) and None),
    mutant("has a method text() that returns a text", observe=lambda self, agent: Cells(list(self.cells))),
    mutant("has a method text() that returns a text", observe=lambda self, agent: {"cell": self.cells[agent]}),
    mutant("the observation is JSON-ready", observe=lambda self, agent: Live(self)),
    pytest.param(
        type("Mutant", (Team,), {"observe": lambda self, agent: LiveCells(self.cells), "step": in_place}),
        "step() leaves everything that reset() or an observation returned unchanged",
        id="shared-observation",
    ),
    pytest.param(
        type(
            "Mutant",
            (Team,),
            {"reset": lambda self, seed: Team.reset(self, seed) and {"cells": self.cells}, "step": in_place},
        ),
        "step() leaves everything that reset() or an observation returned unchanged",
        id="shared-board",
    ),
    mutant("start_action() returns a controller with", start_action=lambda self, agent, action: None),
    mutant("start_action() returns a controller with", start_action=lambda self, agent, action: action),
    mutant("start_action() returns a controller with", start_action=controlled(Handed)),
    mutant("start_action() returns a new controller", start_action=lambda self, agent, action: SHARED),
    mutant("idle can always begin, and lasts exactly one step", start_action=controlled(Endless)),
    mutant("step() returns a Transition", step=lambda self, joint: Corridor.step(self, joint) and None),
    mutant("the outcomes of a Transition form a tuple", step=stepped(outcomes=None)),
    mutant("the reward is a number", step=stepped(reward=[0.0, 0.0])),
    mutant("the end is Outcome.SUCCESS", step=stepped(end=True)),
    mutant("constraints() returns a list of TaskState", constraints=lambda self, joint, plans: None),
    mutant("constraints() returns a list of TaskState", constraints=lambda self, joint, plans: [Task("go", "on")]),
    pytest.param(
        type("Mutant", (Halfway,), {"constraints": unended}),
        "constraints() returns a task when it becomes active, and with threshold 0 when it has ended",
        id="never-ended",
    ),
    mutant("check_plan() returns a tuple of reasons", check_plan=lambda self, agent, plan: True),
    mutant("progress() returns a Progress", progress=lambda self: 0.5),
    mutant("distance() is a number", distance=lambda self, agent, other: str(agent - other)),
    # All other rules.
    mutant("agents is a tuple of different names", __init__=lambda self: setattr(self, "agents", ("a", "a"))),
    mutant("idle is an action of the vocabulary", vocabulary=Vocabulary(Walk)),
    mutant("the vocabulary reads an action back", vocabulary=Vocabulary(Walk, Rest, Lossy)),
    mutant("the board is JSON-ready", reset=lambda self, seed: {**Team.reset(self, seed), "cells": np.zeros(2)}),
    mutant(
        "reset() depends on its seed alone", reset=lambda self, seed: {**Team.reset(self, seed), "age": next(_CLOCK)}
    ),
    mutant("the same seed and plans", step=late_noise),
    mutant("the observation is JSON-ready", observe=lambda self, agent: CorridorView(np.int64(0))),
    mutant("has a method text() that returns a text", global_observation=lambda self: {"cells": self.cells}),
    mutant("drawing change nothing", observe=moving("observe")),
    mutant("drawing change nothing", global_observation=moving("global_observation")),
    mutant("check_plan() changes nothing", check_plan=moving("check_plan")),
    mutant("check_plan() returns a tuple of reasons", check_plan=lambda self, agent, plan: "too far"),
    mutant("check_plan() returns the same twice", check_plan=undecided),
    mutant("check_plan() never refuses idle", check_plan=lambda self, agent, plan: ("too lazy",)),
    mutant("idle can always begin", start_action=controlled(Hasty)),
    mutant("returns None or an ActionEnd", start_action=controlled(Speechless)),
    mutant("has a reason", start_action=controlled(Unreasonable)),
    mutant("returns a primitive", start_action=controlled(Numeric)),
    mutant("seed and joint actions alone", start_action=leaping),
    mutant("step() returns a Transition", step=lambda self, joint: (Corridor.step(self, joint), 0.0)),
    mutant("'what' as its first key", step=stepped(outcomes=({"agent": 0, "what": "arrival"},))),
    mutant("the reward is finite", step=stepped(reward=float("nan"))),
    mutant("the reward is a number", step=stepped(reward=np.float32(1))),
    mutant("the end is Outcome.SUCCESS", step=stepped(end="success")),
    mutant("the end is Outcome.SUCCESS", step=stepped(end=Outcome.ERROR)),
    mutant("rewards has one number for each agent", step=stepped(rewards=(1.0,))),
    mutant("the reward is the mean of rewards", step=stepped(reward=1.0, rewards=(1.0, -1.0))),
    mutant("the agents of an attempt", step=stepped(attempts=(Attempt(Task("go", "on"), (1, 0), True),))),
    mutant("the task of a failed attempt", step=stepped(attempts=(Attempt(Task("go", "up"), (0,), False),))),
    mutant("has reached all its goals", step=stepped(end=Outcome.SUCCESS)),
    mutant("at its first call after a reset", reset=kept),
    mutant("only tasks that have changed", constraints=lambda self, joint, plans: (Team.state(self, joint),)),
    mutant("ends a task that was active", state=counted(threshold=0)),
    mutant("counts agents of the team", state=counted(participation=3)),
    mutant("joint counts agents in all three", state=counted(participation=0, joint=1)),
    mutant("temporal is at most participation", state=counted(participation=0, joint=0, temporal=1)),
    mutant("constraints() changes nothing", constraints=moving("constraints")),
    mutant("tasks() returns for each kind a list of targets", tasks=lambda self, agent, text="": {"go": "on"}),
    mutant("accepts a plan for each of tasks()", tasks=lambda self, agent, text="": {"go": ["on", "back"]}),
    mutant("refuses a plan for a task that is not in tasks()", check_plan=Corridor.check_plan),
    mutant(
        "open_tasks() returns a sequence of OpenTask",
        open_tasks=lambda self, plans, text="": [self.state([0] * len(plans))],
    ),
    mutant("lists each task once", open_tasks=lambda self, plans, text="": [GO_ON, GO_ON]),
    mutant("tasks that have not ended", open_tasks=lambda self, plans, text="": [replace(GO_ON, needs=0)]),
    mutant("names agents by index, ascending", open_tasks=lambda self, plans, text="": [replace(GO_ON, able=(1, 0))]),
    mutant("names what is missing", open_tasks=lambda self, plans, text="": [replace(GO_ON, missing=(("a key", 0),))]),
    mutant("the tasks whose targets the text names", open_tasks=lambda self, plans, text="": [GO_ON][: not text]),
    mutant("open_tasks() changes nothing", open_tasks=walking),
    mutant("does not change what constraints() returns", open_tasks=telling),
    mutant("distance() is the same in both directions", distance=lambda self, agent, other: max(agent - other, 0)),
    mutant("distance() is finite", distance=lambda self, agent, other: -1.0),
    mutant("reached is from 0 to goals", progress=lambda self: Progress(3, 2, 0.0)),
    mutant("goals stay the same", progress=lambda self: Progress(0, 2 + self.t, 0.0)),
    mutant("the score is finite", progress=lambda self: Progress(0, 2, float("inf"))),
    mutant("ansi() draws", ansi=lambda self: ""),
    mutant("canvas() stays the same", canvas=lambda self: replace(Team.canvas(self), margin=self.t)),
    mutant("by their index in canvas()", draw=lambda self: Drawing(b"", {"wall": Mark(1, 0, 0)})),
    mutant("a kind for each cell", draw=lambda self: Drawing(b"\0", {})),
    mutant("marks an agent by its index, once", draw=lambda self: Drawing(b"", {"?": Mark(0, 0, 0, agent=2)})),
    mutant("drawing change nothing", draw=moving("draw")),
    mutant("primitive_name() names every primitive", primitive_name=lambda self, primitive: ""),
    arrayed("the sizes of array_sizes()", array_sizes=lambda self, agent: (1, 2)),
    arrayed(
        "allows at least one action", arrays=lambda self, agent: Arrays(np.zeros(2, np.float32), np.zeros(2, np.int8))
    ),
    arrayed("accepts what action_of() returns", action_of=lambda self, agent, index: Walk(steps=99)),
]


class Changed(Team):
    """The corridor in which walkers can be put elsewhere."""

    def change(self, changes: Mapping[str, Any]) -> None:
        if unknown := set(changes) - set(self.agents):
            raise ValueError(f"{min(unknown)}: there is no such agent")
        for name, cell in changes.items():
            self.cells[self.agents.index(name)] = cell


def strolling(world: Changed, changes: Mapping[str, Any]) -> None:
    Changed.change(world, changes)
    world.cells[1] += 1


def half(world: Changed, changes: Mapping[str, Any]) -> None:
    world.cells[0] += len(changes)
    Changed.change(world, changes)


def drifting(world: Changed, changes: Mapping[str, Any]) -> None:
    Changed.change(world, changes)
    if world.cells[1] == 1 and changes:
        world.cells[1] = next(_CLOCK)


def adding(world: Changed, changes: Mapping[str, Any]) -> None:
    before = list(world.cells)
    Changed.change(world, changes)
    world.cells = [cell + (now != cell) for cell, now in zip(before, world.cells, strict=True)]


CHANGES = [{"agent_0": 2}, {"agent_0": 0, "agent_1": 1}]
UNCHANGEABLE = [
    pytest.param(Team, "a world with example changes has change()", id="without"),
    pytest.param(
        type("M", (Changed,), {"change": strolling}), "change() without entries changes nothing", id="nothing"
    ),
    pytest.param(type("M", (Changed,), {"change": lambda self, changes: None}), "refuses an unknown key", id="any"),
    pytest.param(type("M", (Changed,), {"change": half}), "a refused change changes nothing", id="half"),
    pytest.param(type("M", (Changed,), {"change": drifting}), "gives the same state", id="drifting"),
    pytest.param(type("M", (Changed,), {"change": adding}), "to the current state changes nothing", id="adding"),
]


def test_a_world_that_can_be_changed_passes() -> None:
    check_world(Changed(), changes=CHANGES)


@pytest.mark.parametrize(("broken", "rule"), UNCHANGEABLE)
def test_the_rule_of_changes_that_is_broken_is_named(broken: type[Team], rule: str) -> None:
    with pytest.raises(BrokenContract) as caught:
        check_world(broken(), changes=CHANGES)
    assert rule in caught.value.rule


@pytest.mark.parametrize(
    "world",
    [Corridor(), Corridor(agents=1), Team(), Team(agents=3, length=2, max_steps=4), type("Arrayed", (Team,), ARRAYS)()],
)
def test_a_world_that_keeps_the_contract_passes(world: Corridor) -> None:
    check_world(world)
    assert world.controllers
    assert all(controller.closed == 1 for controller in world.controllers), "each is closed once"


@pytest.mark.parametrize(("broken", "rule"), MUTANTS)
def test_the_rule_that_is_broken_is_named(broken: type[Team], rule: str) -> None:
    with pytest.raises(BrokenContract) as caught:
        check_world(broken())
    assert rule in caught.value.rule
    assert "world 'hallway'" in str(caught.value)


def test_a_number_of_numpy_has_a_way_out() -> None:
    with pytest.raises(BrokenContract, match=r"numpy.int64; int\(\), float\(\) or tolist\(\) makes it plain"):
        check_world(type("Mutant", (Team,), {"observe": lambda self, agent: CorridorView(np.int64(0))})())


def test_an_error_of_the_world_itself_is_raised_with_the_place_of_the_check() -> None:
    with pytest.raises(KeyError) as caught:
        check_world(type("Mutant", (Team,), {"step": lambda self, joint: {}["agent_0"]})())
    assert caught.value.__notes__ == ["check_world was at world 'hallway', seed 0, step 0"]


@pytest.mark.parametrize("second", [Walk, type("Nameless", (SymbolicAction,), {})])
def test_a_vocabulary_names_the_action_without_a_name_that_no_other_has(second: type[SymbolicAction]) -> None:
    with pytest.raises(ValueError, match=f"{second.__qualname__}: the default of `action` must be a unique name"):
        Vocabulary(Walk, second)


def test_the_message_shows_the_place_and_the_first_difference() -> None:
    class Drifting(Team):
        def ansi(self) -> str:
            return f"{super().ansi()} {next(_CLOCK)}"

    with pytest.raises(BrokenContract, match=r"seed 0, step 0: .* change nothing; found: step 0: ansi\(\) was '0 0"):
        check_world(Drifting())


class Jump(SymbolicAction):
    action: Literal["jump"] = "jump"
    to: str = Field(pattern="^cell [0-9]$")


def test_an_action_that_cannot_be_drawn_is_asked_for() -> None:
    class Jumping(Corridor):
        vocabulary = Vocabulary(Walk, Rest, Jump)

        def check_plan(self, agent: int, plan: Plan) -> tuple[str, ...]:
            return tuple("no jumps" for action in plan.actions if isinstance(action, Jump))

    with pytest.raises(
        ValueError, match="cannot draw a valid 'jump' from its schema: pass examples to check_world as `actions`"
    ):
        check_world(Jumping())
    check_world(Jumping(), actions=[Jump(to="cell 3")])
