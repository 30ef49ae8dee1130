"""The rules for single answers of a world: their types, their ranges, and that they can be written as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from maeil.actions import ActionStatus
from maeil.drawing import PAPER, Canvas, Drawing
from maeil.plans import Task
from maeil.tasks import OpenTask, TaskState
from maeil.testing.contract import Contract
from maeil.world import ActionEnd, Progress, Transition


def check_observation(contract: Contract, what: str, observation: object) -> str:
    """Check an observation and return it as JSON and text."""
    written = contract.json(observation, f"{what}: the observation")
    text = getattr(observation, "text", lambda: None)()
    contract.require(isinstance(text, str) and text != "", f"{what}: the observation reads as text()", text)
    return f"{written} {text}"


def check_reasons(contract: Contract, reasons: object) -> None:
    """Check what `check_plan` answers."""
    fits = isinstance(reasons, tuple) and all(isinstance(reason, str) and reason for reason in reasons)
    contract.require(fits, "check_plan() returns a tuple of reasons in words", reasons)


def check_end(contract: Contract, end: object) -> None:
    """Check what the `status` of a controller answers."""
    if end is None:
        return
    known = isinstance(end, ActionEnd) and isinstance(end.status, ActionStatus)
    contract.require(known, "status() of a controller returns None or an ActionEnd", end)
    assert isinstance(end, ActionEnd)
    valid = end.status is ActionStatus.SUCCESS or bool(end.reason)
    contract.require(valid, "an action that does not succeed has a reason", end)


def check_transition(contract: Contract, transition: object, agents: int, active: Mapping[Task, TaskState]) -> str:
    """Check what a step did and return it as JSON.

    Args:
        contract: takes what is wrong.
        transition: what `step` returned.
        agents: size of the team.
        active: the tasks that `constraints` has reported.
    """
    contract.require(isinstance(transition, Transition), "step() returns a Transition", transition)
    assert isinstance(transition, Transition)
    for outcome in transition.outcomes:
        named = isinstance(outcome, Mapping) and next(iter(outcome), None) == "what"
        contract.require(named, "an outcome is a record with 'what' as its first key", outcome)
    contract.require_type(transition.reward, (int, float), "the reward is a number")
    contract.require(isfinite(transition.reward), "the reward is finite", transition.reward)
    contract.require_type(transition.terminated, bool, "terminated is True or False")
    contract.require_type(transition.truncated, bool, "truncated is True or False")
    for attempt in transition.attempts:
        _check_indices(contract, attempt.agents, agents, "the agents of an attempt are indices, ascending")
        follows = attempt.succeeded or attempt.task in active
        contract.require(follows, "a failed attempt is at a task that constraints() has reported", attempt)
    for change in transition.capabilities:
        _check_indices(contract, (change.agent,), agents, "a capability is of an agent, by its index")
    return contract.json(transition, "the transition")


def check_state(contract: Contract, state: object, agents: int, active: Mapping[Task, TaskState]) -> None:
    """Check one state that `constraints` reports, against those that it has reported before."""
    contract.require(isinstance(state, TaskState), "constraints() returns states of tasks", state)
    assert isinstance(state, TaskState)
    if state.threshold == 0:
        contract.require(state.task in active, "constraints(): threshold 0 ends a task that was active", state)
        return
    numbers = (state.spatial, state.temporal, state.participation)
    fits = state.threshold > 0 and all(0 <= number <= agents for number in numbers)
    contract.require(fits, "constraints() counts agents of the team", state)
    contract.require(0 <= state.joint <= min(numbers), "constraints(): joint counts those who are in all three", state)
    contract.require(active.get(state.task) != state, "constraints() returns only tasks that have changed", state)


def check_open_tasks(contract: Contract, tasks: object, agents: int) -> str:
    """Check the result of `open_tasks`, and return it as JSON."""
    valid = isinstance(tasks, Sequence) and all(isinstance(task, OpenTask) for task in tasks)
    contract.require(valid, "open_tasks() returns open tasks", tasks)
    assert isinstance(tasks, Sequence)
    contract.require(len({task.task for task in tasks}) == len(tasks), "open_tasks() lists each task once", tasks)
    for task in tasks:
        contract.require(task.needs >= 1 and task.more >= 0, "open_tasks() lists only tasks that are not over", task)
        for named in (task.in_place, task.able, task.planned):
            _check_indices(contract, named or (), agents, "open_tasks() names agents by index, ascending")
        named_well = all(name and units > 0 for name, units in task.missing) and all(task.before)
        contract.require(named_well, "open_tasks() names what is missing, how much of it, and what stands before", task)
    return contract.json(tasks, "open_tasks()")


def check_progress(contract: Contract, progress: object, goals: int | None) -> Progress:
    """Check how far the team has come, and return it; `goals` is what an earlier answer gave."""
    contract.require(isinstance(progress, Progress), "progress() returns a Progress", progress)
    assert isinstance(progress, Progress)
    contract.require_type(progress.reached, int, "progress(): reached is a whole number")
    contract.require(0 <= progress.reached <= progress.goals, "progress(): reached is from 0 to goals", progress)
    contract.require(goals in (None, progress.goals), "progress(): goals stay the same in an episode", progress)
    contract.require_type(progress.score, (int, float), "progress(): the score is a number")
    contract.require(isfinite(progress.score), "progress(): the score is finite", progress.score)
    return progress


def check_distance(contract: Contract, there: object, back: object) -> str:
    """Check the distances from one agent to another and back, and return them as JSON."""
    if there is not None:
        contract.require_type(there, (int, float), "distance() is a number, or None where there is none")
        assert isinstance(there, (int, float))
        contract.require(isfinite(there) and there >= 0, "distance() is finite and not negative", there)
    contract.require(there == back, "distance() is the same there and back", f"{there} and {back}")
    return contract.json(there, "distance()")


def check_drawing(contract: Contract, canvas: Canvas, drawing: object, agents: int) -> str:
    """Check a picture against its frame, and return it as JSON."""
    contract.require(isinstance(drawing, Drawing), "draw() returns a Drawing", drawing)
    assert isinstance(drawing, Drawing)
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
    return f"{drawing.ground.hex()} {contract.json(drawing.marks, 'draw()')} {drawing.caption} {drawing.holdings}"


def _check_indices(contract: Contract, found: Sequence[object], agents: int, rule: str) -> None:
    numbers = [index for index in found if isinstance(index, int) and 0 <= index < agents]
    contract.require(len(numbers) == len(found) and numbers == sorted(set(numbers)), rule, found)
