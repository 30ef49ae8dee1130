"""The rule-based negotiator: its convention, its words, and what it does on hand-made boards."""

import asyncio
import dataclasses
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube_env import CubeEnv, Layout
from maeil import Act, Resume, Turn, View
from maeil.messages import Message, MessageKind
from maeil.metrics import compute_metrics
from maeil.mind import PlanView
from maeil.plans import PlanStatus, Task
from maeil.trace import Trace
from quorum.agents.skills import Chooser
from quorum.agents.skills.cube import negotiator as words
from quorum.agents.skills.cube.negotiator import Demand, Negotiator, form_teams
from quorum.configuration.cell import Cell
from quorum.episode.parts import build as parts_of
from tests.maeil.scripted import play

SPEAK, ACK, PLAN = frozenset({Act.SPEAK}), frozenset({Act.ACKNOWLEDGE}), frozenset({Act.PLAN})


def job(id, quorum, urgency, *ways):
    return Demand(id, quorum, urgency, ways)


def test_a_complete_team_stands_and_its_surplus_helps_the_job_that_lacks_fewest():
    jobs = [job(0, 2, 5, 1, 2, 3, 9), job(1, 2, 6, 9, 9, 4, 1)]
    assert form_teams({0: 0, 1: 0, 2: 0, 3: 1}, jobs) == {0: 0, 1: 0, 2: 1, 3: 1}


def test_of_two_short_teams_the_one_that_lacks_fewer_is_filled_first():
    jobs = [job(0, 3, 1, 1, 1, 1), job(1, 2, 9, 1, 1, 1)]
    assert form_teams({0: 0, 1: 1}, jobs) == {0: 1, 1: 1}


def test_who_is_left_over_goes_to_the_nearest_job_and_without_jobs_nobody_goes_anywhere():
    assert form_teams({0: 0, 1: 0}, [job(0, 1, 0, 1, 2)]) == {0: 0, 1: 0}
    assert form_teams({0: 0}, []) == {}


@given(
    wishes=st.dictionaries(st.integers(0, 7), st.integers(0, 4), min_size=1),
    quorums=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    seed=st.integers(0, 99),
)
def test_everybody_gets_a_job_and_at_most_one_started_team_is_short(wishes, quorums, seed):
    rng = np.random.default_rng(seed)
    jobs = [Demand(i, q, int(rng.integers(9)), rng.integers(9, size=8).tolist()) for i, q in enumerate(quorums)]
    teams = form_teams(wishes, jobs)
    assert teams.keys() == wishes.keys()
    sizes = {j.id: sum(place == j.id for place in teams.values()) for j in jobs}
    assert sum(0 < sizes[j.id] < j.quorum for j in jobs) <= 1
    assert form_teams(dict(reversed(wishes.items())), jobs[::-1]) == teams


def test_what_is_said_is_understood():
    assert words.read_claim(words.write_claim(3, 7)) == 3
    assert words.read_order(words.write_order({2: 5, 0: 1})) == {0: 1, 2: 5}
    assert words.read_objection(words.write_objection(4, "block_1 is ahead of it")) == 4
    assert words.read_claim("nothing of the kind") is None
    assert words.read_order(words.write_claim(3, 7)) == {}


TWO = Layout(8, [(1, 0), (3, 0), (6, 0)], [(2, (4, 1)), (1, (1, 3))])
"""Block 0 takes two agents, at the left; block 1 one, next to agent 0."""
AHEAD = Layout(8, [(1, 0), (3, 0)], [(1, (4, 5)), (1, (4, 2))])
"""Block 0 stands ahead of block 1."""


def view(layout, agent, acts, *, recipients=(), unread=(), plan=None, outcomes=(), role="", t=0, constraints=()):
    env = CubeEnv(layout=layout)
    env.reset(seed=0)
    return View(
        agent=agent, name=f"agent_{agent}", names=("agent_0", "agent_1", "agent_2"),
        turn=Turn(agent, acts, recipients, role=role), t=t, t_hat=0, observation=env.symbolic_observation(agent),
        unread=unread, plan=plan, outcomes=outcomes, constraints=constraints,
    )  # fmt: skip


def said(sender, text, kind=MessageKind.PROPOSE):
    return Message(0, sender, (), text, kind, 0, 0, 0)


def think(mind, *args, **kwargs):
    return asyncio.run(mind.think(view(*args, **kwargs)))


def mind(noise=0.0, seed=0):
    return Negotiator(Chooser(np.random.default_rng(seed), noise), 20)


def test_alone_it_takes_the_block_that_it_reaches_soonest():
    plan = think(mind(), TWO, 0, PLAN).decision
    assert plan.task == Task("deliver", "block_1")
    assert [action.action for action in plan.actions] == ["move_to_block", "rendezvous", "push_block"]
    assert plan.actions[1].timeout == 20


def test_it_claims_what_it_wants_and_joins_the_team_that_lacks_it():
    first = think(mind(), TWO, 0, SPEAK, recipients=(1, 2))
    assert [draft.content for draft in first.messages] == ["I take block_1, 2 steps away."]
    assert first.decision is None
    second = think(mind(), TWO, 1, SPEAK, recipients=(0, 2), unread=(said(0, first.messages[0].content),))
    assert words.read_claim(second.messages[0].content) == 0


def test_agents_that_know_the_same_claims_come_to_the_same_teams():
    claims = (said(0, words.write_claim(1, 4)), said(1, words.write_claim(0, 1)), said(2, words.write_claim(0, 1)))
    targets = []
    for agent in range(3):
        one = mind()
        think(one, TWO, agent, SPEAK, recipients=tuple({0, 1, 2} - {agent}))
        heard = tuple(message for message in claims if message.sender != agent)
        targets.append(think(one, TWO, agent, PLAN, unread=heard).decision.task.target)
    assert sorted(targets) == ["block_0", "block_0", "block_1"]


def test_who_stands_at_a_face_is_seen_without_a_word():
    waiting = Layout(8, [(1, 0), (4, 0), (6, 0)], [(2, (4, 1)), (1, (1, 5))])
    assert think(mind(), waiting, 2, PLAN).decision.task.target == "block_0"


def test_a_block_on_which_a_plan_has_failed_comes_after_the_others():
    failed = PlanView("P0.1", Task("deliver", "block_1"), (), 1, PlanStatus.TIMED_OUT, "rendezvous: 0 of 1 agents")
    assert think(mind(), TWO, 0, PLAN, outcomes=(failed,)).decision.task.target == "block_0"


def test_a_follower_obeys_and_says_so():
    one = mind()
    order = (said(0, "agent_1: block_1; agent_2: block_0.", MessageKind.DIRECTIVE),)
    acknowledged = think(one, TWO, 1, ACK, recipients=(0,), unread=order, role="follower")
    assert acknowledged.messages[0].kind is MessageKind.ACK
    assert words.read_claim(acknowledged.messages[0].content) == 1
    assert think(one, TWO, 1, PLAN, role="follower").decision.task.target == "block_1"


def test_a_follower_objects_to_a_block_without_a_clear_way_and_the_leader_gives_it_another():
    order = (said(0, "agent_1: block_1.", MessageKind.DIRECTIVE),)
    [refusal] = think(mind(), AHEAD, 1, ACK, recipients=(0,), unread=order, role="follower").messages
    assert refusal.content == "I cannot take block_1: block_0 is ahead of it."
    leader = mind()
    think(leader, AHEAD, 0, SPEAK, recipients=(1,), role="leader")
    [again] = think(
        leader, AHEAD, 0, SPEAK, recipients=(1,), unread=(said(1, words.write_objection(0, "so")),), role="leader"
    ).messages
    assert words.read_order(again.content) == {1: 0}
    assert not think(leader, AHEAD, 0, SPEAK, recipients=(1,), role="leader").messages


def test_a_leader_orders_everybody_at_first_and_then_only_those_who_ask():
    leader = mind()
    [first] = think(leader, TWO, 0, SPEAK, recipients=(1, 2), role="leader").messages
    assert (first.kind, first.recipients) == (MessageKind.DIRECTIVE, (1, 2))
    assert think(leader, TWO, 0, PLAN, role="leader").decision.task.target == "block_1"
    asked = (said(2, words.write_request("My plan failed."), MessageKind.REQUEST),)
    running = PlanView("P0.1", Task("deliver", "block_1"), (), 0, PlanStatus.RUNNING)
    [second] = think(leader, TWO, 0, SPEAK, recipients=(1, 2), unread=asked, role="leader", plan=running, t=1).messages
    assert second.recipients == (2,)


def test_a_follower_without_a_plan_asks():
    failed = PlanView("P1.1", Task("deliver", "block_0"), (), 1, PlanStatus.TIMED_OUT, "rendezvous: 1 of 2 agents")
    [asked] = think(mind(), TWO, 1, SPEAK, recipients=(0,), outcomes=(failed,), role="follower").messages
    assert asked.kind is MessageKind.REQUEST
    assert "deliver:block_0 timed_out rendezvous: 1 of 2 agents" in asked.content


def test_interrupted_it_resumes_a_plan_that_still_fits_and_replaces_one_that_does_not():
    running = PlanView("P0.1", Task("deliver", "block_1"), (), 0, PlanStatus.RUNNING)
    one = mind()
    think(one, TWO, 0, PLAN)
    assert think(one, TWO, 0, PLAN, plan=running, unread=(said(1, words.write_claim(0, 1)),)).decision is Resume.RESUME
    order = (said(2, words.write_order({0: 0}), MessageKind.DIRECTIVE),)
    assert think(one, TWO, 0, PLAN, plan=running, unread=order).decision.task.target == "block_0"


def test_noise_draws_at_random_from_the_clear_blocks_as_often_as_it_says():
    def target(noise, seed):
        return think(mind(noise, seed), TWO, 0, PLAN).decision.task.target

    assert {target(0.0, seed) for seed in range(20)} == {"block_1"}
    wrong = sum(target(0.5, seed) == "block_0" for seed in range(400))
    assert 60 < wrong < 140  # half of the choices are drawn, half of these hit the other block


def test_an_outsider_leads_as_well():
    leader = mind()
    env = CubeEnv(layout=TWO)
    env.reset(seed=0)
    outside = dataclasses.replace(
        view(TWO, 0, SPEAK, recipients=(0, 1, 2), role="leader"), agent=3, observation=env.symbolic_observation(None)
    )
    [orders] = asyncio.run(leader.think(outside)).messages
    assert sorted(words.read_order(orders.content)) == [0, 1, 2]


def episode(topology: str, n: int, seed: int):
    config = Cell.compose([f"n={n}", "agents=negotiator", "agents.noise=0.3", f"topology={topology}", f"seed={seed}"])
    parts = parts_of(config, lambda name: None)
    return play(parts.minds, parts.world, topology=parts.topology, seed=seed, coordinators=parts.coordinators)


TOPOLOGIES = ("individual", "debate", "chain", "centralized", "hybrid", "hierarchy", "decentralized", "graph")


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_team_of_four_delivers_everything_under_every_topology_and_every_time_in_the_same_way(topology):
    events = episode(topology, 4, 1)
    assert events[-1].event.outcome == "success"
    again = episode(topology, 4, 1)
    assert [(e.t, e.t_hat, e.event.kind) for e in again] == [(e.t, e.t_hat, e.event.kind) for e in events]


@pytest.mark.claims
def test_topologies_differ_measurably():
    found = {
        topology: [compute_metrics(Trace(tuple(episode(topology, 8, seed)))) for seed in range(8)]
        for topology in ("individual", "debate", "centralized", "decentralized")
    }

    def mean(topology, metric):
        return statistics.mean(metrics[metric] for metrics in found[topology])

    assert mean("individual", "communication.messages") == 0
    assert mean("debate", "outcome.steps") < mean("individual", "outcome.steps")
    assert mean("decentralized", "decision.overhead") > 1.2 * mean("debate", "decision.overhead")
    assert mean("debate", "decision.overhead") > 1.2 * mean("centralized", "decision.overhead")
    assert mean("centralized", "plans.stability") > mean("debate", "plans.stability")
    assert mean("debate", "plans.stability") > mean("decentralized", "plans.stability")
