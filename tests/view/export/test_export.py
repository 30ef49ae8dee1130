"""Exports hold what the runs hold, none of it by accident, and touch nothing else."""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from quorum.runs import read_results
from quorum.view.export import otlp
from quorum.view.export.command import export
from quorum.view.export.episodes import Runs
from quorum_base.user_errors import UserError
from tests.conftest import Quorum
from tests.view.export.exported import CANARY, TEAM, seal, sweep_with_canaries, texts_in, write_lines

FORMATS = ("parquet", "inspect", "hf", "otlp", "who-when")
"""The formats of tools that look at runs."""
duckdb = pytest.importorskip("duckdb")
trace_pb2 = pytest.importorskip("opentelemetry.proto.trace.v1.trace_pb2")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweep_with_canaries(tmp_path_factory.mktemp("runs") / "talk")


@pytest.fixture
def sweep(recorded: Path, tmp_path: Path) -> Path:
    shutil.copytree(recorded, tmp_path / "talk")
    return tmp_path / "talk"


def written(sweep: Path, name: str, out: Path | None = None, *, calls: bool = False, force: bool = False) -> Path:
    target, remarks = export(sweep, name, out, calls=calls, force=force)
    assert remarks == []
    return target


def table(folder: Path, name: str) -> list[dict[str, Any]]:
    found = duckdb.read_parquet(str(folder / f"{name}.parquet"))
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def traces(file: Path) -> list[Any]:
    """Parse each line as OTLP/JSON by OpenTelemetry's own schema, which takes bytes as base64, and OTLP as hex."""
    json_format = pytest.importorskip("google.protobuf.json_format")
    found = []
    for line in file.read_text().splitlines():
        plain = json.loads(line)
        for span in plain["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for key in ("traceId", "spanId", "parentSpanId"):
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
        found.append(json_format.ParseDict(plain, trace_pb2.TracesData()))
    return found


def spans(parsed: Any) -> Sequence[Any]:
    found: Sequence[Any] = parsed.resource_spans[0].scope_spans[0].spans
    return found


def attributes(span: Any) -> dict[str, Any]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in span.attributes}


def test_the_tables_hold_the_rows_the_events_and_the_calls(sweep: Path) -> None:
    folder = written(sweep, "parquet")
    results = read_results(sweep)
    for row, own in zip(results.rows, table(folder, "runs"), strict=True):
        assert (own["name"], own["n"], own["topology.name"], own["simulated"]) == (row.name, 2, "debate", True)
        assert own["outcome.steps"] == row.metrics["outcome.steps"]
    events, calls = table(folder, "events"), table(folder, "calls")
    for row in results.rows:
        lines = (row.folder / "trace.jsonl").read_text().splitlines()
        mine = [event for event in events if event["run"] == row.name]
        assert [(e["seq"], e["event"]) for e in mine] == [
            (n, json.loads(line)["event"]) for n, line in enumerate(lines)
        ]
        asked = sum(call["prompt_tokens"] for call in calls if call["run"] == row.name)
        assert asked == row.metrics["model.prompt_tokens"]
    assert json.loads(next(e["data"] for e in events if e["event"] == "step"))["joint"] is not None
    assert sorted(path.name for path in folder.iterdir()) == ["calls.parquet", "events.parquet", "runs.parquet"]


def test_the_card_of_a_data_set_names_its_tables(sweep: Path) -> None:
    yaml = pytest.importorskip("yaml")
    folder = written(sweep, "hf")
    _, head, text = (folder / "README.md").read_text().split("---\n")
    files = {config["config_name"]: config["data_files"] for config in yaml.safe_load(head)["configs"]}
    assert files == {name: f"{name}.parquet" for name in ("runs", "events", "calls")}
    assert all((folder / file).is_file() for file in files.values())
    assert "Simulated models answered in 2 of the runs" in text


def test_each_episode_is_a_trace_whose_spans_stand_in_each_other(sweep: Path) -> None:
    rows = read_results(sweep).rows
    found = traces(written(sweep, "otlp"))
    assert len({spans(trace)[0].trace_id for trace in found}) == len(found) == len(rows)
    for row, trace in zip(rows, found, strict=True):
        root, *rest = spans(trace)
        assert root.name == f"episode {row.name}"
        assert attributes(root)["quorum.outcome"] == row.outcome
        by_id = {span.span_id: span for span in spans(trace)}
        assert len(by_id) == len(spans(trace))
        assert {len(span.trace_id) for span in spans(trace)} == {16}
        above = {"step": "episode", "invoke_agent": "step", "chat": "invoke_agent"}
        for span in rest:
            parent = by_id[span.parent_span_id]
            assert parent.name.split()[0] == above[span.name.split()[0]]
            assert parent.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
        steps = [span for span in rest if "quorum.reward" in attributes(span)]
        assert len(steps) == row.metrics["outcome.steps"]
        chats = [span for span in rest if span.name.startswith("chat")]
        assert (
            sum(attributes(chat)["gen_ai.usage.input_tokens"] for chat in chats) == row.metrics["model.prompt_tokens"]
        )
        assert {attributes(chat)["gen_ai.operation.name"] for chat in chats} == {"chat"}


def contents(name: str, target: Path) -> Any:
    """Everything that an export holds."""
    if name == "inspect":
        return json.loads(target.read_text())
    if target.is_file():
        return [json.loads(line) for line in target.read_text().splitlines()]
    if name == "who-when":
        return [json.loads(path.read_text()) for path in target.iterdir()]
    tables = [table(target, part) for part in ("runs", "events", "calls")]
    return [*tables, *(path.read_text() for path in target.glob("*.md"))]


@pytest.mark.parametrize("name", FORMATS)
def test_texts_of_models_are_exported_by_choice_only(name: str, sweep: Path, tmp_path: Path) -> None:
    bare = list(texts_in(contents(name, written(sweep, name))))
    assert any("debate" in text for text in bare)
    assert [text for text in bare if CANARY in text] == []
    target = written(sweep, name, tmp_path / f"all-{name}", calls=True)
    whole = "\n".join(texts_in(contents(name, target)))
    said = ["debate", CANARY] if name == "who-when" else [f"{CANARY} of the user", f"{CANARY} answers"]  # no prompts
    assert [text for text in said if text not in whole] == []
    files = [target] if target.is_file() else list(target.iterdir())
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@pytest.mark.parametrize("name", FORMATS)
def test_a_single_run_is_exported_too(name: str, sweep: Path, tmp_path: Path) -> None:
    run = read_results(sweep).rows[0]
    target = written(run.folder, name, tmp_path / f"one-{name}")
    assert run.name in str(contents(name, target))


def test_the_prompt_and_the_answer_of_a_call_stand_in_its_span(sweep: Path) -> None:
    _, *rest = spans(traces(written(sweep, "otlp", calls=True))[0])
    said = attributes(next(span for span in rest if span.name.startswith("chat")))
    assert [part["role"] for part in json.loads(said["gen_ai.input.messages"])] == ["system", "user"]
    (answer,) = json.loads(said["gen_ai.output.messages"])
    assert answer == {
        "role": "assistant", "parts": [{"type": "text", "content": f"{CANARY} answers"}], "finish_reason": "stop",
    }  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_damaged_is_left_out_and_named(name: str, sweep: Path) -> None:
    good, bad = read_results(sweep).rows
    (bad.folder / "trace.jsonl").write_text("")
    target, (remark,) = export(sweep, name, None, calls=True, force=False)
    assert remark.startswith(f"{bad.name} is left out: ")
    assert bad.name not in str(contents(name, target))
    assert good.name in str(contents(name, target))
    (good.folder / "metrics.json").write_text("")
    with pytest.raises(UserError, match="no finished, undamaged run"):
        export(sweep, name, None, calls=False, force=False)


BAD_CALLS: list[list[Any]] = [
    [{"agent": "agent_0"}],
    [[1]],
    [{"agent": "a", "t": 0, "request": {"messages": [{"role": 1}], "answer": None}, "reply": 5}],
]
BAD_EVENTS = [{"seq": 0, "t": 0, "t_hat": 0, "event": "unheard_of"}]


@pytest.mark.parametrize(
    ("name", "file", "damage"),
    [(name, "calls.jsonl", calls) for name in FORMATS if name != "who-when" for calls in BAD_CALLS]  # it reads no calls
    + [(name, "trace.jsonl", BAD_EVENTS) for name in FORMATS],
)
def test_files_of_strangers_are_one_line_of_error_and_leave_nothing(
    name: str, file: str, damage: list[Any], sweep: Path, tmp_path: Path
) -> None:
    for row in read_results(sweep).rows:
        end = (row.folder / "trace.jsonl").read_text().splitlines()[-1]
        write_lines(row.folder / file, [*damage, *([json.loads(end)] if file == "trace.jsonl" else [])])
        seal(row.folder)
    with pytest.raises(UserError, match=file):
        export(sweep, name, tmp_path / "out", calls=True, force=False)
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["talk"]


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_there_is_replaced_only_if_it_is_ours_or_by_force(name: str, sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    target = written(sweep, name, out)
    before = {path: path.read_bytes() for path in [target, *target.glob("*")] if path.is_file()}
    with pytest.raises(UserError, match="Replace it with --force"):
        export(sweep, name, out, calls=False, force=False)
    written(sweep, name, out, force=True)
    written(sweep, name)
    written(sweep, name)  # in its usual place, it is ours
    assert {path for path in [target, *target.glob("*")] if path.is_file()} == before.keys()


@pytest.mark.parametrize("name", FORMATS)
def test_no_link_in_a_folder_of_a_stranger_is_followed(name: str, sweep: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("kept")
    usual = written(sweep, name)
    if usual.is_dir():
        shutil.rmtree(usual)
    else:
        usual.unlink()
    usual.symlink_to(mine if name in ("parquet", "hf", "who-when") else mine / "precious")
    with pytest.raises(UserError, match="link"):
        export(sweep, name, None, calls=False, force=True)
    assert [(path.name, path.read_text()) for path in mine.iterdir()] == [("precious", "kept")]


def test_one_run_at_a_time_is_in_memory(sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held at the end of the first run and of the last one is the same."""
    row, _ = read_results(sweep).rows
    for copy in range(12):
        meta = json.loads((row.folder / "meta.json").read_text())
        shutil.copytree(row.folder, sweep / f"copy-{copy}")
        seal(sweep / f"copy-{copy}", hash=f"{copy:064}", name=f"copy-{copy}", seed=meta["seed"])
    held: list[int] = []
    runs = Runs(sweep, texts=True)
    taken = runs.episodes

    def watched() -> Any:
        tracemalloc.start()
        for episode in taken():
            yield episode
            del episode
            held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()

    monkeypatch.setattr(runs, "episodes", watched)
    otlp.write(runs, tmp_path)
    assert len(held) == 14
    assert held[-1] < held[1] + (200 << 10)  # a run has more: 0.4 MB with its calls


def test_the_command_says_where_and_what_is_left_out(sweep: Path, quorum: Quorum) -> None:
    done = quorum("export", str(sweep), "--to", "parquet", "--out", "tables")
    assert (done.returncode, done.stdout, done.stderr) == (0, "export: tables\n", "")
    os.truncate(read_results(sweep).rows[0].folder / "trace.jsonl", 10)
    done = quorum("export", str(sweep), "--to", "otlp", "-q")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("notice: cube-n2-naive-simulated-debate-s0-")
    done = quorum("export", str(sweep), "--to", "parquett")
    assert done.returncode == 2
    assert "Did you mean 'parquet'?" in done.stderr


def test_a_failed_run_is_exported_as_far_as_it_went(tmp_path: Path, quorum: Quorum, hanging_up: str) -> None:
    words = [*TEAM, "llm=openai", f"llm.base_url={hanging_up}", "llm.model=m", "llm.api_key_env=null"]
    assert quorum("run", *words, "llm.tries=1", "--out", "runs").returncode != 0
    (trace,) = traces(written(tmp_path / "runs", "otlp"))
    root, *_ = spans(trace)
    assert root.status.code == 2
    assert " " not in root.status.message  # the class of the error at most
    (row,) = table(written(tmp_path / "runs", "parquet"), "runs")
    assert row["outcome"] == "error"
