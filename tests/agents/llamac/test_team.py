"""Whole teams over the simulated model, and what cannot be built."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from maeil.metrics import compute_metrics
from maeil.trace import comparable
from maeil.trace.reader import Trace
from quorum.agents.llamac import build
from quorum.agents.simulated.model import SimulatedModel
from quorum.agents.skills.cube.speaker import CubeSpeaker
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum_base.user_errors import UserError
from tests.agents.llamac.stage import calls_of, codes_of
from tests.agents.llamac.teams import config, coordinated, episode
from tests.agents.naive_team import Delayed, context, cube, settings
from tests.agents.naive_team import episode as naive_episode
from tests.agents.naive_team import topology as shipped
from tests.crafter_env.joined import world
from tests.maeil.corridor import Corridor

FAULTS = {"malformed": 0.1, "invalid": 0.1, "poor": 0.2, "refusal": 0.02}
COORDINATED = ["topology=centralized", "topology.leader=coordinator", "topology.rounds=3"]


def crafter(max_steps: int = 40, **changes):
    return world(None, n=3, profile="coop2", level="coop2", switches={}, max_steps=max_steps, **changes)


@pytest.mark.parametrize("n", [4, 8])
def test_a_team_delivers_every_block_of_cube(n):
    events = episode(cube(n), 1)
    assert events[-1].event.outcome == "success"
    assert {call["role"] for call in calls_of(events)} == {"explorer", "exploiter", "assessor"}


@pytest.mark.parametrize("n", [4, 8])
def test_a_team_with_faults_plays_cube_to_the_end_and_its_gates_catch_them(n):
    events = episode(cube(n, max_steps=150), 5, **FAULTS)
    end, metrics = events[-1].event, compute_metrics(Trace(tuple(events)))
    assert (end.outcome, end.reason) == ("success", "")
    assert metrics["gates.rejections"] == len(codes_of(events)) > 0
    assert metrics["outcome.completion"] > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_both_teams_of_a_pair_play_a_board_of_cube_to_the_end(seed):
    """The same board, the same limit, the same rates of faults: neither team is stopped by anything else."""
    llamac = episode(cube(4, max_steps=100), seed, **FAULTS)
    naive = naive_episode("individual", 4, seed, max_steps=100, **FAULTS)
    assert llamac[0].event.board == naive[0].event.board
    for end in (llamac[-1].event, naive[-1].event):
        assert (end.outcome, end.reason) == ("success", "")
        assert end.outcome == "success" or end.steps == 100


def test_a_team_plays_the_open_world_to_the_end():
    w = crafter()
    events = episode(w, 2, **FAULTS)
    assert (events[-1].event.steps, events[-1].event.reason) == (40, "")
    assert w.progress().score > 0
    assert codes_of(events)


def test_the_same_seed_gives_the_same_trace_whatever_comes_back_first(tmp_path: Path):
    for seed, name in enumerate("ab"):
        (tmp_path / name).mkdir()
        model = Delayed(SimulatedModel(settings(**FAULTS)), random.Random(seed))
        episode(cube(4, max_steps=60), 2, model=model, path=tmp_path / name / "trace.jsonl")
    first, second = (list(comparable(tmp_path / name)) for name in "ab")
    assert first == second


def test_it_runs_from_a_configuration(tmp_path: Path):
    cell = Cell.compose(["agents=llamac", *COORDINATED, "n=2", "max_steps=30", "seed=1"])
    result = run_cell(cell, tmp_path)
    assert (result.outcome, result.reason) == ("truncated", "")
    assert result.metrics["model.calls"] >= 3
    assert (result.folder / "calls.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            [],
            "agents: agents=llamac needs a coordinator, but topology=individual has none with these settings: set "
            "topology=",
        ),
        (
            ["topology=centralized"],
            "topology=centralized has none with these settings: set topology=centralized topology.leader",
        ),
        (["topology=debate"], "set topology=centralized topology.leader=coordinator"),
        (
            ["topology=centralized", "topology.leader=coordinator"],
            "agents.external_retries: 3 is more than the 1 answers",
        ),
        (
            [
                "topology=centralized",
                "topology.leader=coordinator",
                "topology.rounds=3",
                "topology.feedback=constraints",
            ],
            "agents=llamac plans from the whole state of the world and does not show the loop's feedback: set "
            "topology.",
        ),
    ],
)
def test_what_does_not_go_together_is_reported_with_the_way_out(tmp_path: Path, words, said):
    with pytest.raises(UserError) as error:
        run_cell(Cell.compose(["agents=llamac", *words]), tmp_path)
    assert said in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_world_without_gates_is_reported():
    w = Corridor(2)
    with pytest.raises(ValueError, match="the world 'hallway' does not have; worlds that have it: cube, transport"):
        build(config(), context(w, coordinated(2)))


def test_topologies_without_a_coordinator_are_refused_from_python_too():
    w = cube(4)
    with pytest.raises(ValueError, match="needs a coordinator"):
        build(config(), context(w, shipped("decentralized", 4)))


def test_a_template_that_is_not_there_is_reported():
    with pytest.raises(ValueError, match="no template 'gone"):
        build(config(rules="gone.jinja"), context(cube(4), coordinated(4)))


def test_the_simulated_model_refuses_a_vocabulary_that_it_has_no_rules_for():
    with pytest.raises(ValueError, match=r"needs move_to_block, push_block, rendezvous; set env\.vocabulary=cube"):
        CubeSpeaker().for_vocabulary({"move"})
