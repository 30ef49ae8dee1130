from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from maeil.metrics import METRICS, compute_metrics
from maeil.trace import Stamped, comparable, read_trace
from quorum.configuration.cell import Cell
from quorum.configuration.plugins import load_plugins
from quorum.episode.runner import run_cell
from quorum.installation.extension_errors import ExtensionError, FailedEpisode
from quorum_base.user_errors import UserError
from tests.conftest import PLUGINS, one_each

FILES = ["config.yaml", "meta.json", "metrics.json", "trace.jsonl"]


@pytest.fixture(scope="module", autouse=True)
def _plugin() -> None:
    load_plugins(["walker"])


def _corridor(*arguments: str) -> Cell:
    return Cell.compose(one_each("env=corridor", "agents=walker", *arguments), PLUGINS / "corridor_configs")


def _meta(folder: Path) -> dict:
    return json.loads((folder / "meta.json").read_text())


def test_an_episode_leaves_one_whole_folder(tmp_path: Path) -> None:
    cell = _corridor("n=2", "seed=3")
    result = run_cell(cell, tmp_path)
    assert result.folder == tmp_path / cell.name
    assert sorted(file.name for file in result.folder.iterdir()) == FILES
    assert yaml.safe_load((result.folder / "config.yaml").read_text()) == {"hash": cell.hash, **cell.plain}
    metrics = json.loads((result.folder / "metrics.json").read_text())
    assert metrics == result.metrics == compute_metrics(read_trace(result.folder))
    assert (metrics["outcome.reached"], metrics["outcome.steps"]) == (2, 4)
    assert result.board == ".....[a]\n.....[b]"


def test_metrics_that_cannot_be_imported_are_reported_before_the_episode(tmp_path: Path, monkeypatch) -> None:
    def fail() -> None:
        raise ImportError("a metric of an installed package")

    monkeypatch.setattr(METRICS, "load", fail)
    with pytest.raises(ExtensionError, match="ImportError: a metric of an installed package") as reported:
        run_cell(_corridor(), tmp_path / "runs")
    assert isinstance(reported.value.__cause__, ImportError)
    assert not (tmp_path / "runs").exists()


def test_the_meta_file_says_what_ran_where_and_how_it_ended(tmp_path: Path) -> None:
    meta = _meta(run_cell(_corridor("seed=3"), tmp_path).folder)
    assert (meta["seed"], meta["outcome"], meta["error"]) == (3, "success", None)
    assert meta["start"] <= meta["end"]
    assert {"python", "quorum-harness"} <= set(meta["versions"])
    assert {"system", "architecture", "cpus"} == set(meta["machine"])
    assert set(meta["git"] or {"commit", "changed"}) == {"commit", "changed"}


def test_an_episode_that_is_cut_off_is_truncated(tmp_path: Path) -> None:
    result = run_cell(_corridor("max_steps=2"), tmp_path)
    assert (result.outcome, result.metrics["outcome.success"]) == ("truncated", False)


def test_the_same_cell_again_overwrites_nothing(tmp_path: Path) -> None:
    cell = _corridor()
    first, second = (run_cell(cell, tmp_path).folder for _ in range(2))
    assert (first.name, second.name) == (cell.name, f"{cell.name}.2")
    assert comparable(first) == comparable(second)


def test_a_mind_that_raises_is_recorded_and_raised(tmp_path: Path) -> None:
    cell = _corridor("agents.fails_at=3")
    with pytest.raises(FailedEpisode, match=r"walker.py:\d+, in Walker.think: RuntimeError: ") as reported:
        run_cell(cell, tmp_path)
    assert isinstance(reported.value.__cause__, RuntimeError)
    folder = tmp_path / cell.name
    meta = _meta(folder)
    place = str(reported.value).partition(": ")[0]
    assert (meta["outcome"], meta["error"]) == (
        "error",
        {"class": "RuntimeError", "message": "the walker stumbled", "place": place},
    )
    trace = read_trace(folder)
    assert trace.end is not None
    assert (trace.end.outcome, trace.end.steps) == ("error", 2)


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["env.length=2000"], "env.length: 2000 cells are too many: at most 1000"),
        (["agents=planner"], "agents=planner needs the skill 'planner', which the world 'corridor' does not have"),
    ],
)
def test_parts_that_do_not_go_together_are_a_users_mistake_and_leave_nothing(tmp_path, arguments, reported) -> None:
    with pytest.raises(UserError, match=reported):
        run_cell(_corridor(*arguments), tmp_path / "runs" / "deep")
    assert list(tmp_path.iterdir()) == []


def test_a_board_that_cannot_be_drawn_is_a_users_mistake_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="env: no room for 300 "):
        run_cell(Cell.compose(["env.blocks={1: 300}"]), tmp_path / "runs")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_reported_before_anything_is_built(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="results cannot be written there"):
        run_cell(_corridor("env.length=2000"), tmp_path / "file")


def test_who_watches_is_told_every_event_in_order(tmp_path: Path) -> None:
    seen: list[Stamped] = []
    result = run_cell(_corridor(), tmp_path, lambda world: seen.append)
    assert [stamped.event.kind for stamped in seen] == [s.event.kind for s in read_trace(result.folder).events]


def test_the_settings_of_the_loop_reach_it(tmp_path: Path) -> None:
    result = run_cell(_corridor("clock=fixed"), tmp_path)
    assert read_trace(result.folder).start.clock == "fixed"
