"""Everything in `examples/` works from outside the tree, as its page says."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from glob import glob
from pathlib import Path
from typing import Any

import pytest
from corridor import Corridor, CorridorConfig, Walk
from corridor.skills import CorridorSkills

from maeil import Plan
from maeil.metrics import METRICS
from maeil.testing import check_world
from maeil.trace import read_trace
from quorum.agents.coordination.joint import Joint
from quorum.configuration.cell import Cell
from quorum.configuration.plugins import load_plugins
from quorum.episode.runner import run_cell
from tests.conftest import EXAMPLES, ROOT, Quorum, environment
from tests.docs.test_commands import commands
from tests.examples.places import PLACE


@pytest.mark.conformance
def test_every_command_of_the_page_runs(quorum: Quorum, tmp_path: Path) -> None:
    """In a copy, with nothing but the current folder to find the modules in."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("runs", "__pycache__"))
    for line in commands((tmp_path / "README.md").read_text(encoding="utf-8")):
        words = [found for word in shlex.split(line)[1:] for found in glob(word, root_dir=tmp_path) or [word]]
        done = quorum(*words, PYTHONPATH=str(ROOT))
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    assert (tmp_path / "comparison" / "figures" / "every_run.png").stat().st_size > 1000
    assert "talk.echoes" in (tmp_path / "comparison" / "estimates.csv").read_text()


@pytest.mark.conformance
def test_every_cell_of_the_notebook_runs(tmp_path: Path) -> None:
    """As Jupyter runs them: one after the other, inside a running event loop."""
    cells = json.loads((EXAMPLES / "first_look.ipynb").read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    program = "import asyncio, json, sys\nnames = {}\nasync def run():\n    for cell in json.load(sys.stdin):\n"
    program += "        exec(compile(cell, 'cell', 'exec'), names)\nasyncio.run(run())"
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, input=json.dumps(sources), cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "debate     n = 4: " in done.stdout


def _without_pictures(cell: dict[str, Any]) -> dict[str, Any]:
    outputs = [{**out, "data": {**out.get("data", {}), "image/png": ""}} for out in cell["outputs"]]
    return {**cell, "outputs": outputs}


def test_the_notebook_shows_what_every_cell_gave_and_no_place_of_the_machine_that_ran_it() -> None:
    text = (EXAMPLES / "first_look.ipynb").read_text(encoding="utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    assert all(cell["outputs"] for cell in cells)
    assert not [out for cell in cells for out in cell["outputs"] if out["output_type"] == "error"]
    assert sum("image/png" in out.get("data", {}) for cell in cells for out in cell["outputs"]) == 2
    assert not [place for cell in cells for place in PLACE.findall(json.dumps(_without_pictures(cell)))]
    assert len(text) < 150_000


@pytest.mark.parametrize(
    "mind",
    [
        "agents=naive topology=debate",
        "agents=llamac topology=centralized topology.leader=coordinator topology.rounds=3",
        "agents=dmas topology=dialogue topology.opens=team",
        "agents=heuristic",
    ],
)
def test_the_blackboard_works_with_any_mind_from_outside_the_tree(mind: str, tmp_path: Path) -> None:
    load_plugins(["blackboard"])
    words = ["n=3", "max_steps=50", *mind.split(), "extension=blackboard", "extension.blackboard.lines=2"]
    run = run_cell(Cell.compose(words, EXAMPLES / "configs"), tmp_path)
    assert run.metrics["blackboard.posts"] >= 3
    trace = read_trace(run.folder)
    assert [stamped.event.kind for stamped in trace.events].count("blackboard_post") == run.metrics["blackboard.posts"]
    if run.cell.configuration.uses_models:
        assert "# The blackboard" in (run.folder / "calls.jsonl").read_text(encoding="utf-8")
        assert "extension blackboard/blackboard.jinja" in run.cell.inputs


def test_the_corridor_keeps_the_contract_of_worlds() -> None:
    check_world(Corridor(CorridorConfig(name="corridor", n=3, length=4, max_steps=20)))


def test_the_gate_of_the_corridor_finds_a_walk_that_goes_too_far() -> None:
    world = Corridor(CorridorConfig(name="corridor", n=2, length=4, max_steps=20))
    gates = CorridorSkills("corridor").gates(world.vocabulary)
    plans = {0: Plan((Walk(cells=4),)), 1: Plan((Walk(cells=3), Walk(cells=2)))}
    found = [gates.confirm(agent, world.observe(agent), Joint(plans)) for agent in plans]
    assert (found[0], found[1] and found[1].code) == (None, "C-FAR")


def test_a_whisper_goes_from_each_agent_to_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(METRICS, "_things", dict(METRICS))  # other tests compute the metrics of Quorum alone
    load_plugins(["corridor", "announcer", "whisper", "echoes"])
    words = ("env=corridor", "agents=announcer", "topology=whisper", "n=4")
    result = run_cell(Cell.compose(words, EXAMPLES / "configs"), tmp_path)
    events = map(json.loads, (result.folder / "trace.jsonl").read_text().splitlines())
    sent = [(event["sender"], event["recipients"]) for event in events if event["event"] == "message_sent"]
    assert sent == [(0, [1]), (1, [2]), (2, [3])]
    assert result.metrics["talk.echoes"] == pytest.approx(2 / 3)
