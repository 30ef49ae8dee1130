"""Naive teams over the simulated model in the two LLaMAC worlds, offline, under every topology."""

from __future__ import annotations

import numpy as np
import orjson
import pytest

from maeil.metrics import compute_metrics
from maeil.trace.reader import read_trace
from quorum.agents.coordination.joint import Joint, Sight
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build, render_prompt
from quorum.agents.prompting.answers import plan_value
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated import SimulatedModel
from quorum.agents.skills import Brief
from quorum.agents.skills.squeeze.briefing import SqueezeBriefing
from quorum.agents.skills.squeeze.search import share, widest_gap
from quorum.agents.skills.squeeze.speaker import SqueezeSpeaker
from quorum.agents.skills.transport.briefing import TransportBriefing
from quorum.agents.skills.transport.gates import TransportGates
from quorum.agents.skills.transport.moves import one_step
from quorum.agents.skills.transport.speaker import TransportSpeaker
from tests.agents.naive_team import TOPOLOGIES, config, context, settings, topology, view
from tests.llamac_env.test_squeeze import world as squeeze
from tests.llamac_env.test_transport_world import world as transport
from tests.maeil.scripted import play


def make(kind, max_steps=None):
    if kind == "squeeze":
        return squeeze(max_steps=max_steps or 15)
    return transport(difficulty=kind, max_steps=max_steps or 30)


def team_plays(kind, name, path, max_steps=None, seed=3, **rates):
    w = make(kind, max_steps)
    n = len(w.agents)
    chosen = topology(name, n)
    model = Structuring(SimulatedModel(settings(**rates)), 1)
    minds = build(config(), context(w, chosen, lambda _: model))
    coordinators = [("coordinator", mind) for mind in minds[n:]]
    play(minds[:n], w, topology=chosen, seed=seed, coordinators=coordinators, path=path)
    return w


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("kind", ["easy", "hard", "squeeze"])
def test_a_naive_team_finishes_under_every_topology(kind, name, tmp_path):
    w = team_plays(kind, name, tmp_path / "trace.jsonl")
    metrics = compute_metrics(read_trace(tmp_path / "trace.jsonl"))
    assert metrics["outcome.success"] is (kind != "squeeze" or w.progress().reached == 1)
    assert metrics["outcome.score"] == w.progress().score > 0
    assert metrics["model.calls"] > 0
    assert metrics["model.parse_failures"] == metrics["model.repairs"] == 0
    talks = name not in ("individual", "coordinator")  # a coordinator without a body has nothing to say
    assert (metrics["communication.messages"] > 0) == talks


@pytest.mark.parametrize("kind", ["easy", "hard", "squeeze"])
def test_faults_are_counted_and_the_episode_goes_on(kind, tmp_path):
    w = team_plays(kind, "debate", tmp_path / "trace.jsonl", max_steps=15, malformed=0.2, invalid=0.3, poor=0.3)
    metrics = compute_metrics(read_trace(tmp_path / "trace.jsonl"))
    assert metrics["model.repairs"] > 0
    assert metrics["outcome.steps"] == (len(w.env.sums) if kind == "squeeze" else w.env.steps)


@pytest.mark.parametrize("kind", ["hard", "squeeze"])
def test_the_same_seed_gives_the_same_trace(kind, tmp_path):
    worlds = [team_plays(kind, "decentralized", tmp_path / name, poor=0.3) for name in ("a", "b")]
    assert worlds[0].ansi() == worlds[1].ansi()
    events = [[(e.t, e.event) for e in read_trace(tmp_path / name).events if e.event.kind == "plan"] for name in "ab"]
    assert events[0] == events[1]


def test_every_move_of_a_poor_speaker_is_one_that_can_be_made(tmp_path):
    team_plays("easy", "individual", tmp_path / "trace.jsonl", max_steps=10, poor=1.0)
    metrics = compute_metrics(read_trace(tmp_path / "trace.jsonl"))
    assert metrics["plans.invalid"] == 0


@pytest.mark.parametrize("prompt_set", ["default", "terse"])
@pytest.mark.parametrize(("kind", "words"), [("hard", ("corner", "move(", "wait(")), ("squeeze", ("peak", "pick("))])
def test_a_prompt_carries_the_observation_once_and_the_rules(kind, words, prompt_set):
    w = make(kind)
    n = len(w.agents)
    messages = render_prompt(config(prompt_set), context(w, topology("debate", n)), view(w))
    system, turn = (message.content for message in messages)
    assert all(word in system for word in words)
    assert set(read_blocks(turn)) >= {"turn", "observation"}
    speaker = SqueezeSpeaker() if kind == "squeeze" else TransportSpeaker()
    assert speaker.read_observation(read_blocks(turn)["observation"]) == w.observe(0)


@pytest.mark.parametrize(("speaker", "needs"), [(TransportSpeaker(), "move, wait"), (SqueezeSpeaker(), "pick")])
def test_a_vocabulary_without_its_actions_is_refused(speaker, needs):
    with pytest.raises(ValueError, match=f"needs {needs}"):
        speaker.check_vocabulary(())


# As a critic of LLaMAC.


def brief(role, state, asked, running=None):
    return Brief(
        role, orjson.loads(orjson.dumps(state)), running or {}, asked, 0.0, np.random.default_rng(0), frozenset()
    )


@pytest.mark.parametrize("role", ["explorer", "exploiter"])
@pytest.mark.parametrize("rule", ["final_state", "start_empty"])
def test_what_a_critic_proposes_goes_together_with_what_others_do(role, rule):
    for seed in range(20):
        w = transport(difficulty="hard", n=8, seed=seed, entry_rule=rule)
        where, agents = w.env.board, range(len(w.agents))
        busy = next(agent for agent in agents if where.available(agent))
        doing = one_step(where.grid, busy, where.available(busy)[0], "")
        sight = Sight(0, w.global_observation(), tuple(map(w.observe, agents)))
        asked = [agent for agent in agents if agent != busy]
        plans = TransportSpeaker().propose(
            brief(role, TransportBriefing().state(sight), asked, {busy: plan_value(doing)})
        )
        assert set(plans) <= set(asked)
        assert not any(w.check_plan(agent, plan) for agent, plan in plans.items())
        assert TransportGates().scrutinize(sight, Joint(plans, {busy: doing})) == []


def test_the_exploiter_places_first_and_the_explorer_plans_ahead():
    items = {"box_red": "0.5_0.5", "box_blue": "0.5_0.5", "target_red": "1.5_1.5", "target_blue": "0.5_0.5"}
    w = transport(items)
    state = TransportBriefing().state(Sight(0, w.global_observation(), tuple(map(w.observe, range(4)))))
    near = TransportSpeaker().propose(brief("exploiter", state, range(4)))
    assert {agent: [action.to for action in plan.actions] for agent, plan in near.items()} == {0: ["target_blue"]}
    far = TransportSpeaker().propose(brief("explorer", state, range(4)))
    assert len(far) == 3, "the red box goes by way of one neighbour, and is placed in the third step"
    assert {len(plan.actions) for plan in far.values()} == {3}


def test_critics_of_the_squeeze_take_off_what_others_pick():
    w = squeeze(n=3)
    w.step([9, 9, 9])
    state = SqueezeBriefing().state(Sight(1, w.global_observation(), tuple(map(w.observe, range(3)))))
    running = {1: {"actions": [{"action": "pick", "units": 7}]}}
    for role in ("explorer", "exploiter"):
        alone = SqueezeSpeaker().propose(brief(role, state, [0, 1, 2]))
        beside = SqueezeSpeaker().propose(brief(role, state, [0, 2], running))
        assert sum(plan.actions[0].units for plan in alone.values()) == 7 + sum(
            plan.actions[0].units for plan in beside.values()
        )


@pytest.mark.parametrize("agents", [1, 3, 50])
def test_a_sum_is_shared_evenly_and_gaps_are_halved(agents):
    for total in range(9 * agents + 1):
        picks = share(total, agents, 9)
        assert (sum(picks), max(picks) - min(picks) <= 1) == (total, True)
    assert (share(-4, 2, 9), share(99, 2, 9)) == ([0, 0], [9, 9])
    tried: list[int] = []
    for _ in range(9 * agents + 1):
        tried.append(widest_gap(tried, 9 * agents))
    assert sorted(tried) == list(range(9 * agents + 1))
