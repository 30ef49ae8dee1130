"""Negotiation (DR. WELL): who proposes when, when there is consensus, and what is allotted to those who plan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maeil import Act, Plan, Thought
from maeil.errors import ContractError
from maeil.messages import Draft
from maeil.plans import Task
from maeil.tasks import OpenTask
from quorum.topologies.negotiation import Negotiation, NegotiationConfig, allot, is_consensus, lacking
from tests.maeil.corridor import Walk
from tests.maeil.scripted import play
from tests.topologies.room import DOOR, GATE, Hallway

A, B, C = (Task("push", name) for name in "abc")


class Member:
    """Proposes the first of its tasks, commits itself to the others in turn, and walks."""

    def __init__(self, *tasks, steps=3, then=3):
        self.tasks, self.steps, self.then, self.views = list(tasks), steps, then, []

    async def think(self, view):
        self.views.append(view)
        if Act.PLAN in view.turn.acts:
            steps, self.steps = self.steps, self.then
            return Thought(Plan((Walk(steps=steps),)))
        task = self.tasks.pop(0) if self.tasks else None
        return Thought(messages=(Draft(view.turn.recipients, f"{view.agent}: {task}", task=task),))

    def turns(self, act):
        return [view for view in self.views if act in view.turn.acts]


def negotiate(*members, rounds=2, needs=None, **world):
    hallway = Hallway(needs or {DOOR: 1, GATE: 2}, len(members), **world)
    return play(members, hallway, topology=Negotiation(NegotiationConfig(name="negotiation", rounds=rounds)))


def order(events):
    return [(stamped.event.agent, *stamped.event.acts) for stamped in events if stamped.event.kind == "thought_start"]


def test_proposals_go_round_and_each_has_read_the_earlier_ones():
    members = [Member(GATE, GATE) for _ in range(3)]
    events = negotiate(*members)
    assert order(events)[:3] == [(0, "speak"), (1, "speak"), (2, "speak")]
    heard = [[message.sender for message in member.turns(Act.SPEAK)[0].unread] for member in members]
    assert heard == [[], [0], [0, 1]]
    assert all(view.constraints and not m.constraints for view in members[2].views for m in view.unread), "all see them"


def test_all_commit_at_once_and_have_read_all_proposals():
    members = [Member(GATE, GATE) for _ in range(3)]
    events = negotiate(*members)
    assert order(events)[3:6] == [(0, "acknowledge"), (1, "acknowledge"), (2, "acknowledge")]
    for agent, member in enumerate(members):
        view = member.turns(Act.ACKNOWLEDGE)[0]
        reported = [message for message in (*view.memory, *view.unread) if message.sender != agent]
        assert {message.task for message in reported} == {GATE}
        assert len(reported) == 2


def test_with_consensus_each_plans_alone_for_the_task_it_committed_itself_to():
    members = [Member(DOOR, DOOR), Member(DOOR, GATE), Member(GATE, GATE)]
    events = negotiate(*members)
    assert order(events)[6:9] == [(0, "plan"), (1, "plan"), (2, "plan")]
    plans = [member.turns(Act.PLAN)[0].turn for member in members]
    assert [turn.task for turn in plans] == [DOOR, GATE, GATE]
    assert not any(turn.recipients for turn in plans)


def test_without_consensus_all_commit_again_and_at_last_quorums_allot():
    members = [Member(GATE, GATE, GATE), Member(DOOR, DOOR, DOOR)]
    events = negotiate(*members)
    assert [act for _, act in order(events)[:8]] == ["speak"] * 2 + ["acknowledge"] * 4 + ["plan"] * 2
    assert [member.turns(Act.PLAN)[0].turn.task for member in members] == [GATE, DOOR]
    assert [message.task for message in members[0].turns(Act.ACKNOWLEDGE)[1].unread] == [DOOR]


def test_a_second_round_ends_when_it_brings_consensus():
    members = [Member(GATE, GATE, GATE), Member(DOOR, DOOR, GATE)]
    negotiate(*members, rounds=5)
    assert [len(member.turns(Act.ACKNOWLEDGE)) for member in members] == [2, 2]
    assert [member.turns(Act.PLAN)[0].turn.task for member in members] == [GATE, GATE]


def test_only_those_who_need_a_plan_are_in_the_room():
    members = [Member(GATE, GATE, GATE, GATE, steps=2), Member(GATE, GATE, GATE, GATE, steps=2), Member(GATE, GATE)]
    events = negotiate(*members)
    second = [stamped for stamped in events if stamped.t == 2]
    assert {s.event.agent for s in second if s.event.kind == "thought_start"} == {0, 1}
    assert {s.event.recipients for s in second if s.event.kind == "message_sent"} == {(0,), (1,)}
    assert not [s for s in events if s.event.kind == "stage" and s.event.to_stage == "I"]


def test_who_is_alone_in_the_room_plans_at_once_and_nothing_is_allotted_to_it():
    member = Member(DOOR)
    events = negotiate(member)
    assert order(events) == [(0, "plan")]
    assert member.views[0].turn.task is None


def test_those_who_name_no_task_talk_one_round_each_and_plan():
    members = [Member(), Member()]
    events = negotiate(*members, rounds=5)
    assert [act for _, act in order(events)] == ["speak", "speak", "acknowledge", "acknowledge", "plan", "plan"]


def test_the_task_of_a_message_is_a_task():
    member = Member("door")
    with pytest.raises(ContractError, match="task of a message"):
        negotiate(member, Member())


def test_agents_under_way_count_for_the_task_that_they_serve():
    tasks = [OpenTask(A, 3, 3, planned=(0, 1)), OpenTask(B, 1, 1, planned=(2, 3))]
    assert lacking(tasks, room={2}) == {A: 1, B: 0}


@pytest.mark.parametrize(
    ("votes", "missing", "agreed", "allotted"),
    [
        ([A, A, B], {A: 2, B: 1}, True, [A, A, B]),
        ([A, A, A], {A: 2, B: 1}, True, [A, A, A]),
        ([A, B, B], {A: 2, B: 3}, False, [B, B, B]),  # most votes first
        ([A, B, C], {A: 2, B: 2, C: 2}, False, [A, A, C]),  # equal votes and quorums: the order of the world
        ([A, B, C], {A: 3, B: 2, C: 2}, False, [B, B, C]),  # fewest lacking first
        ([A, None, B], {A: 2, B: 1}, False, [A, A, B]),  # who abstains fills up
        ([A, None], {A: 1}, True, [A, None]),
        ([A, B], {B: 2}, False, [B, B]),  # a task that is over gets nobody
        ([A, B], {A: 3, B: 3}, False, [A, B]),  # nothing can be staffed: each waits where it wanted to go
    ],
)
def test_without_consensus_votes_then_quorums_then_the_order_decide(votes, missing, agreed, allotted):
    votes = dict(enumerate(votes))
    assert is_consensus(votes, missing) is agreed
    found = allot(votes, missing)
    assert [found.get(agent) for agent in votes] == allotted


votes_of = st.lists(st.sampled_from([A, B, C, None]), min_size=1, max_size=8).map(lambda found: dict(enumerate(found)))


@given(votes_of, st.dictionaries(st.sampled_from([A, B, C]), st.integers(0, 5)))
def test_consensus_is_allotted_as_it_stands_and_else_no_task_that_could_be_staffed_has_too_few(votes, missing):
    found = allot(votes, missing)
    wanted = {agent: task for agent, task in votes.items() if task is not None}
    if is_consensus(votes, missing):
        assert found == wanted
    assert set(found.values()) <= set(missing)
    assert set(wanted) & {a for a, task in wanted.items() if task in missing} <= set(found)
    short = [task for task in set(found.values()) if list(found.values()).count(task) < missing[task]]
    waiting = [agent for agent, task in found.items() if task in short]
    assert all(votes[agent] == found[agent] for agent in waiting)  # nobody is sent to a task that stays short
