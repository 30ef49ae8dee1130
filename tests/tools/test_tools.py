"""What Quorum writes for other tools, opened by the packages of their owners. Run by `.ci/run`."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maeil.trace import comparable
from quorum.runs import read_results
from quorum.runs.rows import Row
from quorum.view.export.command import export
from tests.conftest import Quorum
from tests.view.export.exported import CANARY, TEAM, sweep_with_canaries

pytestmark = [pytest.mark.tools, pytest.mark.filterwarnings("default")]
GRID = (*TEAM, "seed=0,1", "--name", "s", "engine.workers=1")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweep_with_canaries(tmp_path_factory.mktemp("runs") / "talk")


def written(sweep: Path, name: str, out: Path, *, calls: bool) -> str:
    return str(export(sweep, name, out, calls=calls, force=False)[0])


def test_pyarrow_reads_the_tables(sweep: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    written(sweep, "parquet", tmp_path / "tables", calls=True)
    runs, events, calls = (
        parquet.read_table(tmp_path / "tables" / f"{name}.parquet").to_pylist() for name in ("runs", "events", "calls")
    )
    assert [run["name"] for run in runs] == [row.name for row in read_results(sweep).rows]
    assert {event["run"] for event in events} == {call["run"] for call in calls} == {run["name"] for run in runs}
    assert calls[0]["messages"][0] == {"role": "system", "content": f"{CANARY} of the system"}


@pytest.mark.parametrize("calls", [False, True])
def test_inspect_reads_the_log(sweep: Path, tmp_path: Path, *, calls: bool) -> None:
    from inspect_ai.log import read_eval_log

    log = read_eval_log(written(sweep, "inspect", tmp_path / "talk.json", calls=calls))
    rows = read_results(sweep).rows
    assert (log.status, log.eval.model, len(log.samples or ())) == ("success", "simulated", 2)
    for row, sample in zip(rows, log.samples or (), strict=True):
        assert sample.id == row.name
        found = {name: score.value for name, score in (sample.scores or {}).items()}
        assert found == {name: value for name, value in row.metrics.items() if value is not None}
        assert sample.model_usage["simulated"].input_tokens == row.metrics["model.prompt_tokens"]
        roles = [message.role for message in sample.messages]
        assert roles.count("assistant") == (row.metrics["model.calls"] if calls else 0)
        assert all(CANARY in message.text for message in sample.messages)
    assert log.results is not None
    (steps,) = (score for score in log.results.scores if score.name == "outcome.steps")
    assert steps.metrics["mean"].value == sum(row.metrics["outcome.steps"] or 0 for row in rows) / 2


@pytest.mark.parametrize("calls", [False, True])
def test_datasets_loads_the_folder_without_a_network(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, calls: bool
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from datasets import get_dataset_config_names, load_dataset

    folder = written(sweep, "hf", tmp_path / "talk", calls=calls)
    assert get_dataset_config_names(folder) == ["runs", "events", "calls"]
    kept = str(tmp_path / "cache")
    runs, events, made = (
        load_dataset(folder, name, split="train", cache_dir=kept) for name in ("runs", "events", "calls")
    )
    rows = read_results(sweep).rows
    assert runs["name"][:] == [row.name for row in rows]
    assert set(events["run"]) == {row.name for row in rows}
    assert len(made) == sum(row.metrics["model.calls"] or 0 for row in rows)
    assert ("messages" in made.column_names) == calls


def test_the_conventions_name_the_attributes_of_our_spans(sweep: Path, tmp_path: Path) -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    text = Path(written(sweep, "otlp", tmp_path / "talk.jsonl", calls=True)).read_text()
    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}
    ours = {part.partition('"')[0] for part in text.split('"key":"') if part.startswith("gen_ai.")}
    assert ours <= known
    assert {"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.usage.input_tokens"} <= ours


def defined(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.metrics.items() if value is not None}


def mlflow_runs(store: Path, experiment: str) -> list[Any]:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{store}")
    (found,) = client.search_experiments(filter_string=f"name = '{experiment}'")
    return list(client.search_runs([found.experiment_id]))


def test_mlflow_reads_each_cell_once_however_often_a_sweep_is_resumed(
    quorum: Quorum, tmp_path: Path, hanging_up: str
) -> None:
    words = ("sweep", *GRID, "track=mlflow", f"track.uri=sqlite:///{tmp_path / 'm.db'}", "--quiet")
    for limit in ("1", "2"):
        done = quorum(*words, "--limit", limit)
        assert (done.returncode, done.stderr) == (0, "")
    rows = {row.name: row for row in read_results(tmp_path / "runs" / "s").rows}
    runs = mlflow_runs(tmp_path / "m.db", "s")
    assert sorted(run.info.run_name for run in runs) == sorted(rows)
    for run in runs:
        row = rows[run.info.run_name]
        assert run.info.status == "FINISHED"
        assert run.data.metrics == defined(row)
        assert run.data.params == {key: str(value) for key, value in row.factors.items()}
        assert run.data.tags.items() >= {"quorum.hash": row.hash, "quorum.outcome": row.outcome}.items()
        assert len(run.data.tags["quorum.commit"]) == 40
    with sqlite3.connect(tmp_path / "m.db") as store:  # one whose logging was cut off is ended, and no second one
        store.execute("update runs set status = 'RUNNING' where name = ?", [next(iter(rows))])
    store.close()
    assert quorum(*words).returncode == 0
    assert [run.info.status for run in mlflow_runs(tmp_path / "m.db", "s")] == ["FINISHED"] * 2

    nobody = ("llm=openai", f"llm.base_url={hanging_up}", "llm.model=m", "llm.api_key_env=null", "llm.tries=1")
    failing = (
        "sweep",
        *TEAM,
        "seed=0",
        "engine.workers=1",
        *nobody,
        "track=mlflow",
        "track.experiment=failing",
        words[-2],
        "--limit",
        "1",
    )
    assert quorum(*failing).returncode == 1
    assert [run.info.status for run in mlflow_runs(tmp_path / "m.db", "failing")] == ["FAILED"]
    is_tracked_alone("mlflow", (words[-2],), quorum, tmp_path)
    (run,) = mlflow_runs(tmp_path / "m.db", "quorum")
    assert run.info.run_name == run.data.tags["mlflow.runName"]


def is_tracked_alone(name: str, words: tuple[str, ...], quorum: Quorum, folder: Path) -> None:
    """Play a single run with a tracker and one without: they are of the same cell."""
    assert quorum("run", *TEAM, f"track={name}", *words, "--quiet", "--out", "tracked").returncode == 0
    assert quorum("run", *TEAM, "--quiet", "--out", "untracked").returncode == 0
    (tracked,), (plain,) = (read_results(folder / out).rows for out in ("tracked", "untracked"))
    assert (tracked.name, tracked.hash) == (plain.name, plain.hash)
    assert comparable(tracked.folder) == comparable(plain.folder)


def wandb_records(file: Path) -> Iterator[Any]:
    """Read a file of Weights & Biases: a log of LevelDB, whose records are of their own protobufs."""
    from wandb.proto import wandb_internal_pb2

    data, place, whole = file.read_bytes(), 7, b""
    while place + 7 <= len(data):
        _, length, kind = struct.unpack("<IHB", data[place : place + 7])
        whole += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # a record is full, or ends
            record = wandb_internal_pb2.Record()
            record.ParseFromString(whole)
            yield record
            whole = b""
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768


def test_wandb_writes_each_cell_once_however_often_a_sweep_is_resumed(quorum: Quorum, tmp_path: Path) -> None:
    words = ("sweep", *GRID, "track=wandb", "track.project=teams", "--quiet")
    for limit in ("1", "2"):
        done = quorum(*words, "--limit", limit)
        assert (done.returncode, done.stderr) == (0, "")
    rows = {row.name: row for row in read_results(tmp_path / "runs" / "s").rows}
    files = list(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    assert len(files) == len(rows) == 2
    for file in files:
        records = list(wandb_records(file))
        (run,) = (record.run for record in records if record.WhichOneof("record_type") == "run")
        row = rows[run.display_name]
        assert (run.project, run.run_group, list(run.tags)) == ("teams", "s", [row.outcome])
        config = {item.key: item.value_json for item in run.config.update}
        assert config["topology.name"] == '"debate"'
        assert config["quorum.hash"] == f'"{row.hash}"'
        summary = {
            item.key or ".".join(item.nested_key): float(item.value_json)
            for record in records
            if record.WhichOneof("record_type") == "summary"
            for item in record.summary.update
            if not (item.key or item.nested_key[0]).startswith("_")
        }
        assert summary == defined(row)
    is_tracked_alone("wandb", (), quorum, tmp_path)
    assert len(list(tmp_path.glob("wandb/offline-run-*/*.wandb"))) == 3
