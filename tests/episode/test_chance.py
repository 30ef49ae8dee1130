"""Episodes of chance and echo: every mind and topology takes their answers, in every world, in any order."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.outcomes import Outcome
from maeil.trace import comparable
from quorum.configuration.cell import Cell
from quorum.configuration.registry import minds, topologies
from quorum.episode.model_pool import ModelPool
from quorum.episode.preflight import Preflight
from quorum.episode.runner import Result, run_cell
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepRequest
from quorum_base.user_errors import UserError
from tests.episode.test_every_mind import TOPOLOGIES

WORLDS = {
    "cube": "env=cube n=2 max_steps=6",
    "emcoop": "env=cube env.vocabulary=emcoop n=2 max_steps=6",
    "crafter": "env=crafter_coop n=2 max_steps=6",
    "transport": "env=transport n=4 max_steps=6",
    "squeeze": "env=squeeze n=3 max_steps=6",
    "foraging": "env=foraging n=3 max_steps=6",
    "overcooked": "env=overcooked max_steps=6",
}
WITHOUT_TASKS = {("squeeze", "drwell"), ("squeeze", "tom")}
"""Minds that refuse a world, whoever answers."""
MINDS = [mind for mind in TOPOLOGIES if minds.get(mind).uses_models and mind != "naive"]


FLOORS = ("random", "echo")


def played(out: Path, llm: str, *words: str) -> Result:
    cell = Cell.compose([f"llm={llm}", *(part for word in words for part in word.split())])
    return run_cell(cell, out)


def check(result: Result) -> None:
    """Check that every answer could be read; a team whose joint plans stay wrong has failed, and its run is whole."""
    assert result.outcome in (Outcome.SUCCESS, Outcome.TRUNCATED, Outcome.FAILURE), result.reason
    assert result.outcome != Outcome.FAILURE or "no joint plan after" in result.reason
    assert result.metrics["model.calls"] == result.metrics["model.answers"] > 0
    assert result.metrics["model.parse_failures"] == 0
    assert (result.metrics["model.prompt_tokens"], result.metrics["model.usd"]) == (0, 0)


@pytest.mark.conformance
@pytest.mark.parametrize("llm", FLOORS)
@pytest.mark.parametrize("world", WORLDS)
def test_naive_agents_play_a_world_under_every_topology(world: str, llm: str, tmp_path: Path) -> None:
    for topology in set(topologies.names()) - {"learned"}:  # which is a graph, from a file
        check(played(tmp_path, llm, WORLDS[world], f"agents=naive topology={topology}"))


@pytest.mark.parametrize(
    "world", [pytest.param(world, marks=[] if world == "cube" else pytest.mark.conformance) for world in WORLDS]
)
@pytest.mark.parametrize("llm", FLOORS)
def test_every_mind_plays_a_world(world: str, llm: str, tmp_path: Path) -> None:
    for mind in MINDS:
        if (world, mind) not in WITHOUT_TASKS:
            check(played(tmp_path, llm, WORLDS[world], f"agents={mind} {TOPOLOGIES[mind]}"))


@pytest.mark.conformance
def test_draws_differ_and_neither_order_nor_workers_change_an_episode(tmp_path: Path) -> None:
    team = ("env=cube", "n=2", "agents=naive", "topology=debate", "max_steps=8")
    request = SweepRequest((*team, "llm=random", "draw=0,1", "engine.workers=2"), tmp_path, "s")
    run_sweep_command(request, quiet=True)
    alone = [played(tmp_path / "alone", "random", *team, f"draw={draw}").folder for draw in (1, 0)]
    assert comparable(alone[0]) != comparable(alone[1])
    for folder in alone:
        assert comparable(tmp_path / "s" / folder.name) == comparable(folder)


async def test_prompts_for_free_text_are_refused_before_anything_is_run() -> None:
    team = f"env=transport n=4 prompts=paper agents=cmas {TOPOLOGIES['cmas']}"
    cell = Cell.compose(["llm=random", *team.split()])
    with pytest.raises(
        UserError,
        match=r"llm=random needs the schema of an answer, not free text: choose prompts=default",
    ):
        await Preflight(ModelPool()).at(cell)
