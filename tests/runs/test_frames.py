"""Data frames of pandas and polars: the same cells in both, and what the folder of the runs has."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

import quorum
from quorum.runs.frames import columns
from quorum_base.user_errors import UserError
from tests.folders import outcome, write_plan, write_run
from tests.recorded import copied_run

TALK = ("n=3", "agents=naive", "topology=debate", "max_steps=60")
ROWS = ("runs", "events", "calls", "messages")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("frames")
    copied_run(folder, *TALK)
    write_run(folder, outcome(steps=7), name="without-calls", seed=9)
    (folder / "without-calls" / "trace.jsonl").write_bytes(b"".join(_quiet(folder)))
    return quorum.results(folder)


def _quiet(folder: Path) -> list[bytes]:
    """Return the start and the end of the other run, as the trace of one in which nobody thinks."""
    (trace,) = [path for path in folder.glob("*/trace.jsonl") if path.parent.name != "without-calls"]
    return trace.read_bytes().splitlines(keepends=True)[:1]


def events_of(results: Any) -> list[dict[str, Any]]:
    return [{"run": row.name, **event} for row in results.rows for event in quorum.trace(row)]


def plain(value: Any) -> Any:
    """Return a cell in a form that is equal for both libraries: None for a missing value, and plain numbers."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else value


@pytest.mark.parametrize("rows", ROWS)
def test_both_libraries_show_the_same_cells(results: Any, rows: str) -> None:
    pandas, polars = results.to_pandas(rows=rows), results.to_polars(rows=rows)
    assert list(pandas.columns) == polars.columns
    assert pandas.shape == polars.shape
    cells = [[plain(value) for value in line] for line in pandas.astype(object).to_numpy().tolist()]
    assert cells == [[plain(value) for value in line] for line in polars.rows()]


def test_a_row_is_a_run_unless_something_else_is_named(results: Any) -> None:
    records = results.records()
    frame = results.to_polars()
    assert [list(record.values()) for record in records] == [list(line) for line in frame.rows()]
    assert frame.columns == list(records[0])
    assert results.to_pandas().shape == frame.shape


def test_every_event_is_a_row_with_its_fields(results: Any) -> None:
    expected = events_of(results)
    found = results.to_polars("events").to_dicts()
    assert len(found) == len(expected) > 50
    for row, event in zip(found, expected, strict=True):
        for name, value in event.items():
            there = json.loads(row[name]) if isinstance(row[name], str) and not isinstance(value, str) else row[name]
            assert there == value, name
        assert {name for name, value in row.items() if value is not None} <= event.keys()


def test_every_call_is_a_row_with_its_thought(results: Any) -> None:
    thoughts = [event for event in events_of(results) if event["event"] == "thought_end"]
    frame = results.to_pandas("calls")
    assert len(frame) == sum(len(thought["calls"]) for thought in thoughts) > 3
    spent = frame.groupby("agent")["usd"].sum().to_dict()
    for agent in range(3):
        own = [call["usd"] for thought in thoughts if thought["agent"] == agent for call in thought["calls"]]
        assert spent[f"agent_{agent}"] == pytest.approx(sum(own))
    assert set(frame["seq"]) == {thought["seq"] for thought in thoughts if thought["calls"]}


def test_every_message_is_a_row_with_its_text_and_its_cost(results: Any) -> None:
    sent = [event for event in events_of(results) if event["event"] == "message_sent"]
    frame = results.to_polars("messages")
    assert frame["content"].to_list() == [event["content"] for event in sent]
    assert frame["sender"].to_list() == [f"agent_{event['sender']}" for event in sent]
    assert {"run", "t", "recipients", "interrupted", "synchronisation"} <= set(frame.columns)
    assert set(frame["run"]) < set(results.to_polars()["name"])


def test_a_column_has_one_type(tmp_path: Path) -> None:
    for seed, (rounds, poor, leader) in enumerate([(1, 0, None), ("all", 0.5, True), (None, 1, False)]):
        changes = {"topology__rounds": rounds, "topology__poor": poor, "topology__leader": leader}
        write_run(tmp_path, outcome(), name=f"run-{seed}", seed=seed, **changes)
    found = columns(quorum.results(tmp_path), "runs")
    assert found["topology.rounds"] == ["1", "all", None]
    assert found["topology.poor"] == [0.0, 0.5, 1.0]
    assert found["topology.leader"] == [None, True, False]


def test_a_run_of_two_arms_has_its_events_once(tmp_path: Path) -> None:
    run = copied_run(tmp_path, *TALK)
    digest = quorum.results(tmp_path).rows[0].hash
    write_plan(tmp_path, [(run.name, digest, "one"), (run.name, digest, "two")])
    results = quorum.results(tmp_path)
    assert len(results.to_polars()) == 2
    assert len(results.to_polars("events")) == len(quorum.trace(run))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_is_named_with_the_way_to_install_it(
    results: Any, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UserError, match=rf"to_{library}\(\): the package {library} is missing") as error:
        getattr(results, f"to_{library}")()
    assert error.value.hint == f"pip install 'quorum-harness[{library}]'"


def test_other_rows_are_refused_with_the_known_ones(results: Any) -> None:
    with pytest.raises(UserError, match="rows='call': there are no such rows") as error:
        results.to_pandas(rows="call")
    assert "calls" in error.value.hint


def test_a_damaged_trace_is_an_error_that_names_the_run(tmp_path: Path) -> None:
    run = copied_run(tmp_path, *TALK)
    (run / "trace.jsonl").write_bytes(b"{}\n" + (run / "trace.jsonl").read_bytes())
    results = quorum.results(tmp_path)
    assert len(results.to_pandas()) == 1
    with pytest.raises(UserError, match=run.name):
        results.to_pandas("events")
