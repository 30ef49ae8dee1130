"""`quorum results`: old traces, whole, broken off, damaged and newer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from maeil.metrics import METRICS, compute_metrics
from maeil.trace import Trace
from quorum.runs.derived import break_down, recompute, write_metrics
from quorum.runs.summary import main_rows, more_rows, shown, warning_rows
from tests.conftest import CORRIDOR, Quorum
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, play, walk


def record(folder: Path, steps: int = 2) -> Path:
    """Leave the trace of a short episode in a folder."""
    folder.mkdir(parents=True)
    play([Scripted(walk(steps))], Corridor(1, length=steps), path=folder / "trace.jsonl")
    return folder


def spoil(folder: Path, old: str, new: str) -> None:
    file = folder / "trace.jsonl"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_the_metrics_of_a_run_can_be_computed_again(quorum: Quorum, tmp_path: Path) -> None:
    folder = json.loads(quorum("run", *CORRIDOR, "n=2", "--json").stdout)["folder"]
    file = tmp_path / folder / "metrics.json"
    before = file.read_bytes()
    file.write_text("{}")
    done = quorum("results", folder, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    (found,) = json.loads(done.stdout)
    assert (found["run"], found["outcome"], found["metrics"]) == (folder, "success", json.loads(before))
    assert file.read_text() == "{}"
    assert quorum("results", folder, "--write").returncode == 0
    assert file.read_bytes() == before
    assert sorted(path.name for path in file.parent.iterdir()) == [
        "config.yaml", "meta.json", "metrics.json", "trace.jsonl",
    ]  # fmt: skip


def test_few_runs_are_columns_with_every_metric(quorum: Quorum, tmp_path: Path) -> None:
    record(tmp_path / "[one]", steps=2)
    record(tmp_path / "two", steps=3)
    lines = quorum("results", "[one]", "two/trace.jsonl").stdout.splitlines()
    assert lines[:2] == ["1: [one]", "2: two"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:] if line.strip()}
    everywhere = {name for name, metric in METRICS.items() if metric.of is None and not metric.on_demand}
    assert everywhere <= rows.keys()
    assert rows["outcome"] == ["success", "success"]
    assert rows["outcome.steps"] == ["2", "3", "environment", "steps"]


def test_many_runs_are_rows_with_whole_names(quorum: Quorum, tmp_path: Path) -> None:
    names = [f"{'a-long-name-' * 8}{i}" for i in range(5)]
    for name in names:
        record(tmp_path / name)
    head, *rows = quorum("results", *names).stdout.splitlines()
    assert head.split()[:4] == ["run", "outcome", "goals", "steps"]
    assert [row.split()[:4] for row in rows] == [[name, "success", "1/1", "2"] for name in names]


def test_what_a_killed_run_left_is_evaluated_as_far_as_it_goes(quorum: Quorum, tmp_path: Path) -> None:
    file = record(tmp_path / "killed.partial-1234") / "trace.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    last_step = max(i for i, line in enumerate(lines) if b'"event":"step"' in line)
    file.write_bytes(b"".join(lines[:last_step]) + lines[last_step][:20])
    (found,) = json.loads(quorum("results", "killed.partial-1234", "--json").stdout)
    assert found["outcome"] is None
    assert found["metrics"]["outcome.steps"] == 1
    assert found["metrics"]["outcome.success"] is False
    assert "unfinished" in quorum("results", "killed.partial-1234").stdout


def test_a_packed_trace_gives_the_same(tmp_path: Path) -> None:
    folder = record(tmp_path / "run")
    plain = recompute(folder)
    file = folder / "trace.jsonl"
    (folder / "trace.jsonl.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    assert recompute(folder).metrics == plain.metrics
    packed = recompute(folder / "trace.jsonl.gz")
    assert (packed.metrics, packed.name) == (plain.metrics, "run")


WRONG = {
    "missing": ["missing: there is no such folder"],
    "empty": ["empty/trace.jsonl: damaged: line 1: it does not begin with 'episode_start'"],
    "torn": ["torn/trace.jsonl: damaged: line 3: not an event"],
    "hole": ["hole/trace.jsonl: damaged: event 3 is missing"],
    "order": ["order/trace.jsonl: damaged: event 1 is missing or out of place: event 2 is there"],
    "strange": ["strange: damaged: its events contradict each other"],
    "endless": ["endless/trace.jsonl: damaged: line 10: not an event", "out of range"],
    "newer": ["schema 99", "update quorum-harness"],
    "packed": ["packed/trace.jsonl.gz: damaged"],
    "garbled": ["garbled"],
}


@pytest.mark.parametrize("case", WRONG)
def test_a_trace_that_cannot_be_read_is_one_message(case: str, quorum: Quorum, tmp_path: Path) -> None:
    folder = tmp_path / case
    match case:
        case "missing":
            pass
        case "packed" | "garbled":
            file = record(folder) / "trace.jsonl"
            packed = bytearray(gzip.compress(file.read_bytes()))
            if case == "garbled":
                packed[40:60] = bytes(20)
            (folder / "trace.jsonl.gz").write_bytes(packed[:-20] if case == "packed" else packed)
            file.unlink()
        case _:
            file = record(folder) / "trace.jsonl"
            lines = file.read_text().splitlines(keepends=True)
            match case:
                case "empty":
                    lines = []
                case "torn":
                    lines[2] = lines[2][:10] + "\n"
                case "hole":
                    del lines[3]
                case "order":
                    lines[1], lines[2] = lines[2], lines[1]
            file.write_text("".join(lines))
            if case == "strange":
                spoil(folder, '"to_stage":"W"', '"to_stage":"Z"')
            elif case == "endless":
                spoil(folder, '"reward":1.0', '"reward":1e999')
            elif case == "newer":
                spoil(folder, '"schema":6', '"schema":99')
    done = quorum("results", case)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    for words in WRONG[case]:
        assert words in done.stderr


def test_the_others_are_evaluated_all_the_same(quorum: Quorum, tmp_path: Path) -> None:
    record(tmp_path / "good")
    record(tmp_path / "bad")
    (tmp_path / "bad" / "trace.jsonl").write_text("nonsense\n")
    done = quorum("results", "bad", "good", "nowhere", "--json", "--write")
    assert done.returncode == 2
    assert [found["run"] for found in json.loads(done.stdout)] == ["good"]
    first, *others = done.stderr.splitlines()
    assert first.startswith("error: bad/trace.jsonl: damaged")
    assert "nowhere: there is no such folder" in others
    assert done.stderr.count("error: ") == 1
    assert (tmp_path / "good" / "metrics.json").exists()
    assert not (tmp_path / "bad" / "metrics.json").exists()


def test_a_link_among_the_runs_is_not_followed(quorum: Quorum, tmp_path: Path) -> None:
    record(tmp_path / "elsewhere")
    record(tmp_path / "sweep" / "own")
    (tmp_path / "sweep" / "linked").symlink_to("../elsewhere")
    done = quorum("results", "sweep", "--json", "--write")
    assert [found["run"] for found in json.loads(done.stdout)] == ["sweep/own"]
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["trace.jsonl"]


def test_a_write_that_fails_leaves_the_old_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from quorum_base.user_errors import UserError

    folder = record(tmp_path / "run")
    (folder / "metrics.json").write_text("old")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(UserError, match=r"metrics\.json: cannot be written: No space left"):
        write_metrics(recompute(folder))
    assert (folder / "metrics.json").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["metrics.json", "trace.jsonl"]


def test_run_tells_of_a_group_only_what_occurred() -> None:
    events = play([Scripted(walk(2))], Corridor(1, length=2))
    metrics = compute_metrics(Trace(tuple(events)))
    rows = dict(main_rows("success", metrics))
    assert rows == {"outcome": "success", "goals reached": "1 / 1 goals", "steps": "2 environment steps"}
    more = dict(more_rows(metrics))
    assert more["plans: number"] == "1 plans"
    assert not any(label.startswith(("communication", "constraints", "model")) for label in more)
    assert not [*warning_rows(metrics)]
    busy = {
        **metrics,
        "communication.messages": 3,
        "constraints.attempts": 1,
        "decision.forced_ready": 2,
        "model.answers": 4,
        "model.calls": 5,
        "outcome.steps_over_lower_bound": 1.25,
    }
    rows, more = dict(main_rows("success", busy)), dict(more_rows(busy))
    assert rows["messages"] == "3 sent"
    assert rows["model answers"] == "4 (calls: 5)"
    assert rows["steps"] == "2 environment steps (1.25 x lower bound)"
    assert more["plans: interruptions"].startswith("0 ")
    assert more["constraints: violation spatial"] == "-"
    assert [label for label, _ in warning_rows(busy)] == ["decision: forced ready"]


def test_without_goals_the_summary_shows_the_reward() -> None:
    rows = dict(main_rows("truncated", {"outcome.goals": None, "outcome.return": 2.5, "outcome.steps": 7}))
    assert rows == {"outcome": "truncated", "reward": "2.50 points", "steps": "7 environment steps"}


def test_the_bound_of_the_board_gives_the_distance_to_it() -> None:
    class Bounded(Corridor):
        def reset(self, seed: int) -> dict[str, float]:
            return {**super().reset(seed), "lower_bound": 2}

    def found(world: Corridor, *steps: int) -> object:
        return compute_metrics(Trace(tuple(play([Scripted(walk(*steps))], world))))["outcome.steps_over_lower_bound"]

    assert found(Bounded(1, length=3), 3) == 1.5
    assert found(Bounded(1, length=3, max_steps=2), 3) is None
    assert found(Corridor(1, length=3), 3) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (True, "yes"), (3, "3"), (1.234, "1.23"), (0.0, "0.00"), (0.00123, "0.0012"), (-0.05, "-0.05")],
)
def test_values_are_written_for_a_reader(value: float | None, text: str) -> None:
    assert shown(value) == text


def test_per_agent_and_per_message_are_tables(tmp_path: Path) -> None:
    run = record(tmp_path / "one", steps=2)
    assert [(row["agent"], row["plans"], row["interruptions"]) for row in break_down(run, "agent")] == [
        ("agent_0", 1, 0)
    ]
    assert break_down(run, "message") == []


def test_a_sweep_is_a_table_of_runs_and_a_run_is_its_metrics(quorum: Quorum, tmp_path: Path) -> None:
    folder = json.loads(quorum("run", *CORRIDOR, "n=2", "--out", "sweep", "--json").stdout)["folder"]
    assert [run["name"] for run in json.loads(quorum("results", "sweep", "--json").stdout)["runs"]] == [
        Path(folder).name
    ]
    assert json.loads(quorum("results", folder, "--json").stdout)[0]["metrics"]["outcome.success"] is True
    for refused in ("--csv", "--sql=from results"):
        done = quorum("results", "sweep", "--write", refused)
        assert (done.returncode, done.stderr.partition(":")[0]) == (2, "error")
