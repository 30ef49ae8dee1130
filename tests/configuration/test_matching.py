"""Topologies that match offers and needs: what names their cells, who can stand in them, and runs in every world."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maeil.trace import comparable, read_trace
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.methods.dytopo.events import Described, Routed
from quorum_base.user_errors import UserError

DYTOPO = ("agents=naive", "topology=dytopo", "n=3")


def test_the_template_is_part_of_the_name_of_a_cell_that_uses_it_and_of_no_other() -> None:
    template = "extension describe/needs.jinja"
    assert template in Cell.compose(DYTOPO).inputs
    assert template not in Cell.compose(["agents=naive", "topology=debate", "n=3"]).inputs


def test_every_value_is_part_of_the_name() -> None:
    words = ("matcher=lexical", "threshold=0.4", "inputs=1", "rounds=2")
    cells = [
        Cell.compose([*DYTOPO, *(f"topology.{word}" for word in chosen)]) for chosen in ((), *zip(words, strict=True))
    ]
    assert len({cell.hash for cell in cells}) == 5


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (("agents=heuristic", "topology=dytopo"), "topology=dytopo: agents=heuristic does not answer its questions"),
        (("agents=negotiator", "topology=random"), "topology=random: agents=negotiator does not answer its questions"),
        ((*DYTOPO, "topology.matcher=psychic"), "topology.matcher: "),
        ((*DYTOPO, "topology.threshold=1.5"), "topology.threshold: "),
        ((*DYTOPO, "topology.inputs=0"), "topology.inputs: "),
        ((*DYTOPO, "topology.rounds=0"), "topology.rounds: "),
    ],
)
def test_a_mistake_is_reported_by_its_key(words: tuple[str, ...], reported: str) -> None:
    with pytest.raises(UserError) as error:
        Cell.compose(words)
    assert error.value.message.startswith(reported)


def test_embeddings_are_asked_for_in_their_own_role_which_may_have_its_own_model(tmp_path: Path) -> None:
    embedding = (*DYTOPO, "topology.matcher=embedding", "max_steps=6")
    with pytest.raises(UserError, match=r"llm\.roles\.embedding: .* has no such role that asks a model"):
        Cell.compose([*DYTOPO, "+llm.roles.embedding.usd_per_million_prompt=7"])
    cell = Cell.compose([*embedding, "+llm.roles.embedding.usd_per_million_prompt=1e6"])
    live = run_cell(cell, tmp_path)
    calls = [json.loads(line) for line in (live.folder / "calls.jsonl").read_bytes().splitlines()]
    embedded = [call for call in calls if call.get("role") == "embedding"]
    assert embedded
    assert all(call["reply"]["usd"] == call["reply"]["usage"]["prompt"] for call in embedded)
    assert all(call["reply"]["usd"] < 1 for call in calls if call not in embedded)
    again = run_cell(Cell.compose([*embedding, "llm=replay", f"llm.run={live.folder}"]), tmp_path / "again")
    assert comparable(again.folder) == comparable(live.folder)


STEPS = {"crafter_coop": 20}
"""In the open world there is nothing to tell at first."""


def test_a_run_is_the_same_again(tmp_path: Path) -> None:
    cell = Cell.compose([*DYTOPO, "topology.matcher=lexical", "topology.rounds=2", "max_steps=20"])
    one, other = (run_cell(cell, tmp_path / name) for name in "ab")
    assert comparable(one.folder) == comparable(other.folder)


@pytest.mark.parametrize(
    ("env", "matcher"),
    [
        ("cube", "lexical"),
        ("crafter_coop", "typed"),
        ("transport", "typed"),
        ("squeeze", "typed"),
        ("foraging", "typed"),
        ("overcooked env.layout=multiplayer_schelling", "typed"),
    ],
)
def test_the_simulated_speakers_of_every_world_describe_themselves_and_are_joined(
    env: str, matcher: str, tmp_path: Path
) -> None:
    steps = STEPS.get(env, 5)
    words = [*f"env={env}".split(), "agents=naive", "n=4", f"max_steps={steps}", f"topology.matcher={matcher}"]
    one, control = (run_cell(Cell.compose([*words, f"topology={name}"]), tmp_path) for name in ("dytopo", "random"))
    trace = read_trace(one.folder)
    assert sum(len(routed.edges) for routed in trace.of(Routed)) > 0
    assert len({described.agent for described in trace.of(Described)}) == 4
    drawn, chosen = (next(iter(read_trace(result.folder).of(Routed))) for result in (control, one))
    assert drawn.scores == chosen.scores
    assert len(drawn.edges) == len(chosen.edges)
