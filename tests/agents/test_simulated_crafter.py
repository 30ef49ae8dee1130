"""Naive teams over the simulated model in the open world, offline, under every topology."""

from __future__ import annotations

import pytest

from maeil.metrics import compute_metrics
from maeil.trace.reader import comparable, read_trace
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build, render_prompt
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated import SimulatedModel
from quorum.agents.skills.crafter.speaker import CrafterSpeaker
from tests.agents.naive_team import TOPOLOGIES, config, context, settings, topology, view
from tests.crafter_env.joined import world
from tests.maeil.scripted import play


def team_plays(name, path, max_steps=40, seed=3, **rates):
    w = world(None, n=3, profile="coop", level="medium", switches={}, max_steps=max_steps)
    chosen = topology(name, 3)
    model = Structuring(SimulatedModel(settings(**rates)), 1)
    minds = build(config(), context(w, chosen, lambda _: model))
    coordinators = [("coordinator", mind) for mind in minds[3:]]
    play(minds[:3], w, topology=chosen, seed=seed, coordinators=coordinators, path=path)
    return w


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_a_naive_team_plays_under_every_topology(name, tmp_path):
    w = team_plays(name, tmp_path / "trace.jsonl")
    metrics = compute_metrics(read_trace(tmp_path / "trace.jsonl"))
    assert metrics["outcome.score"] == w.progress().score > 0
    assert metrics["model.calls"] > 0
    assert metrics["model.parse_failures"] == metrics["model.repairs"] == 0
    assert (metrics["communication.messages"] > 0) == (name != "individual")


def test_faults_are_counted_and_the_episode_goes_on(tmp_path):
    team_plays("debate", tmp_path / "trace.jsonl", malformed=0.2, invalid=0.2, poor=0.2)
    metrics = compute_metrics(read_trace(tmp_path / "trace.jsonl"))
    assert metrics["model.repairs"] > 0
    assert metrics["outcome.steps"] == 40


def test_the_same_seed_gives_the_same_trace(tmp_path):
    first = team_plays("decentralized", tmp_path / "a", poor=0.3)
    second = team_plays("decentralized", tmp_path / "b", poor=0.3)
    assert first.ansi() == second.ansi()
    assert comparable(tmp_path / "a") == comparable(tmp_path / "b")


@pytest.mark.parametrize("prompt_set", ["default", "terse"])
def test_a_prompt_carries_the_observation_once_and_the_rules(prompt_set):
    w = world(None, n=3, level="hard", switches={})
    messages = render_prompt(config(prompt_set), context(w, topology("debate", 3)), view(w))
    system, turn = (message.content for message in messages)
    assert "wood_pickaxe" in system
    assert "navigate" in system
    assert set(read_blocks(turn)) >= {"turn", "observation"}
    assert turn.count('"cooperation"') == 1


def test_a_vocabulary_without_its_actions_is_refused():
    with pytest.raises(ValueError, match="needs collect, craft"):
        CrafterSpeaker().check_vocabulary({"noop", "move", "navigate", "place", "sleep"})
