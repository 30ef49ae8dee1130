"""A tracker logs each finished run once; it changes nothing, and whatever it does costs no run."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest

from maeil.component import Component, ComponentConfig
from quorum.configuration.registry import trackers
from quorum.configuration.sweep_arguments import build_sweep_component
from quorum.runs import read_results
from quorum.runs.tracking import TrackedRun, tracking
from quorum.sweeps.command import run_sweep_command, show_plan
from quorum.sweeps.run import SweepRequest
from quorum_base.user_errors import UserError
from tests.conftest import Quorum
from tests.folders import outcome, write_run

GRID = ("agents=heuristic", "n=1", "max_steps=3", "seed=0,1", "engine.workers=1")
LOGGED: list[TrackedRun] = []
"""What the tracker of the tests has logged."""
FAILING: list[Exception] = []
"""What it raises."""


class DiaryConfig(ComponentConfig):
    name: Literal["diary"]


class Diary:
    def log(self, run: TrackedRun) -> None:
        assert threading.current_thread() is not threading.main_thread()
        if FAILING:
            raise FAILING[0]
        LOGGED.append(run)


trackers.register("diary", Component(DiaryConfig, lambda _config, _: Diary()))


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    LOGGED.clear()
    FAILING.clear()
    yield
    FAILING.clear()


@pytest.fixture
def options(tmp_path: Path) -> Path:
    (tmp_path / "options" / "track").mkdir(parents=True)
    (tmp_path / "options" / "track" / "diary.yaml").write_text("# What the tests read.\nname: diary\n")
    return tmp_path / "options"


def request(tmp_path: Path, options: Path, *words: str, **changes: Any) -> SweepRequest:
    return SweepRequest(words=(*GRID, *words), out=tmp_path, name="s", config_dir=options, **changes)


def test_each_cell_that_ends_is_logged_with_its_tags(tmp_path: Path, options: Path) -> None:
    result = run_sweep_command(request(tmp_path, options, "track=diary"), quiet=True)
    assert result.exit_code == 0
    rows = {row.name: row for row in read_results(tmp_path / "s").rows}
    assert sorted(run.row.name for run in LOGGED) == sorted(rows)
    for run in LOGGED:
        assert (run.group, run.row.outcome, run.tags["quorum.hash"]) == ("s", "truncated", rows[run.row.name].hash)
        assert run.tags["quorum.run"] == run.id
        assert None not in run.metrics.values()
    assert len({run.id for run in LOGGED}) == 2


def test_the_tracker_is_no_part_of_a_cell_nor_of_the_name_of_a_sweep(tmp_path: Path, options: Path) -> None:
    plans = []
    for words in ((), ("track=diary",)):
        planned = show_plan(SweepRequest(words=(*GRID, *words), out=tmp_path, config_dir=options))
        plans.append(([cell.name for cell in planned.cells], planned.to_json()["folder"]))
    assert plans[0] == plans[1]


def test_what_a_tracker_has_missed_is_logged_when_the_sweep_is_resumed(tmp_path: Path, options: Path) -> None:
    run_sweep_command(request(tmp_path, options), quiet=True)
    assert LOGGED == []
    again = run_sweep_command(request(tmp_path, options, "track=diary"), quiet=True)
    assert (len(again.finished), len(LOGGED)) == (0, 2)


def test_a_tracker_that_fails_costs_nothing_and_is_named_once(
    tmp_path: Path, options: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FAILING.append(RuntimeError("no answer from http://me:secret@tracker.example"))
    result = run_sweep_command(request(tmp_path, options, "track=diary"), quiet=True)
    assert (result.exit_code, len(result.finished)) == (0, 2)
    said = capsys.readouterr().err
    assert said.count("is not logged (RuntimeError: no answer from http://[hidden]@tracker.example)") == 1
    assert said.count("notice: ") == 1
    assert "secret" not in said


@pytest.mark.parametrize("raised", [MemoryError(), OSError(28, "No space left on device"), SystemError("odd")])
def test_whatever_it_raises(raised: Exception, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FAILING.append(raised)
    write_run(tmp_path, outcome(), name="one", meta={"end": "2026-01-01T00:00:01.000+00:00"})
    with tracking(Diary(), "s") as track:
        track(tmp_path / "one")
        track(tmp_path / "one")
        track(tmp_path / "nowhere")
    assert capsys.readouterr().err.count("notice: ") == 1


def test_a_run_is_logged_although_the_command_is_interrupted(tmp_path: Path) -> None:
    write_run(tmp_path, outcome(), name="one", meta={"end": "2026-01-01T00:00:01.000+00:00"})
    with suppress(KeyboardInterrupt), tracking(Diary(), "s") as track:
        track(tmp_path / "one")
        raise KeyboardInterrupt
    assert [run.meta.milliseconds for run in LOGGED] == [(1767225600000, 1767225601000)]


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_a_missing_package_is_an_error_before_anything_runs(name: str, quorum: Quorum, tmp_path: Path) -> None:
    for words in (("run", "n=1"), ("sweep", *GRID)):
        done = quorum(*words, f"track={name}")
        assert done.returncode == 2
        assert f"pip install 'quorum-harness[{name}]'" in done.stderr
    assert not list(tmp_path.glob("runs/*/*"))


def test_wrong_words_are_refused(options: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    for words, expected in {
        ("track=mlfow",): "there is no option 'mlfow'",
        ("track=diary,mlflow",): "a sweep has one tracker",
        ("track.uri=x",): "there is no such key",
        ("track=wandb", "track.mode=online"): "WANDB_API_KEY",
        ("track=wandb", "track.mode=sideways"): "mode",
    }.items():
        with pytest.raises(UserError) as refused:
            build_sweep_component(trackers, words, options)
        assert expected in f"{refused.value.message} {refused.value.hint}"
    assert build_sweep_component(trackers, ["engine=local", "n=2"], options) is None


def test_it_is_known_by_the_commands_that_name_components(quorum: Quorum) -> None:
    listed = json.loads(quorum("list", "track", "--json").stdout)
    assert [option["name"] for option in listed["groups"]["track"]] == ["mlflow", "wandb"]
    done = quorum("show", "track=mlflow")
    assert done.returncode == 2
    assert "belongs to a sweep" in done.stderr
