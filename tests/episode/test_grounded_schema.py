"""`llm.grounded_schema` over real HTTP: the schema that is sent names what is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import comparable, read_trace
from maeil.trace.events import StepOutcome
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.recording import unfolded
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from tests.agents.naive_team import settings
from tests.serving import served

BOARD = "......|\n0.A...|\n......|\n1...B.|\n......|\n......|\n......|\n"


class Listening:
    """A brain that keeps the schemas that reach it over HTTP."""

    def __init__(self, brain: Model) -> None:
        self.brain, self.schemas = brain, []

    async def complete(self, request: Request) -> Reply:
        assert request.answer is not None
        self.schemas.append(request.answer.schema)
        return await self.brain.complete(request)


def board(folder: Path) -> Path:
    file = folder / "board.txt"
    file.write_text(BOARD)
    return file


def run(out: Path, *words: str) -> tuple[list[Any], Path]:
    brain = Listening(SimulatedModel(settings()))
    team = ["env=cube", "n=2", f"env.layout={board(out)}", "agents=naive", "max_steps=60"]
    with served(brain) as addresses:
        asked = ["llm=vllm", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.cache=false"]
        result = run_cell(Cell.compose([*team, *asked, *words]), out)
    assert result.metrics["outcome.success"]
    return brain.schemas, result.folder


def blocks(schema: Any) -> list[int] | None:
    forms = schema["$defs"]["PlanAnswer"]["properties"]["actions"]["items"]["anyOf"]
    [move] = [form for form in forms if form["properties"]["action"]["const"] == "move_to_block"]
    return move["properties"]["block"].get("enum")


def test_the_schema_that_is_sent_has_the_blocks_that_are_left(tmp_path: Path) -> None:
    schemas, folder = run(tmp_path)
    left = [[0, 1]]
    for outcome in read_trace(folder).of(StepOutcome):
        for record in outcome.outcomes:
            if record["what"] == "delivery":
                left.append([block for block in left[-1] if block not in record["blocks"]])
    named = [blocks(schema) for schema in schemas]
    assert named[0] == [0, 1]
    assert len(dict.fromkeys(map(str, named))) > 1  # a delivered block is named no more
    assert set(map(str, named)) <= set(map(str, left))
    # the recorded run answers again, though how it was asked stands in its calls alone
    team = ["env=cube", "n=2", f"env.layout={board(tmp_path)}", "agents=naive", "max_steps=60"]
    again = run_cell(Cell.compose([*team, "llm=replay", f"llm.run={folder}"]), tmp_path / "again")
    assert comparable(again.folder) == comparable(folder)


def test_without_it_the_schema_is_the_same_in_every_turn(tmp_path: Path) -> None:
    schemas, folder = run(tmp_path, "llm.grounded_schema=false")
    assert {blocks(schema) is None for schema in schemas} == {True}
    assert all(schema == schemas[0] for schema in schemas)
    assert folder.is_dir()


BINDING = {"vllm": True, "sglang": True, "ollama": True, "llamacpp": True, "openai": False, "anthropic": False}


@pytest.mark.parametrize(("llm", "on"), BINDING.items())
def test_it_is_on_where_schemas_bind_the_decoding_at_once(llm: str, on: bool) -> None:
    cell = Cell.compose([f"llm={llm}", "llm.model=m", "agents=naive"])
    assert cell.plain["llm"]["grounded_schema"] is on


def test_offers_and_needs_of_rules_name_boxes_that_are_left(tmp_path: Path) -> None:
    words = "env=transport n=2 agents=naive topology=dytopo llm=simulated llm.grounded_schema=true max_steps=12"
    live = run_cell(Cell.compose(words.split()), tmp_path)
    assert live.metrics["model.repairs"] == 0
    calls = unfolded((live.folder / "calls.jsonl").read_bytes().splitlines(keepends=True))
    said = [json.loads(call["reply"]["text"]) for call in calls]
    named = {name for value in said if "offers" in value for name in value["offers"]["tasks"] + value["needs"]["tasks"]}
    assert len(named) > 1
    assert all(name.startswith("box_") for name in named)
