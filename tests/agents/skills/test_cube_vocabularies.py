"""Every mind that plays CUBE plays it in both vocabularies."""

from __future__ import annotations

import asyncio

import pytest

from maeil.trace import Recorder
from quorum.agents.llm.structured import Structuring
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.parts import build, play

COORDINATED = ("topology=centralized", "topology.leader=coordinator")


@pytest.mark.parametrize(
    "words",
    [
        ("agents=heuristic",),
        ("agents=negotiator", "topology=debate"),
        ("agents=naive", "topology=centralized"),
        ("agents=llamac", *COORDINATED, "topology.rounds=3", "agents.rollout=20"),
        ("agents=hmas2", *COORDINATED, "topology.rounds=1"),
    ],
    ids=lambda words: words[0],
)
def test_a_team_delivers_everything_in_the_words_of_emcoop_as_in_those_of_cube(words: tuple[str, ...]) -> None:
    steps = {}
    for vocabulary in ("cube", "emcoop"):
        cell = Cell.compose([*words, "n=4", f"env.vocabulary={vocabulary}"])
        model = Structuring(SimulatedModel(cell.configuration.llm), 0)
        end = asyncio.run(play(cell, build(cell, lambda _, model=model: model), Recorder(None)))
        assert end.outcome == "success", vocabulary
        steps[vocabulary] = end.steps
    assert abs(steps["cube"] - steps["emcoop"]) <= 5
