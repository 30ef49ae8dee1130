"""Whole teams over the simulated model, from the shipped configurations, and what cannot be built."""

from __future__ import annotations

import random
from pathlib import Path

import orjson
import pytest

from llamac_env.transport.world import TransportConfig, TransportWorld
from maeil.metrics import compute_metrics
from maeil.trace import comparable
from maeil.trace.reader import Trace
from quorum.agents.llm.protocol import Request
from quorum.agents.prompting.blocks import read_blocks
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.methods.baselines.teams import cmas
from quorum_base.user_errors import UserError
from tests.agents.llamac.stage import Cast, calls_of, joint
from tests.agents.naive_team import Delayed, context, cube, settings
from tests.crafter_env.joined import world
from tests.llamac_env.test_squeeze import world as squeeze
from tests.maeil.corridor import Corridor
from tests.methods.baselines.stage import BASELINES, config, end_of, episode, fitting

FAULTS = {"malformed": 0.1, "invalid": 0.1, "poor": 0.2, "refusal": 0.02}
LEADER = ["topology=centralized", "topology.leader=coordinator"]
ROLES = {
    "cmas": {"centre"},
    "hmas1": {"centre", "talker"},
    "hmas2": {"centre", "reviewer"},
    "dmas": {"talker"},
    "debaters": {"debater"},
}


def simulated(name: str, w, **rates):
    model = SimulatedModel(settings(**rates))
    return episode(name, w, lambda _: model, repairs=1)


@pytest.mark.parametrize("name", BASELINES)
def test_a_team_delivers_every_block_of_cube(name):
    events = simulated(name, cube(4))
    assert end_of(events).outcome == "success"
    assert {call["role"] for call in calls_of(events)} == ROLES[name]


@pytest.mark.parametrize("name", BASELINES)
def test_a_team_with_faults_plays_cube_to_the_end(name):
    events = simulated(name, cube(4, max_steps=80), **FAULTS)
    assert (end_of(events).outcome, end_of(events).reason) == ("success", "")
    assert compute_metrics(Trace(tuple(events)))["outcome.completion"] > 0


@pytest.mark.parametrize("name", BASELINES)
def test_a_team_plays_the_open_world_to_the_end(name):
    w = world(None, n=3, profile="coop2", level="coop2", switches={}, max_steps=12)
    end = end_of(simulated(name, w))
    assert (end.steps, end.reason) == (12, "")
    assert w.progress().score > 0


def frozen(difficulty: str):
    own = {"name": "transport", "n": 8, "rows": None, "entry_rule": "final_state", "boards": "frozen", "view": "board"}
    return TransportWorld(TransportConfig(**own, difficulty=difficulty, max_steps=30, large_extra=10))


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
@pytest.mark.parametrize("name", BASELINES)
def test_a_team_places_every_box(name, difficulty):
    end = end_of(simulated(name, frozen(difficulty)))
    assert end.outcome == "success"
    assert end.steps <= 8


@pytest.mark.parametrize("name", BASELINES)
def test_a_team_with_faults_plays_transport_to_the_end(name):
    end = end_of(simulated(name, frozen("easy"), **FAULTS))
    assert (end.outcome, end.reason) == ("success", "")


@pytest.mark.parametrize("name", BASELINES)
def test_a_team_plays_the_squeeze_to_the_end_and_pays(name):
    w = squeeze(max_steps=12)
    assert end_of(simulated(name, w)).steps == 12
    assert w.progress().score > 0.9


@pytest.mark.parametrize("name", BASELINES)
def test_the_same_seed_gives_the_same_trace_whatever_comes_back_first(tmp_path: Path, name):
    for seed, folder in enumerate("ab"):
        (tmp_path / folder).mkdir()
        model = Delayed(SimulatedModel(settings(**FAULTS)), random.Random(seed))
        episode(name, cube(4, max_steps=30), lambda _, m=model: m, repairs=1, path=tmp_path / folder / "trace.jsonl")
    first, second = (list(comparable(tmp_path / folder)) for folder in "ab")
    assert first == second


def test_agents_of_hmas2_object_to_what_brings_nothing_nearer():
    idle = {"task": None, "actions": [{"action": "idle", "steps": 3}]}
    w = cube(2, max_steps=1)
    centre, agents = Cast(centre=joint(agent_0=idle)), SimulatedModel(settings())
    episode("hmas2", w, lambda who: centre if who == "coordinator" else agents)
    (objection,) = centre.asked("centre")[1]["objections"]
    assert (objection["agent"], "code" in objection) == ("agent_0", False)
    assert "agent_0 waits, and block" in objection["issue"]


def test_the_verdict_of_poor_reviewers_falls_by_chance():
    w = cube(4, max_steps=1)
    right, poor = SimulatedModel(settings()), SimulatedModel(settings(poor=1))
    for agents, rounds in ((right, 0), (poor, 1)):
        events = episode("hmas2", w, lambda who, agents=agents: right if who == "coordinator" else agents)
        assert compute_metrics(Trace(tuple(events)))["gates.feedback_rounds"] == rounds


class Heard:
    """The simulated model, and all that it was asked."""

    def __init__(self) -> None:
        self.model, self.requests = SimulatedModel(settings(poor=0.5)), []

    async def complete(self, request: Request):
        self.requests.append(request)
        return await self.model.complete(request)


@pytest.mark.parametrize("name", BASELINES)
def test_every_role_is_told_its_part_the_rules_the_actions_and_all_data_in_one_block_each(name):
    model = Heard()
    episode(name, cube(4, max_steps=40), lambda _: model)
    for request in model.requests:
        system, turn = (message.content for message in request.messages[:2])
        role = orjson.loads(read_blocks(turn)["turn"])["role"]
        assert f"# Your role: {role}" in turn
        assert "until it touches the last column" in system
        assert "- push_block(" in system
        assert "None" not in turn.replace("None: if nobody", "")
        for block in read_blocks(turn):
            assert turn.count(f"<{block}>\n") == 1
    assert {orjson.loads(read_blocks(r.messages[1].content)["turn"])["role"] for r in model.requests} == ROLES[name]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cmas", [*LEADER, "topology.rounds=0"]),
        ("hmas2", [*LEADER, "topology.rounds=3"]),
        ("hmas1", ["topology=dialogue", "topology.opens=coordinator"]),
        ("dmas", ["topology=dialogue"]),
        ("debaters", [*LEADER, "agents.debaters=2", "agents.rounds=1"]),
    ],
)
def test_it_runs_from_a_configuration(tmp_path: Path, name, words):
    result = run_cell(Cell.compose([f"agents={name}", *words, "n=2", "max_steps=30", "seed=1"]), tmp_path)
    assert (result.outcome, result.reason) == ("truncated", "")
    assert result.metrics["model.calls"] >= 1


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        (
            "cmas",
            [],
            "agents=cmas needs a coordinator, but topology=individual has none with these settings: set topology=",
        ),
        ("hmas2", ["topology=centralized"], "set topology=centralized topology.leader=coordinator topology.rounds=1"),
        ("hmas2", [*LEADER, "topology.rounds=0"], "set topology.rounds=1, or 3 as on hard boards"),
        (
            "debaters",
            ["topology=dialogue", "topology.opens=coordinator"],
            "lets it only open a dialogue: set topology",
        ),
        ("llamac", ["topology=dialogue", "topology.opens=coordinator"], "lets it only open a dialogue: set topology"),
        (
            "dmas",
            [],
            "talks in a dialogue, but topology=individual is not one: set topology=dialogue topology.opens=team",
        ),
        ("dmas", ["topology=dialogue", "topology.opens=coordinator"], "set topology.opens=team"),
        ("hmas1", ["topology=dialogue"], "set topology.opens=coordinator"),
        ("hmas1", LEADER, "set topology=dialogue topology.opens=coordinator"),
    ],
)
def test_a_topology_that_does_not_fit_is_told_with_the_way_out(tmp_path: Path, name, words, said):
    with pytest.raises(UserError) as error:
        run_cell(Cell.compose([f"agents={name}", *words]), tmp_path)
    assert said in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_in_a_world_without_gates_the_planner_is_shown_the_overview(tmp_path):
    (tmp_path / "rules.jinja").write_text("Walk to the end.", encoding="utf-8")
    model = Cast(centre=joint())
    episode("cmas", Corridor(2, max_steps=1), lambda _: model, folder=str(tmp_path))
    assert model.asked("centre")[0]["state"] == {"cell": 0}


def test_a_template_that_is_not_there_is_reported():
    with pytest.raises(ValueError, match="no template 'gone"):
        cmas.build(config("cmas", rules="gone.jinja"), context(cube(4), fitting("cmas", 4)))
