"""Naive teams over the simulated model in the two LLaMAC worlds, offline, under every topology."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import orjson
import pytest

from llamac_env import read_rounds
from maeil.messages import Message, MessageKind
from maeil.metrics import compute_metrics
from maeil.mind import Act
from maeil.trace.reader import read_trace
from quorum.agents.coordination.joint import Joint, Sight
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build, render_prompt
from quorum.agents.prompting.answers import plan_value
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated.model import SimulatedModel
from quorum.agents.skills import Chooser, JointPlanRequest
from quorum.llamac_worlds.squeeze import SqueezeBriefing
from quorum.llamac_worlds.squeeze.rules import SqueezeSpeaker, share, widest_gap
from quorum.llamac_worlds.transport.moves import TransportBriefing, TransportGates, one_step
from quorum.llamac_worlds.transport.speaker import TransportSpeaker, choose, known_board
from tests.agents.naive_team import TOPOLOGIES, config, context, settings, topology, view
from tests.llamac_env.test_squeeze import world as squeeze
from tests.llamac_env.test_transport_world import world as transport
from tests.maeil.scripted import play


def make(kind, max_steps=None):
    if kind == "squeeze":
        return squeeze(max_steps=max_steps or 15)
    view = "board" if kind == "hard" else "local"
    return transport(difficulty=kind, view=view, max_steps=max_steps or 30)


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
    silent = {"individual", "coordinator"} if kind == "squeeze" else {"individual"}
    assert (metrics["communication.messages"] > 0) == (name not in silent)


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
@pytest.mark.parametrize(("kind", "words"), [("easy", ("cell", "move(", "wait(")), ("squeeze", ("sum", "pick("))])
def test_a_prompt_carries_the_observation_once_and_the_rules(kind, words, prompt_set):
    w = make(kind)
    n = len(w.agents)
    messages = render_prompt(config(prompt_set), context(w, topology("debate", n)), view(w))
    system, turn = (message.content for message in messages)
    assert all(word in system for word in words)
    assert set(read_blocks(turn)) >= {"turn", "observation"}
    heard = read_blocks(turn)["observation"]
    if kind == "squeeze":  # whose observation lacks the name, which the turn gives
        assert read_rounds(orjson.loads(heard), "agent_0") == w.observe(0)
    else:
        assert TransportSpeaker().read_observation(heard) == w.observe(0)


def test_a_board_in_a_prompt_leaves_out_where_nothing_is_and_reads_back():
    w = make("hard")
    heard = read_blocks(render_prompt(config(), context(w, topology("debate", 4)), view(w))[1].content)["observation"]
    assert all(items for items in orjson.loads(heard)["board"].values())
    assert TransportSpeaker().read_observation(heard).to_board() == w.env.board
    with pytest.raises(ValueError, match="not an observation of grid transportation"):
        TransportSpeaker().read_observation('{"can_do": 3}')


@pytest.mark.parametrize("prompt_set", ["default", "terse"])
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_nothing_that_agents_are_told_differs_between_games_until_the_rewards_do(name, prompt_set):
    found = []
    for changes in ({"rho": 0.3}, {"rho": 0.7}, {"mu": 26.0, "sigma": 1.0}, {"rho": None}):
        w = squeeze(n=3, **changes)
        w.step([0, 0, 0])  # pays nothing wherever the peak is
        heard = context(w, topology(name, 3))
        found.append([render_prompt(config(prompt_set), heard, view(w, agent)) for agent in range(3)])
    assert all(prompts == found[0] for prompts in found)
    assert not any(" peak" in message.content for prompt in found[0] for message in prompt)
    w = squeeze(n=3, hint=True)
    hinted = render_prompt(config(prompt_set), context(w, topology(name, 3)), view(w))
    assert "one peak" in hinted[0].content


# Who sees its own cell alone.

FAR = {"box_red": "0.5_0.5", "target_red": "0.5_2.5"}


def plan_of_first(w, *messages, seed=0):
    turn = view(w, 0, (Act.SPEAK, Act.PLAN), recipients=(1, 2), memory=messages)
    return TransportSpeaker().answer(turn, Chooser(np.random.default_rng(seed)))


def said(sender, text):
    return Message(0, sender, (0,), text, MessageKind.PROPOSE, 0, 0, 0)


def test_a_box_goes_towards_the_target_that_somebody_has_told_of_and_anywhere_before():
    w = transport(FAR, n=6, rows=2)
    ways = {plan_of_first(w, seed=seed).decision.actions[0].to for seed in range(20)}
    assert ways == {"square[0.5, 1.5]", "square[1.5, 0.5]"}
    heard = said(2, "I work on box_red. In square[0.5, 2.5] there is target_red.")
    assert {str(plan_of_first(w, heard, seed=seed).decision.actions[0].to) for seed in range(20)} == {
        "square[0.5, 1.5]"
    }
    gone = said(2, "In square[0.5, 2.5] there is no target.")
    assert {plan_of_first(w, heard, gone, seed=seed).decision.actions[0].to for seed in range(20)} == ways


def test_who_speaks_tells_of_the_targets_in_its_cell_and_a_coordinator_of_all():
    w = transport({**FAR, "box_blue": "1.5_0.5", "target_blue": "0.5_0.5"}, n=6, rows=2)
    (draft,) = plan_of_first(w).messages
    assert draft.content.endswith("In square[0.5, 0.5] there is target_blue.")
    turn = view(w, 6, (Act.SPEAK,), recipients=(0, 1), names=(*w.agents, "coordinator"))
    turn = replace(turn, observation=w.global_observation())
    (draft,) = TransportSpeaker().answer(turn, Chooser(np.random.default_rng(0))).messages
    assert draft.content == "In square[0.5, 0.5] there is target_blue. In square[0.5, 2.5] there is target_red."
    heard = known_board(w.observe(0), [said(6, draft.content), said(1, "In square[9.5, 0.5] there is target_red.")])
    assert {(str(item.colour), item.place) for item in heard.targets} == {("blue", (1, 1)), ("red", (1, 5))}
    assert [item.place for item in heard.boxes] == [(1, 1)]


def test_of_those_who_share_a_corner_one_acts_where_the_target_is_known():
    w = transport({"box_red": "1.0_1.0", "target_red": "1.5_2.5"}, n=6, rows=2, difficulty="hard")
    heard = [said(5, "In square[1.5, 2.5] there is target_red.")]
    boards = [known_board(w.observe(agent), heard) for agent in range(6)]
    found = [choose(boards[agent], agent, Chooser(np.random.default_rng(0)))[0] for agent in range(6)]
    assert [agent for agent, move in enumerate(found) if move is not None] == [1], "who is as near as agent 4"


@pytest.mark.parametrize(("speaker", "needs"), [(TransportSpeaker(), "move, wait"), (SqueezeSpeaker(), "pick")])
def test_a_vocabulary_without_its_actions_is_refused(speaker, needs):
    with pytest.raises(ValueError, match=f"needs {needs}"):
        speaker.check_vocabulary(())


# As a critic of LLaMAC.


def request(role, state, asked, running=None):
    return JointPlanRequest(
        role, orjson.loads(orjson.dumps(state)), running or {}, asked, Chooser(np.random.default_rng(0)), frozenset()
    )


@pytest.mark.parametrize("role", ["explorer", "exploiter"])
@pytest.mark.parametrize("rule", ["final_state", "start_empty"])
def test_what_a_critic_proposes_goes_together_with_what_others_do(role, rule):
    for seed in range(20):
        w = transport(difficulty="hard", n=8, seed=seed, entry_rule=rule)
        where, agents = w.env.board, range(len(w.agents))
        tries = ((agent, move) for agent in agents for move in where.available(agent))
        busy, move = next(pair for pair in tries if not where.after(dict([pair])).collisions)
        doing = one_step(where.grid, busy, move, "")
        sight = Sight(0, w.global_observation(), tuple(map(w.observe, agents)))
        asked = [agent for agent in agents if agent != busy]
        plans = TransportSpeaker().propose(
            request(role, TransportBriefing().state(sight).shown(), asked, {busy: plan_value(doing)})
        )
        assert set(plans) <= set(asked)
        assert not any(w.check_plan(agent, plan) for agent, plan in plans.items())
        assert TransportGates().scrutinize(sight, Joint(plans, {busy: doing})) == []


def test_the_exploiter_places_first_and_the_explorer_plans_ahead():
    items = {"box_red": "0.5_0.5", "box_blue": "0.5_0.5", "target_red": "1.5_1.5", "target_blue": "0.5_0.5"}
    w = transport(items)
    state = TransportBriefing().state(Sight(0, w.global_observation(), tuple(map(w.observe, range(4))))).shown()
    near = TransportSpeaker().propose(request("exploiter", state, range(4)))
    assert {agent: [action.to for action in plan.actions] for agent, plan in near.items()} == {0: ["target_blue"]}
    far = TransportSpeaker().propose(request("explorer", state, range(4)))
    assert len(far) == 3, "the red box goes by way of one neighbour, and is placed in the third step"
    assert {len(plan.actions) for plan in far.values()} == {3}


def test_critics_of_the_squeeze_take_off_what_others_pick():
    w = squeeze(n=3)
    w.step([9, 9, 9])
    state = SqueezeBriefing().state(Sight(1, w.global_observation(), tuple(map(w.observe, range(3)))))
    running = {1: {"actions": [{"action": "pick", "units": 7}]}}
    for role in ("explorer", "exploiter"):
        alone = SqueezeSpeaker().propose(request(role, state, [0, 1, 2]))
        together = SqueezeSpeaker().propose(request(role, state, [0, 2], running))
        assert sum(plan.actions[0].units for plan in alone.values()) == 7 + sum(
            plan.actions[0].units for plan in together.values()
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
