"""Naive teams over the simulated model in the open world, offline, under every topology."""

from __future__ import annotations

import orjson
import pytest

from crafter_env import read_shown
from maeil.metrics import compute_metrics
from maeil.trace.reader import comparable, read_trace
from quorum.agents.llm.structured import Structuring
from quorum.agents.naive import build, render_prompt
from quorum.agents.prompting.blocks import read_blocks, write_json
from quorum.agents.simulated.model import SimulatedModel
from quorum.open_world.speaker import CrafterSpeaker
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
    facts = orjson.loads(read_blocks(system)["facts"])
    assert (system + turn).count('"points":') == 1
    again = read_shown(orjson.loads(read_blocks(turn)["observation"]), facts, 3)
    assert again.cooperation == w.observe(0).cooperation
    assert (again.goal, again.max_steps, again.size) == ("open", w.env.max_steps, w.env.size)


def rules(**changes):
    """The system message of a configuration."""
    w = world(None, **{"n": 3, "profile": "coop", "level": "easy", "switches": {}, **changes})
    return render_prompt(config("default"), context(w, topology("debate", 3)), view(w))[0].content


@pytest.mark.parametrize(
    ("changes", "wording"),
    [
        ({"level": "solo"}, "the same step, within"),
        ({"level": "hard"}, '"craft_agents" must craft'),
        ({"profile": "coop2"}, "takes every cell within"),
        ({"switches": {"mobs": False}}, "Zombies"),
        ({"switches": {"sharing": False}}, "Agents cannot share"),
        ({"switches": {"yields": "split"}}, "share the yield"),
        ({"switches": {"iron_needs_table": False}}, "a furnace and a table"),
        ({"known_only": True}, "only cells that its agent has seen"),
        ({"known_only": True}, "heard of"),
        ({"goal": "collect:iron"}, "collect_iron. Reaching it"),
        ({"text": {"max_agents": 2}}, "are farther away"),
    ],
)
def test_a_rule_is_stated_where_it_can_matter_and_nowhere_else(changes, wording):
    plain = {"known_only": False, "text": {"max_agents": None}}
    assert (wording in rules(**plain)) is not (wording in rules(**{**plain, **changes}))


def test_the_rules_are_the_same_for_all_sizes_and_a_coordinator_is_not_one_of_those_who_collect():
    assert rules(n=1, level="hard") == rules(n=40, level="hard")
    w = world(None, n=2, level="hard", switches={}, profile="coop")
    speaker = CrafterSpeaker().for_facts(w.prompt_facts(), ["agent_0", "agent_1", "coordinator"])
    assert speaker.read_observation(write_json(w.observe(0))).cooperation.agents["diamond"] == 2


def test_rules_without_the_facts_are_a_prompt_that_the_model_cannot_read():
    w = world(None, n=2, switches={})
    with pytest.raises(ValueError, match="no block <facts>"):
        CrafterSpeaker().read_observation(write_json(w.observe(0)))


def test_a_vocabulary_without_its_actions_is_refused():
    with pytest.raises(ValueError, match="needs collect, craft"):
        CrafterSpeaker().check_vocabulary({"noop", "move", "navigate", "place", "sleep"})
