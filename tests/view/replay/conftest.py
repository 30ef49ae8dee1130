"""Runs to replay, played once, with what their worlds looked like while they were played."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from maeil.trace.events import EpisodeStart, StepTaken
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum_base.drawing import Canvas, Drawing
from tests.folders import unsealed

CELLS = {
    "debate": ["n=4", "agents=naive", "topology=debate", "max_steps=14", "seed=1"],
    "centralized": ["n=4", "agents=naive", "topology=centralized", "max_steps=9", "seed=1"],
    "crafter": ["env=crafter_coop2", "max_steps=12"],
    "transport": ["env=transport"],
    "transport_hard": ["env=transport_hard"],
    "squeeze": ["env=squeeze", "max_steps=6"],
}


@dataclass(frozen=True)
class Played:
    folder: Path
    canvas: Canvas
    drawings: list[Drawing]
    """What the environment drew of itself at the start and after each step."""


@pytest.fixture(scope="session")
def played(tmp_path_factory) -> Callable[[str], Played]:
    out, done = tmp_path_factory.mktemp("runs"), {}

    def play(name: str) -> Played:
        if name not in done:
            drawings: list[Drawing] = []
            seen = []

            def watch(world):
                seen.append(world)

                def listen(stamped) -> None:
                    if isinstance(stamped.event, EpisodeStart | StepTaken):
                        drawings.append(world.draw())

                return listen

            result = run_cell(Cell.compose(CELLS[name]), out, watch)
            done[name] = Played(result.folder, seen[0].canvas(), drawings)
        return done[name]

    return play


@pytest.fixture
def copied(played, tmp_path) -> Callable[[str], Path]:
    """Return a copy of a run, for tests that spoil it."""

    def copy(name: str) -> Path:
        return unsealed(Path(shutil.copytree(played(name).folder, tmp_path / name)))

    return copy


def edit_trace(folder: Path, change: Callable[[dict], dict]) -> None:
    """Rewrite every event of a trace."""
    file = folder / "trace.jsonl"
    events = [change(orjson.loads(line)) for line in file.read_bytes().splitlines()]
    file.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in events))


def edit_configuration(folder: Path, change: Callable[[dict], None]) -> None:
    """Change the configuration of a run where it is kept."""
    meta = orjson.loads((folder / "meta.json").read_bytes())
    change(meta["configuration"])
    (folder / "meta.json").write_bytes(orjson.dumps(meta))
