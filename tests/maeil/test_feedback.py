"""Feedback: evaluated when a turn asks, once an instant, and carried by what the leader sends."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from maeil import Act, OpenTask, Plan, Task, TaskState, Thought, Topology
from maeil.constraints import open_task
from maeil.messages import Draft
from quorum.topologies.centralized import Centralized, CentralizedConfig
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, lines, play

ON = Task("go", "on")
KINDS = ("stage", "plan", "step", "thought_end", "message_sent", "message_read", "constraint")


class Reported(Corridor):
    """A corridor that reports where the first agent is, and keeps the plans that it was asked with."""

    def reset(self, seed: int):
        self.asked: list[Sequence[Plan | None]] = []
        return super().reset(seed)

    def open_tasks(self, plans: Sequence[Plan | None]) -> Sequence[OpenTask]:
        self.asked.append(list(plans))
        return (OpenTask(ON, 2, 1, missing=(("cells", 1 + self.cells[0]),)),)


class Counted(Corridor):
    """A corridor that only counts, as worlds of others may."""

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        return (TaskState(ON, 2, sum(joint), sum(joint), 2, 0, dependency=not self.t),)


def centralized(feedback: str) -> Topology:
    return Centralized(CentralizedConfig(name="centralized", leader=0, rounds=1, feedback=feedback))


def team() -> list[Scripted]:
    """A leader that directs once, and two who acknowledge."""

    def answer(view) -> Thought:
        if Act.PLAN in view.turn.acts:
            return Thought(Plan((Walk(steps=1),)))
        return Thought(messages=(Draft(view.turn.recipients, "go"),) if view.t == 0 and not view.memory else ())

    return [Scripted(answer) for _ in range(3)]


def reported(mind: Scripted) -> list[tuple[int, list[str], int | None]]:
    """Step, acts, and what the feedback says is missing, of each turn of a mind."""
    return [
        (view.t, sorted(view.turn.acts), view.constraints[0].missing[0][1] if view.constraints else None)
        for view in mind.views
    ]


def test_every_turn_that_plans_and_every_turn_of_the_leader_has_the_states_of_that_moment():
    minds, world = team(), Reported(3, length=2)
    play(minds, world, topology=centralized("constraints"))
    leader, follower = reported(minds[0]), reported(minds[1])
    # the leader answers the acknowledgements with nothing, and has nothing to say at t = 1
    assert leader == [
        (0, ["speak"], 1), (0, ["speak"], 1), (0, ["plan"], 1), (1, ["speak"], 2), (1, ["plan"], 2),
    ]  # fmt: skip
    assert follower == [(0, ["acknowledge"], None), (0, ["plan"], 1), (1, ["plan"], 2)]
    (directive,) = minds[1].views[0].unread
    assert directive.constraints == minds[0].views[0].constraints, "the directive carries what the leader saw"
    assert minds[1].views[1].memory[0].constraints == directive.constraints, "and is remembered with it"


def test_the_world_is_asked_once_for_all_who_ask_at_the_same_state_and_plans():
    minds, world = team(), Reported(3, length=2)
    play(minds, world, topology=centralized("constraints"))
    assert world.asked == [[None] * 3, [None] * 3]


@pytest.mark.parametrize("feedback", ["none", "constraints"])
def test_nothing_is_evaluated_without_a_turn_that_asks_and_the_record_is_the_same(feedback):
    world = Reported(3, length=2)
    events = play(team(), world, topology=centralized(feedback))
    assert bool(world.asked) is (feedback == "constraints")
    sent = [stamped.event for stamped in events if stamped.event.kind == "message_sent"]
    assert {message.feedback for message in sent if message.sender == 0} == {feedback == "constraints"}
    plain = play(team(), Corridor(3, length=2), topology=centralized(feedback))
    assert lines(events, *KINDS) == lines(plain, *KINDS)


def test_of_a_world_that_only_counts_the_numbers_of_the_last_step_are_shown():
    minds = team()
    play(minds, Counted(3, length=2), topology=centralized("constraints"))
    assert minds[0].views[0].constraints == ()
    (task,) = minds[0].views[-1].constraints
    assert task == OpenTask(ON, 2, 0)


def test_what_else_a_world_counts_stands_before_a_task_without_a_name():
    state = TaskState(ON, 3, spatial=1, temporal=0, participation=2, joint=0, dependency=False)
    assert open_task(state) == OpenTask(ON, 3, 2, before=("something else than agents",))
