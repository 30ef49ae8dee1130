"""DyTopo in the loop: who describes itself, who writes when and to whom, and what the topology sees of it."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from maeil import Act, Call, LoopSettings, Plan, Resume, Thought
from maeil.errors import ContractError
from maeil.messages import Draft
from maeil.metrics import compute_metrics
from maeil.trace import Trace, read_trace
from quorum.methods.dytopo.describe import DESCRIBE, Describing
from quorum.methods.dytopo.descriptors import Affinity, Descriptor, Need, Offer
from quorum.methods.dytopo.topology import Dytopo, DytopoConfig
from quorum.topologies.plain import Individual
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import play

# 3 offers what 1 needs, 1 and 2 offer what 0 needs; nobody needs 0, and nobody offers what 2 and 3 need.
SCORES = {(3, 1): 0.9, (1, 0): 0.5, (2, 0): 0.4, (2, 3): 0.1}


class Scores:
    """Gives the scores of a test, by who offers and who needs; the texts name the agents."""

    def __init__(self, scores=None) -> None:
        self.scores, self.asked = SCORES if scores is None else scores, []

    def match(self, descriptors):
        self.asked.append(descriptors)
        agents = [int(descriptor.needs.text) for descriptor in descriptors]
        return [[self.scores.get((offers, needs), 0) for offers in agents] for needs in agents]


class Member:
    """Says who it is, writes to all it may, and walks: a step at first, the rest then."""

    def __init__(self, first=1, **texts) -> None:
        self.steps, self.views, self.texts = first, [], texts

    async def think(self, view):
        self.views.append(view)
        calls = (Call(view.agent + 1, {}),)
        if DESCRIBE in view.turn.asks:
            offers = Offer(**{"text": "I offer", **self.texts})
            return Thought(answers={DESCRIBE: Descriptor(offers, Need(str(view.agent)))}, calls=calls)
        if Act.SPEAK in view.turn.acts:
            return Thought(messages=(Draft(view.turn.recipients, f"from {view.agent}"),), calls=calls)
        if view.plan is not None:
            return Thought(Resume.RESUME, calls=calls)
        steps, self.steps = self.steps, 2
        return Thought(Plan((Walk(steps=steps),)), calls=calls)

    def turns(self, act):
        return [view for view in self.views if act in view.turn.acts]


def dytopo(rounds=1, inputs=3):
    return Dytopo(DytopoConfig(name="dytopo", matcher="typed", threshold=0.3, inputs=inputs, rounds=rounds))


def talk(members, matcher=None, topology=None, **more):
    world = Corridor(len(members), length=3, max_steps=3)
    extensions = [Describing("scores", (matcher or Scores()).match)]
    return play(members, world, topology=topology or dytopo(), extensions=extensions, **more)


def thoughts(events):
    return [(s.event.agent, *s.event.acts) for s in events if s.event.kind == "thought_start"]


def of(events, kind):
    return [stamped.event for stamped in events if stamped.event.kind == kind]


def test_all_describe_themselves_at_once_then_write_in_the_order_of_the_edges_then_all_plan():
    events = talk([Member(3) for _ in range(4)])
    assert thoughts(events) == [
        *((agent, "describe") for agent in range(4)),
        (2, "speak"), (3, "speak"), (1, "speak"),
        *((agent, "plan") for agent in range(4)),
    ]  # fmt: skip
    assert of(events, "routed")[0].edges == ((1, 0), (2, 0), (3, 1))
    assert [(m.sender, m.recipients) for m in of(events, "message_sent")] == [(2, (0,)), (3, (1,)), (1, (0,))]


def test_each_has_read_what_was_routed_to_it_before_it_writes_and_nothing_else_reaches_anybody():
    members = [Member(3) for _ in range(4)]
    talk(members)
    assert [m.content for m in members[1].turns(Act.SPEAK)[0].unread] == ["from 3"]
    plans = [member.turns(Act.PLAN)[0] for member in members]
    heard = [[m.content for m in (*view.memory, *view.unread) if m.sender != view.agent] for view in plans]
    assert heard == [["from 2", "from 1"], ["from 3"], [], []]


def test_those_who_write_are_told_what_those_need_to_whom_they_write_and_nobody_else_is():
    members = [Member(3) for _ in range(4)]
    talk(members)
    reported = [
        {act: [next(iter(v.noted(DESCRIBE)), ()) for v in member.turns(act)] for act in (Act.SPEAK, Act.PLAN)}
        for member in members
    ]
    needs = [(), ((0, Need("0")),), ((0, Need("0")),), ((1, Need("1")),)]
    assert [found[Act.PLAN][0] for found in reported] == needs
    assert [found[Act.SPEAK] for found in reported] == [[need] if need else [] for need in needs]


def test_an_agent_that_needs_a_plan_alone_makes_it_at_once():
    members = [Member(3), Member(1)]
    events = talk(members)
    later = [s for s in events if s.t > 0]
    assert set(thoughts(later)) == {(1, "plan")}
    assert len(of(events, "routed")) == 1


def test_in_every_round_all_describe_themselves_again_and_the_last_edges_count():
    class Turning(Scores):
        def match(self, descriptors):
            self.scores = {(0, 1): 1.0} if self.asked else {(1, 0): 1.0}
            return super().match(descriptors)

    members = [Member(3), Member(3)]
    events = talk(members, Turning(), dytopo(rounds=2))
    assert thoughts(events) == [
        (0, "describe"), (1, "describe"), (1, "speak"),
        (0, "describe"), (1, "describe"), (0, "speak"),
        (0, "plan"), (1, "plan"),
    ]  # fmt: skip
    assert [routed.edges for routed in of(events, "routed")] == [((1, 0),), ((0, 1),)]
    assert [view.noted(DESCRIBE) for view in members[1].turns(Act.PLAN)] == [[]]


def test_one_whose_answer_is_refused_is_left_out_of_the_round_and_still_plans():
    class Silent(Member):
        async def think(self, view):
            thought = await super().think(view)
            return replace(thought, answers={})

    events = talk([Member(3), Silent(3), Member(3), Member(3)], settings=LoopSettings(max_repairs=1))
    assert thoughts(events).count((1, "describe")) == 2
    refused = [e.refused for e in of(events, "thought_end") if e.refused]
    assert refused == [("this turn asks what you offer and need, and the answer says neither",)] * 2
    assert of(events, "routed")[0].agents == (0, 2, 3)
    assert of(events, "routed")[0].edges == ((2, 0),)
    assert (1, "plan") in thoughts(events)


def test_a_descriptor_that_nobody_has_asked_for_is_refused():
    class Eager(Member):
        async def think(self, view):
            descriptor = Descriptor(Offer("x"), Need(str(view.agent)))
            return replace(await super().think(view), answers={DESCRIBE: descriptor})

    events = talk([Eager(3), Member(3)], settings=LoopSettings(max_repairs=0))
    assert ("this turn does not ask what you offer and need",) in [e.refused for e in of(events, "thought_end")]


def test_a_topology_sees_scores_and_never_a_word():
    assert [field.name for field in fields(Affinity)] == ["agents", "scores"]
    one = talk([Member(3) for _ in range(4)])
    other = talk([Member(3, text="something else", tasks=("b",), free=False) for _ in range(4)])
    assert thoughts(one) == thoughts(other)
    assert of(one, "routed") == of(other, "routed")


def test_the_edges_can_be_found_again_from_the_trace(tmp_path):
    talk([Member(3) for _ in range(4)], path=tmp_path / "trace.jsonl")
    trace = read_trace(tmp_path)
    [routed] = trace.of(type(of(trace.events, "routed")[0]))
    affinity = Affinity(tuple(routed.agents), tuple(map(tuple, routed.scores)))
    assert dytopo().route(affinity, None) == [tuple(edge) for edge in routed.edges]
    assert [e.needs["text"] for e in of(trace.events, "described")] == ["0", "1", "2", "3"]


def test_metrics_tell_how_dense_and_how_apt_the_edges_are():
    metrics = compute_metrics(Trace(tuple(talk([Member(3) for _ in range(4)]))))
    found = {name: value for name, value in metrics.items() if name.startswith("routing.")}
    assert found == pytest.approx(
        {"routing.rounds": 1, "routing.edges": 3, "routing.density": 0.5, "routing.score": 0.6}
    )


@pytest.mark.parametrize("edge", [(0, 0), (0, 9), (0,)])
def test_edges_join_two_of_those_who_have_described_themselves(edge):
    topology = dytopo()
    topology.route = lambda affinity, conversation: [edge]
    with pytest.raises(ContractError, match="an edge joins two of the agents"):
        talk([Member(), Member()], topology=topology)


def test_a_topology_that_asks_and_does_not_say_who_writes_is_told_what_it_needs():
    class Mute(Individual):
        def turns(self, conversation):
            return Dytopo.turns(dytopo(), conversation)

    with pytest.raises(ContractError, match=r"Mute\.turns\(\) asks agents .*; add route\(\)") as error:
        talk([Member(), Member()], topology=Mute())
    assert error.value.blamed is Mute
