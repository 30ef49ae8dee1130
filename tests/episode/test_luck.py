"""The luck of the open world: draws meet one map, other things happen on it, and each of them replays."""

from __future__ import annotations

import json
from pathlib import Path

from maeil.trace import comparable, read_trace, replay
from maeil.trace.replay import replay_events
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.recorded_episode import open_episode
from quorum.runs.run_folder import RunFolder
from quorum.view.viewer.replayed import Script
from quorum.what_if.extensions.luck.events import WorldLuck

WORDS = ("env=crafter_coop", "n=2", "max_steps=60", "seed=3")


def test_with_luck_the_draws_of_a_map_differ_and_each_replays_exactly(tmp_path: Path) -> None:
    runs = [run_cell(Cell.compose([*WORDS, "extension=luck", f"draw={draw}"]), tmp_path).folder for draw in range(2)]
    traces = [tuple(comparable(run)) for run in runs]
    assert traces[0] != traces[1]
    assert len({json.dumps(json.loads(lines[0])["board"]) for lines in traces}) == 1
    for run in runs:
        trace, episode = read_trace(run), open_episode(run)
        assert len(trace.stamped(WorldLuck)) == 1
        assert len(list(replay(trace, episode.world()))) == episode.steps + 1
        script = Script()  # what the viewer keeps of a trace
        for stamped, line in zip(trace.events, (run / "trace.jsonl").read_bytes().splitlines(True), strict=True):
            script.take(stamped, line)
        script.finish()
        assert len(list(replay_events(script.events(), episode.world()))) == episode.steps + 1


def test_without_luck_draws_of_minds_that_draw_nothing_are_equal(tmp_path: Path) -> None:
    runs = [run_cell(Cell.compose([*WORDS, f"draw={draw}"]), tmp_path).folder for draw in range(2)]
    assert len({tuple(comparable(run)) for run in runs}) == 1


def test_an_extension_without_values_is_a_factor_of_a_run(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["n=1", "max_steps=2", "extension=luck"]), tmp_path).folder
    row = RunFolder(run).row()
    assert row.factors["extension.luck"] is True  # type: ignore[union-attr] # it is not damaged
