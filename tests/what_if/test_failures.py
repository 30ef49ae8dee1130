"""`quorum show failures`: why recorded teams failed, with what proves it, for people and for programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

from maeil import Plan, Thought
from quorum.runs.derived import recompute
from quorum.view.viewer.episode import read_episode
from quorum.what_if.failures import OF_WORDS
from quorum.what_if.failures.message_judge import Judge
from quorum.what_if.failures.of_traces import failures_of
from quorum_base.user_errors import UserError
from tests.conftest import Quorum
from tests.maeil.corridor import Corridor, Rest, Walk
from tests.maeil.scripted import Scripted, play
from tests.recorded import copied_run, recorded_run


def record(folder: Path) -> Path:
    """Leave the trace of an agent that stumbles twice in the same way, and then rests."""
    folder.mkdir(parents=True)
    stumble = Thought(Plan((Walk(fails_at=0),)))
    play([Scripted(stumble, stumble, Thought(Plan((Rest(steps=20),))))], Corridor(1), path=folder / "trace.jsonl")
    return folder


def test_failures_are_printed_with_the_events_that_prove_them(quorum: Quorum, tmp_path: Path) -> None:
    record(tmp_path / "[one]")
    done = quorum("show", "failures", "[one]")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "[one]",
        "  Time was up after 20 steps, with 0 of 1 goal reached.",
        "  2 of 3 plans failed, 2 of them with walk: stumbled.",
        "  t = 0: repetition (FM-1.3) of agent_0",
        "      t = 0, event 10: plan P0.1 failed: walk: stumbled",
        "      t = 0, event 14: plan P0.2 is the same, and no step was taken in between",
        "      t = 0, event 20: plan P0.2 failed: walk: stumbled",
        "  1 repetition",
    ]


def test_a_sweep_stands_for_its_runs_and_the_newest_for_none(quorum: Quorum, tmp_path: Path) -> None:
    sweep = tmp_path / "runs" / "talk"
    record(sweep / "one")
    record(sweep / "two")
    (sweep / "sweep.json").write_text("{}")
    named, unnamed = quorum("show", "failures", "runs/talk"), quorum("show", "failures")
    assert unnamed.stderr == "reading runs/talk, the newest sweep in runs\n"
    assert named.stdout == unnamed.stdout
    shown = [line for line in named.stdout.splitlines() if not line.startswith(" ")]
    assert shown == ["runs/talk/one", "runs/talk/two"]


def test_failures_are_data_and_the_others_are_shown_where_a_run_cannot_be_read(quorum: Quorum, tmp_path: Path) -> None:
    record(tmp_path / "one")
    done = quorum("show", "failures", "nowhere", "one", "--json")
    assert done.returncode == 2
    assert "nowhere: there is no such folder" in done.stderr
    (run,) = json.loads(done.stdout)
    assert run["run"] == "one"
    assert run["why"] == [
        {"t": 20, "words": "Time was up after 20 steps, with 0 of 1 goal reached."},
        {"t": 0, "words": "2 of 3 plans failed, 2 of them with walk: stumbled."},
    ]
    (found,) = run["failures"]
    assert (found["kind"], found["mast"], found["agent"], found["t"], found["task"]) == (
        "repetition", "FM-1.3", "agent_0", 0, "",
    )  # fmt: skip
    assert found["proofs"][0] == {"event": 10, "t": 0, "words": "plan P0.1 failed: walk: stumbled"}


def test_without_a_run_it_says_how_to_ask(quorum: Quorum) -> None:
    done = quorum("show", "failures")
    assert done.returncode == 2
    assert "runs: there is no sweep in this folder, and the command names no other" in done.stderr


def test_a_trace_that_contradicts_itself_is_damaged(tmp_path: Path) -> None:
    trace = record(tmp_path / "one") / "trace.jsonl"
    trace.write_text(trace.read_text().replace('"plan":"P0.1"', '"plan":"P0.9"', 1))
    with pytest.raises(UserError, match=r"damaged: its events contradict each other \(failures: TraceError"):
        failures_of(tmp_path / "one")


SAID = ["n=4", "seed=3", "agents=naive", "topology=decentralized", "llm=simulated_faults"]


def test_a_judge_stands_in_for_fields_that_are_not_there_and_is_held_against_those_that_are(tmp_path: Path) -> None:
    run = recorded_run(*SAID)
    (tmp_path / "old.jsonl").write_text(re.sub(r',"task":[^[]*"asks":\[[^]]*\]', "", (run / "trace.jsonl").read_text()))
    judge = Judge(["llm=simulated"], {})
    typed, alone = failures_of(run, judge), failures_of(tmp_path / "old.jsonl")
    mismatches = [one for one in typed.failures if one.kind == "mismatch"]
    assert mismatches
    assert not typed.unread
    assert typed.judgement is not None
    assert typed.judgement.same == typed.judgement.typed == typed.judgement.messages
    assert typed.judgement.by == {"both": len(mismatches), "fields": 0, "judge": 0}
    assert alone.unread == typed.judgement.messages
    assert not [one for one in alone.failures if one.kind in OF_WORDS]
    judged = failures_of(tmp_path / "old.jsonl", judge)
    assert judged.judgement is not None
    assert (judged.unread, judged.judgement.typed) == (0, 0)
    assert judged.failures == typed.failures


def test_what_text_alone_says_is_absent_in_every_output_and_nowhere_0(quorum: Quorum, tmp_path: Path) -> None:
    """From the run to the last reader of its metrics; a kind that needs no words stays known next to it."""
    copied_run(tmp_path, "n=2", "agents=dmas", "topology=dialogue", "seed=2", "max_steps=30")
    copied_run(tmp_path, "n=2", "agents=naive", "topology=dialogue", "seed=2", "max_steps=30")
    metrics = ("failure.mismatch", "failure.number", "failure.silence")
    known = {"dmas": (None, None, 0), "naive": (0, 1, 1)}
    chosen = [word for metric in metrics for word in ("--metric", metric)]
    done = quorum("compare", ".", "--by", "agents", *chosen, "--out", "compared", "--json")
    assert done.returncode == 0, done.stderr
    means = {(one["agents.name"], one["metric"]): one["mean"] for one in json.loads(done.stdout)["estimates"]}
    assert means == {(mind, name): mean for mind in known for name, mean in zip(metrics, known[mind], strict=True)}
    drawn = (tmp_path / "compared" / "figures" / "failure_kinds.svg").read_text()
    assert drawn.count("+ unknown") == 1, "of the team whose messages are text alone"
    for run in tmp_path.glob("cube-*"):
        mind = "dmas" if "dmas" in run.name else "naive"
        for shown in (recompute(run).metrics, read_episode(run).overview["metrics"]):
            assert tuple(shown[name] for name in metrics) == known[mind]
    for form in ("parquet", "hf"):
        assert quorum("export", ".", "--to", form, "--out", form).returncode == 0
        (file,) = (tmp_path / form).rglob("runs*.parquet")
        columns = ", ".join(f'"{name}"' for name in metrics)
        rows = duckdb.read_parquet(str(file)).query("runs", f'SELECT "agents.name", {columns} FROM runs').fetchall()
        assert {mind: tuple(values) for mind, *values in rows} == known


def test_a_budget_ends_the_reading_and_what_is_not_read_stays_unknown(quorum: Quorum) -> None:
    run = recorded_run(*SAID)
    done = quorum("show", "failures", str(run), "--judge", "llm=simulated", "--budget-calls", "1", "--json")
    (found,) = json.loads(done.stdout)
    assert (found["judge"]["read"], found["judge"]["typed"], found["unread"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--judge", "n=3"], "a judge is a language model"),
        (["--judge", "llm=vllm", "--judge", "llm.model=m"], "--judge calls a paid language model"),
        (["--budget-calls", "3"], "a budget applies to a judge, and none is named"),
    ],
)
def test_a_judge_that_cannot_be_asked_is_refused(quorum: Quorum, words: list[str], reason: str) -> None:
    done = quorum("show", "failures", "nowhere", *words)
    assert done.returncode == 2
    assert reason in done.stderr
