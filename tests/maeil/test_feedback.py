"""Feedback: evaluated when a turn asks, once an instant, and carried by what the leader sends."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from maeil import Act, OpenTask, Plan, Task, TaskState, Thought, Topology
from maeil.constraints import ConstraintTracker, Feedback, open_task
from maeil.messages import Draft, Message, MessageKind
from maeil.metrics import compute_metrics
from maeil.mind import Turn
from maeil.settings import LoopSettings
from maeil.team import Team
from maeil.trace import Recorder, Trace
from maeil.trace.events import MessageSent
from quorum.topologies.centralized import Centralized, CentralizedConfig
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, lines, play

ON, BACK = Task("go", "on"), Task("go", "back")
KINDS = ("stage", "plan", "step", "thought_end", "messages_read", "constraint")


class Reported(Corridor):
    """A corridor that reports where the first agent is, and keeps the plans and the texts that it was asked with."""

    def reset(self, seed: int):
        self.asked: list[tuple[Sequence[Plan | None], str]] = []
        return super().reset(seed)

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> Sequence[OpenTask]:
        self.asked.append((list(plans), text))
        found = OpenTask(ON, 2, 1, missing=(("cells", 1 + self.cells[0]),))
        return (found, OpenTask(BACK, 1, 0)) if BACK.target in text else (found,)


class Counted(Corridor):
    """A corridor that only counts, as worlds of others may."""

    def constraints(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> Sequence[TaskState]:
        return (TaskState(ON, 2, sum(joint), sum(joint), 2, 0, dependency=not self.t),)


def centralized(feedback: str) -> Topology:
    return Centralized(CentralizedConfig(name="centralized", leader=0, rounds=1, feedback=feedback))


def team(directive: str = "go", task: Task | None = None) -> list[Scripted]:
    """A leader that directs once, and two who acknowledge."""

    def answer(view) -> Thought:
        if Act.PLAN in view.turn.acts:
            return Thought(Plan((Walk(steps=1),)))
        draft = Draft(view.turn.recipients, directive, task=task if view.turn.role == "leader" else None)
        return Thought(messages=(draft,) if view.t == 0 and not view.memory else ())

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
    # the leader answers the acknowledgements with nothing, and has nothing to say at t = 1; who has read a directive
    # sees what came with it
    assert leader == [
        (0, ["speak"], 1), (0, ["speak"], 1), (0, ["plan"], 1), (1, ["speak"], 2), (1, ["plan"], 2),
    ]  # fmt: skip
    assert follower == [(0, ["acknowledge"], 1), (0, ["plan"], 1), (1, ["plan"], 2)]
    (directive,) = minds[1].views[0].unread
    assert directive.constraints == minds[0].views[0].constraints, "the directive carries the tasks"


def test_the_world_is_asked_once_for_all_who_ask_at_the_same_state_and_plans():
    minds, world = team(), Reported(3, length=2)
    play(minds, world, topology=centralized("constraints"))
    assert world.asked == [([None] * 3, text) for text in ("", "go ", "", "")]


@pytest.mark.parametrize(("text", "task"), [("go back", None), ("go", BACK)])
def test_a_directive_carries_what_it_names_and_who_acts_on_it_sees_that_and_no_other_list(text, task):
    minds = team(text, task)
    events = play(minds, Reported(3, length=2), topology=centralized("constraints"))
    assert [[one.task for one in view.constraints] for view in minds[1].views] == [[ON, BACK], [ON, BACK], [ON]]
    assert {len(view.constraints) for view in minds[0].views} == {1}, "its sender sees the state as it is"
    sent = [stamped.event for stamped in events if stamped.event.kind == "message_sent"]
    assert [[one["task"]["target"] for one in message.tasks] for message in sent] == [["on", "back"], [], []]


def test_a_list_of_an_earlier_conversation_is_not_shown_again_and_what_came_last_counts():
    world = Reported(2, length=2)
    world.reset(0)
    members = Team(world.agents, team()[:2], (), LoopSettings(), Recorder(None))
    shows = Feedback(world, members, ConstraintTracker(world, members))
    old, new = OpenTask(ON, 9, 9), OpenTask(BACK, 9, 9)

    def message(number: int, *tasks: OpenTask, sender: int = 0) -> Message:
        return Message(number, sender, (1,), "", MessageKind.DIRECTIVE, 0, 0, 0, tasks)

    acknowledges, plans = (Turn(1, frozenset({act}), feedback=act is Act.PLAN) for act in (Act.ACKNOWLEDGE, Act.PLAN))
    assert shows.shown(acknowledges, [message(0, old)], 1) == ()
    assert [one.missing for one in shows.shown(plans, [message(0, old)], 1)] == [(("cells", 1),)], "as it is now"
    assert shows.shown(plans, [message(1, old), message(2, new), message(3)], 1) == (new,)
    assert shows.shown(plans, [message(1, old), message(2, new, sender=1)], 1) == (old,), "not what it sent itself"


def test_a_message_costs_what_it_carries():
    plain = Trace(tuple(play(team(), Reported(3, length=2), topology=centralized("none"))))
    shown = Trace(tuple(play(team(), Reported(3, length=2), topology=centralized("constraints"))))
    carried = sum(len(json.dumps(m.tasks, separators=(",", ":"))) for m in shown.of(MessageSent) if m.tasks)
    count = "communication.characters"
    assert carried > 0
    assert compute_metrics(shown)[count] == compute_metrics(plain)[count] + carried


@pytest.mark.parametrize("feedback", ["none", "constraints"])
def test_nothing_is_evaluated_without_a_turn_that_asks_and_the_record_is_the_same(feedback):
    world = Reported(3, length=2)
    events = play(team(), world, topology=centralized(feedback))
    assert bool(world.asked) is (feedback == "constraints")
    sent = [stamped.event for stamped in events if stamped.event.kind == "message_sent"]
    assert {bool(message.tasks) for message in sent if message.sender == 0} == {feedback == "constraints"}
    assert not any(message.tasks for message in sent if message.sender != 0), "the leader's alone"
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
