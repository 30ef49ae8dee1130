"""Checks of single return values of a world: types, ranges, and that they are JSON-ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import fsum, isclose, isfinite
from statistics import fmean
from typing import Any, TypeVar

import numpy as np
import orjson
from pydantic import BaseModel

from maeil.acting import Primitive
from maeil.actions import ActionStatus
from maeil.outcomes import Outcome
from maeil.plans import Task
from maeil.tasks import OpenTask, TaskState
from maeil.world import ActionEnd, Progress, Transition, World
from quorum_base.drawing import PAPER, Canvas, Drawable, Drawing

T = TypeVar("T")

SHOWN = 200
"""Length of a difference in a message, in characters; other values are cut at twice this length."""


class BrokenContract(AssertionError):
    """A world breaks a rule of its contract.

    Attributes:
        rule: the rule, as a sentence.
    """

    def __init__(self, place: str, rule: str, found: str) -> None:
        super().__init__(f"{place}: {rule}; found: {found}")
        self.rule = rule


class Contract:
    """Checks rules, and raises an error that names the place of a violation.

    Attributes:
        place: the current place, for messages.
    """

    def __init__(self, place: str) -> None:
        self.place = place

    def require(self, holds: bool, rule: str, found: object) -> None:
        """Require that a rule holds.

        Args:
            holds: whether the rule holds.
            rule: the rule as a sentence, starting with the name of the method.
            found: the value that violates it.

        Raises:
            BrokenContract: the rule does not hold.
        """
        if not holds:
            raise BrokenContract(self.place, rule, _shortened(found if isinstance(found, str) else repr(found)))

    def require_type(self, value: object, wanted: type[T] | tuple[type[T], ...], rule: str) -> T:
        """Return a value after checking its type; a bool does not count as a number.

        Raises:
            BrokenContract: it has another type.
        """
        if isinstance(value, wanted) and (not isinstance(value, bool) or wanted is bool):
            return value
        raise BrokenContract(self.place, rule, _shortened(f"{value!r} of type {type(value).__name__}"))

    def json(self, value: object, what: str) -> str:
        """Return a value as JSON, like in a trace or a prompt.

        Raises:
            BrokenContract: it is not JSON-ready.
        """
        try:
            return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS).decode()
        except TypeError as error:
            way_out = "; int(), float() or tolist() makes it plain" if "numpy" in str(error) else ""
            raise BrokenContract(self.place, f"{what} is JSON-ready", f"{error}{way_out}") from None

    def compare(self, first: list[tuple[str, str]], second: list[tuple[str, str]], rule: str) -> None:
        """Require that two records of an episode are equal.

        Args:
            first: pairs of a description and a recorded value.
            second: the same pairs from another recording.
            rule: the rule that requires them to be equal.

        Raises:
            BrokenContract: they differ; the message shows the first difference.
        """
        for (what, before), (what_now, now) in zip(first, second, strict=False):
            if (what, before) != (what_now, now):
                raise BrokenContract(self.place, rule, f"{what} {_difference(before, now)}")
        self.require(len(first) == len(second), rule, "one of the two episodes is longer")


def _difference(first: str, second: str) -> str:
    """Show two texts around their first difference."""
    start = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
    begin = max(start - SHOWN // 8, 0)
    half = SHOWN // 2
    return f"was {first[begin : begin + half]!r} and is {second[begin : begin + half]!r}"


def _shortened(text: str) -> str:
    return text if len(text) <= 2 * SHOWN else f"{text[: 2 * SHOWN]}..."


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON-ready")


Record = list[tuple[str, str]]
"""Pairs of a call and its result, in order."""


def frame(contract: Contract, world: World, t: int) -> Record:
    """Record the world's progress and appearance."""
    text = world.ansi()
    contract.require(isinstance(text, str) and text != "", "ansi() draws the world as text", text)
    seen = [("progress()", contract.json(world.progress(), "progress()")), ("ansi()", text)]
    if isinstance(world, Drawable):
        canvas = world.canvas()
        seen.append(("canvas()", contract.json(canvas, "canvas()")))
        seen.append(("draw()", check_drawing(contract, canvas, world.draw(), len(world.agents))))
    return [(f"step {t}: {what}", value) for what, value in seen]


ASKING = "observing, measuring and drawing change nothing"


def look(contract: Contract, world: World, t: int, goals: int | None = None) -> Record:
    """Record everything visible in the current state of the world; `goals` is the number from an earlier `progress`."""
    whole = check_observation(contract, "global_observation()", world.global_observation())
    seen = [("global_observation()", whole)]
    for agent in range(len(world.agents)):
        what = f"observe({agent})"
        seen.append((what, check_observation(contract, what, world.observe(agent))))
        for other in range(agent):
            there, back = world.distance(agent, other), world.distance(other, agent)
            seen.append((f"distance({agent}, {other})", check_distance(contract, there, back)))
    check_progress(contract, world.progress(), goals)
    return [(f"step {t}: {what}", value) for what, value in seen] + frame(contract, world, t)


def check_observation(contract: Contract, what: str, observation: object) -> str:
    """Check an observation, and return it as JSON and text."""
    written = contract.json(observation, f"{what}: the observation")
    rule, reads = f"{what}: the observation has a method text() that returns a text", getattr(observation, "text", None)
    contract.require(callable(reads), rule, f"a {type(observation).__name__} without this method")
    text = reads() if callable(reads) else ""
    contract.require(isinstance(text, str) and text != "", rule, text)
    return f"{written} {text}"


def check_reasons(contract: Contract, reasons: object) -> None:
    """Check the result of `check_plan`."""
    fits = isinstance(reasons, tuple) and all(isinstance(reason, str) and reason for reason in reasons)
    contract.require(fits, "check_plan() returns a tuple of reasons, each a text", reasons)


def check_tasks(contract: Contract, tasks: object) -> list[Task]:
    """Check the result of `tasks`, and return the first and the last task of each kind."""
    rule = "tasks() returns for each kind a list of targets, each a text"
    found: list[Task] = []
    for kind, targets in contract.require_type(tasks, Mapping, rule).items():
        fits = isinstance(targets, list | tuple) and all(isinstance(name, str) and name for name in (kind, *targets))
        contract.require(fits, rule, tasks)
        found += [Task(kind, target) for target in (*targets[:1], *targets[-1:])]
    return found


def check_end(contract: Contract, end: object) -> None:
    """Check the result of a controller's `status`."""
    if end is None:
        return
    end = contract.require_type(end, ActionEnd, "status() of a controller returns None or an ActionEnd")
    contract.require_type(end.status, ActionStatus, "status() of a controller returns None or an ActionEnd")
    valid = end.status is ActionStatus.SUCCESS or bool(end.reason)
    contract.require(valid, "an action that does not succeed has a reason", end)


def check_transition(contract: Contract, transition: object, agents: int, active: Mapping[Task, TaskState]) -> str:
    """Check the result of `step`, and return it as JSON.

    Args:
        contract: reports violations.
        transition: the result of `step`.
        agents: size of the team.
        active: the tasks that `constraints` has reported.
    """
    transition = contract.require_type(transition, Transition, "step() returns a Transition")
    for name in ("outcomes", "attempts", "capabilities"):
        contract.require_type(getattr(transition, name), (tuple, list), f"the {name} of a Transition form a tuple")
    for outcome in transition.outcomes:
        named = isinstance(outcome, Mapping) and next(iter(outcome), None) == "what"
        contract.require(named, "an outcome is a record with 'what' as its first key", outcome)
    contract.require_type(transition.reward, (int, float), "the reward is a number")
    contract.require(isfinite(transition.reward), "the reward is finite", transition.reward)
    ends = (None, Outcome.SUCCESS, Outcome.FAILURE, Outcome.ENDED, Outcome.TRUNCATED)
    ended = isinstance(transition.end, Outcome | None) and transition.end in ends
    contract.require(ended, "the end is Outcome.SUCCESS, FAILURE, ENDED or TRUNCATED, or None", transition.end)
    if transition.rewards is not None:
        each = [contract.require_type(own, (int, float), "rewards are numbers") for own in transition.rewards]
        contract.require(len(each) == agents, "rewards has one number for each agent", transition.rewards)
        mean = isclose(fmean(each), transition.reward, abs_tol=1e-9)
        contract.require(mean, "the reward is the mean of rewards", transition)
    for attempt in transition.attempts:
        _check_indices(contract, attempt.agents, agents, "the agents of an attempt are indices, ascending")
        follows = attempt.succeeded or attempt.task in active
        contract.require(follows, "constraints() has reported the task of a failed attempt", attempt)
    for change in transition.capabilities:
        _check_indices(contract, (change.agent,), agents, "a capability names its agent by index")
    return contract.json(transition, "the transition")


def check_acting(contract: Contract, world: World) -> Sequence[int]:
    """Check and return the agents that act in the coming step."""
    agents = len(world.agents)
    acting, again = world.acting(), world.acting()
    if acting is None:
        return range(agents)
    rule = "acting() returns the indices of the agents that act, ascending, at least one"
    contract.require(isinstance(acting, Sequence) and bool(acting), rule, acting)
    _check_indices(contract, acting, agents, rule)
    contract.require(list(acting) == list(again or ()), "acting() returns the same twice", f"{acting} and {again}")
    return acting


def check_primitive(contract: Contract, primitive: Primitive) -> Primitive:
    """Check and return the result of a controller's `act`."""
    rule = "act() of a controller returns a primitive"
    contract.json(primitive, f"{rule}, which")
    contract.require(primitive is not None, rule, "None, which is only for agents that are off turn")
    return primitive


def check_states(contract: Contract, states: object) -> list[TaskState]:
    """Check the type of the result of `constraints`, and return it."""
    rule = "constraints() returns a list of TaskState"
    return [contract.require_type(s, TaskState, rule) for s in contract.require_type(states, (list, tuple), rule)]


def check_state(contract: Contract, state: TaskState, agents: int, active: Mapping[Task, TaskState]) -> None:
    """Check one state from `constraints`, also against the states reported before."""
    if state.threshold == 0:
        contract.require(state.task in active, "constraints(): threshold 0 ends a task that was active", state)
        return
    numbers = (state.spatial, state.temporal, state.participation)
    weighed = state.weights is None or (len(state.weights) == agents and min(state.weights) > 0)
    contract.require(weighed, "constraints(): weights has a positive number for each agent", state)
    most = agents if state.weights is None else fsum(state.weights)
    fits = state.threshold > 0 and all(0 <= number <= most for number in numbers)
    contract.require(fits, "constraints() counts agents of the team, or sums their weights", state)
    contract.require(0 <= state.joint <= min(numbers), "constraints(): joint counts agents in all three", state)
    contract.require(state.temporal <= state.participation, "constraints(): temporal is at most participation", state)
    contract.require(active.get(state.task) != state, "constraints() returns only tasks that have changed", state)


def check_open_tasks(contract: Contract, tasks: object, agents: int) -> str:
    """Check the result of `open_tasks`, and return it as JSON."""
    valid = isinstance(tasks, Sequence) and all(isinstance(task, OpenTask) for task in tasks)
    contract.require(valid, "open_tasks() returns a sequence of OpenTask", tasks)
    assert isinstance(tasks, Sequence)
    contract.require(len({task.task for task in tasks}) == len(tasks), "open_tasks() lists each task once", tasks)
    for task in tasks:
        contract.require(task.needs >= 1 and task.more >= 0, "open_tasks() lists only tasks that have not ended", task)
        for named in (task.in_place, task.able, task.planned):
            _check_indices(contract, named or (), agents, "open_tasks() names agents by index, ascending")
        named_well = all(name and units > 0 for name, units in task.missing) and all(task.before)
        contract.require(named_well, "open_tasks() names what is missing, how much of it, and what comes before", task)
    return contract.json(tasks, "open_tasks()")


def check_progress(contract: Contract, progress: object, goals: int | None = None) -> Progress:
    """Check and return the result of `progress`; `goals` is the number from an earlier call, if there was one."""
    progress = contract.require_type(progress, Progress, "progress() returns a Progress")
    contract.require_type(progress.reached, int, "progress(): reached is a whole number")
    contract.require(0 <= progress.reached <= progress.goals, "progress(): reached is from 0 to goals", progress)
    contract.require(goals in (None, progress.goals), "progress(): goals stay the same in an episode", progress)
    contract.require_type(progress.score, (int, float), "progress(): the score is a number")
    contract.require(isfinite(progress.score), "progress(): the score is finite", progress.score)
    return progress


def check_distance(contract: Contract, there: object, back: object) -> str:
    """Check the distances from one agent to another and back, and return them as JSON."""
    if there is not None:
        there = contract.require_type(there, (int, float), "distance() is a number, or None if the world has none")
        contract.require(isfinite(there) and there >= 0, "distance() is finite and not negative", there)
    contract.require(there == back, "distance() is the same in both directions", f"{there} and {back}")
    return contract.json(there, "distance()")


def check_drawing(contract: Contract, canvas: Canvas, drawing: object, agents: int) -> str:
    """Check a drawing against its canvas, and return it as JSON."""
    drawing = contract.require_type(drawing, Drawing, "draw() returns a Drawing")
    kinds = len(canvas.kinds)
    contract.require(kinds < PAPER, "canvas() has fewer kinds than PAPER", kinds)
    contract.require(
        len(drawing.ground) in (0, canvas.width * canvas.height),
        "draw(): the ground has a kind for each cell of the canvas, or is empty",
        f"{len(drawing.ground)} kinds for {canvas.width} x {canvas.height} cells",
    )
    known = all(kind < kinds or kind == PAPER for kind in set(drawing.ground))
    known = known and all(0 <= mark.kind < kinds for mark in drawing.marks.values())
    contract.require(known, "draw() names kinds by their index in canvas()", drawing)
    marked = [mark.agent for mark in drawing.marks.values() if mark.agent is not None]
    _check_indices(contract, sorted(marked), agents, "draw() marks an agent by its index, once")
    contract.require(
        len(drawing.holdings) in (0, agents), "draw() shows the holdings of all agents or of none", drawing
    )
    parts = [drawing.ground.hex(), contract.json(drawing.marks, "draw()"), drawing.caption, str(drawing.holdings)]
    if (image := drawing.image) is not None:
        rgb = isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
        contract.require(rgb, "draw(): the image is an array of uint8 of shape (height, width, 3)", type(image))
        parts.append(sha256(image.tobytes()).hexdigest())
    return " ".join(parts)


def _check_indices(contract: Contract, found: Sequence[object], agents: int, rule: str) -> None:
    numbers = [index for index in found if isinstance(index, int) and 0 <= index < agents]
    contract.require(len(numbers) == len(found) and numbers == sorted(set(numbers)), rule, found)
