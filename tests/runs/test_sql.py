"""Questions in SQL see the tables and nothing else of the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from quorum.runs import read_results
from quorum.runs.sql import ask
from quorum_base.user_errors import UserError
from tests.conftest import Quorum, command, environment
from tests.folders import outcome, write_run
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, play, walk

pytest.importorskip("duckdb")


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    folder = tmp_path / "sweep [1]*"
    for seed, steps in enumerate((10, 20, 60)):
        write_run(folder, outcome(steps=steps, plans__number=None), name=f"run {seed}", seed=seed, n=2 + seed // 2)
    events = [{"seq": 0, "t": 0, "t_hat": 0.5, "event": "episode_start"}, {"seq": 1, "t": 3, "event": "step"}]
    (folder / "run 0" / "trace.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events) + '{"seq": 2')
    return folder


def test_results_have_their_types_and_what_is_not_defined_is_null(sweep: Path) -> None:
    question = 'select n, avg("outcome.steps"), count("plans.number"), any_value(simulated) from results group by n'
    assert ask([read_results(sweep)], f"{question} order by n").rows == ((2, 15.0, 0, False), (3, 60.0, 0, False))


def test_several_folders_are_one_table(sweep: Path) -> None:
    found = read_results(sweep)
    assert ask([found, found], "select count(*) from results").rows == ((6,),)


def test_events_are_those_of_the_traces_as_far_as_they_go(sweep: Path) -> None:
    answer = ask([read_results(sweep)], "select run, seq, t, event, data->>'t_hat' as clock from events order by seq")
    assert answer.columns == ("run", "seq", "t", "event", "clock")
    assert answer.rows == (("run 0", 0, 0, "episode_start", "0.5"), ("run 0", 1, 3, "step", None))


def test_the_tables_per_agent_and_per_message_are_there_when_they_are_named(sweep: Path) -> None:
    play([Scripted(walk(2))], Corridor(1, length=2), path=sweep / "run 1" / "trace.jsonl")
    answer = ask([read_results(sweep)], "select run, plans, latency_mean from per_agent where interruptions = 0")
    assert answer.rows == (("run 1", 1, 1.0),)
    assert [remark.partition(":")[0] for remark in answer.remarks] == ["run 0", "run 2"]  # which have no whole trace
    assert ask([read_results(sweep)], "select count(*) from per_message").rows == ((0,),)


@pytest.mark.parametrize(
    "question",
    [
        "select * from read_text('/etc/hostname')",
        "copy results to 'stolen.csv'",
        "attach 'other.db'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "select * from '/etc/hostname'",
    ],
)
def test_no_question_reaches_files_or_network(sweep: Path, question: str) -> None:
    with pytest.raises(UserError, match="--sql"):
        ask([read_results(sweep)], question)


def test_a_name_without_quotes_gets_a_hint_how_to_write_it(sweep: Path) -> None:
    with pytest.raises(UserError, match="Put names with a dot in double quotes"):
        ask([read_results(sweep)], "select outcome.steps from results")


def test_the_missing_package_names_its_install_line(sweep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UserError, match=r"pip install 'quorum-harness\[analysis\]'"):
        ask([read_results(sweep)], "select 1")


@pytest.mark.parametrize("question", ["", " \n"])
def test_an_empty_question_is_refused(question: str, sweep: Path) -> None:
    with pytest.raises(UserError, match="--sql: the query is empty"):
        ask([read_results(sweep)], question)


def test_the_command_gives_tables_csv_and_json(sweep: Path, quorum: Quorum) -> None:
    question = "select n, count(*) as runs from results group by n order by n"
    assert "runs" in quorum("results", str(sweep), "--sql", question).stdout
    assert quorum("results", str(sweep), "--sql", question, "--csv").stdout == "n,runs\n2,2\n3,1\n"
    printed = json.loads(quorum("results", str(sweep), "--sql", question, "--json").stdout)
    assert printed == [{"n": 2, "runs": 2}, {"n": 3, "runs": 1}]


def test_duckdb_reports_no_leaks_when_the_command_ends(sweep: Path) -> None:
    words = command("results", str(sweep), "--sql", "select name from results")
    assert subprocess.run(words, env=environment(), capture_output=True, text=True, check=True).stderr == ""
