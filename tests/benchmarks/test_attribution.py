"""The benchmark of blame: what is counted as right, what people agree on, and which labels are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.attribution import score
from benchmarks.attribution.__main__ import main
from benchmarks.attribution.labels import kappa
from benchmarks.attribution.methods import Answer, Settings, chosen
from maeil.trace import read_trace
from maeil.trace.events import ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum_base.user_errors import UserError

TRUE = score.Label("agent_1", 7, "wait")


def said(method: str, run: str, *answers: Answer) -> score.Record:
    return score.Record(run, method, answers, TRUE)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two teams that fail, and one that does not."""
    folder = tmp_path_factory.mktemp("runs")
    for words in ("seed=2 max_steps=8", "seed=3 max_steps=8", "seed=2 max_steps=200"):
        run_cell(Cell.compose(["n=4", "agents=heuristic", *words.split()]), folder)
    return folder


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        # Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, 3rd edition, table 18.1.
        ([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.676),
        ([[20, 5], [10, 15]], 0.4),
        ([[10, 0], [0, 0]], None),  # both always say the same: chance alone makes them agree
        ([[0, 5], [5, 0]], -1),
    ],
)
def test_kappa_is_that_of_worked_examples(table: list[list[int]], expected: float | None) -> None:
    pairs = [(a, b) for a, row in enumerate(table) for b, many in enumerate(row) for _ in range(many)]
    found = kappa(pairs)
    assert found == expected if expected is None else found == pytest.approx(expected, abs=0.001)


def test_a_verdict_is_right_by_its_agent_and_by_its_step() -> None:
    records = [
        said("search", "a", Answer("agent_1", 7, 0.95)),
        said("search", "b", Answer("agent_1", 6, 0.85)),
        said("search", "c", Answer("agent_0", 7, 0.5)),
        said("search", "d", Answer(None, probability=0.9)),
    ]
    (row,) = list(score.accuracy(records))[2:]
    assert row == "| search | 4 | 75 % [19, 99] | 50 % [7, 93] | 25 % [1, 81] |"
    assert list(score.by_group(records, "kind", {"a": "x", "b": "x", "c": "y", "d": "y"}))[2:] == [
        "| x | 2 | 100 / 50 |",
        "| y | 2 | 0 / 0 |",
    ]


NOBODY = score.Label(None, None, "short")


def test_whoever_is_named_in_a_failure_without_a_fault_is_named_wrongly() -> None:
    records = [
        said("search", "a", Answer("agent_1", 7, 0.95)),
        said("search", "b", Answer("agent_1", 6, 0.5)),
        said("search", "c", Answer(None)),
        score.Record("d", "search", (Answer("agent_0", 3, 1.0),), NOBODY),
        score.Record("e", "search", (Answer("agent_0", 3, 0.7),), NOBODY),
        score.Record("f", "search", (Answer(None),), NOBODY),
    ]
    assert list(score.false_names(records))[2:] == [
        "| search | short | 3 | 67 % [9, 99] | 33 % [1, 91] |",
        "| search | **all** | 3 | 67 % [9, 99] | 33 % [1, 91] |",
    ]
    assert list(score.false_names(records[:3])) == []
    assert list(score.calibration(records))[2:] == [
        "| search | 0 to 0.2 | 0 | - | - |",
        "| search | 0.2 to 0.4 | 0 | - | - |",
        "| search | 0.4 to 0.6 | 1 | 0.50 | 0 % [0, 98] |",
        "| search | 0.6 to 0.8 | 1 | 0.70 | 0 % [0, 98] |",
        "| search | 0.8 to 1 | 2 | 0.97 | 50 % [1, 99] |",
    ]


def test_guessing_scores_what_is_expected_of_it_and_has_no_interval() -> None:
    turns = [Answer("agent_0", 7), Answer("agent_1", 7), Answer("agent_1", 8), Answer("agent_2", 8)]
    assert list(score.accuracy([said("guess", "a", *turns)]))[2] == "| guess | 1 | 100 % [3, 100] | 50 % | 25 % |"


def test_a_killed_table_continues_and_asks_nothing_twice(tmp_path: Path) -> None:
    asked = []

    def method(run: Path) -> list[Answer]:
        asked.append(run.name)
        return [Answer("agent_1", 7)]

    def refuses(run: Path) -> list[Answer]:
        raise UserError(f"{run}: cannot be branched")

    runs = [(name, Path(name), TRUE) for name in "abc"]
    file = tmp_path / "out.jsonl"
    score.record(runs[:2], {"one": method, "two": refuses}, file)
    text = file.read_bytes()
    file.write_bytes(text[:-5])  # killed while it wrote
    found = score.record(runs, {"one": method, "two": refuses}, file)
    assert asked == ["a", "b", "c"]
    assert [one.step for one in found] == [1, 0] * 3
    assert score.record(runs, {"one": method, "two": refuses}, file) == found
    assert list(score.refusals(found)) == ["two: could not judge 3 of 3 runs, such as: a: cannot be branched"]
    with pytest.raises(UserError, match="another label"):
        score.record([("a", Path("a"), score.Label("agent_2", 7, "wait"))], {"one": method}, file)


def test_always_first_and_guessing_know_the_turns_of_a_run(runs: Path) -> None:
    run = next(folder for folder in runs.iterdir() if "s3" in folder.name)
    turns = [f"agent_{s.event.agent} {s.t}" for s in read_trace(run).events if isinstance(s.event, ThoughtStart)]
    rows = chosen(["guess", "first turn"], Settings())
    assert sorted(f"{one.agent} {one.t}" for one in rows["guess"](run)) == sorted(turns)
    assert rows["first turn"](run) == [Answer("agent_0", 0)]


def own_method(run: Path) -> list[Answer]:
    """Name always the same."""
    return [Answer("agent_2", 3)]


def test_a_function_of_your_own_is_a_row(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = "tests.benchmarks.test_attribution:own_method"
    words = ["natural", str(runs), "--out", str(tmp_path / "out.jsonl"), "--method", "first", "--method"]
    assert main([*words, own]) == 0
    rows = capsys.readouterr().out.splitlines()[2:4]
    assert rows == [
        "| first turn | 2 | 100 % [16, 100] |  |  |",
        f"| {own} | 2 | 100 % [16, 100] | 0.00 |  |",
    ]
    assert main([*words, "seach"]) == 2
    assert "search: heuristic" in capsys.readouterr().err


def test_two_annotators_of_made_up_labels(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sheet for each is filled in, and compared."""
    file = tmp_path / "labels.jsonl"
    lines = []
    for annotator, agents, steps in (("ada", ("agent_1", "agent_0"), (3, 5)), ("bo", ("agent_1", None), (4, None))):
        assert main(["label-sheet", str(runs), "--annotator", annotator]) == 0
        empty = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert len(empty) == 2  # the success is not on it
        lines += [{**one, "agent": a, "t": t} for one, a, t in zip(empty, agents, steps, strict=True)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["agree", str(file), "--runs", str(runs)]) == 0
    assert capsys.readouterr().out.splitlines()[2] == "| ada, bo | 2 | 1 | 0.33 | 1 | 0 | 1 | 1 | 1 |"
    words = ["natural", str(runs), "--out", str(tmp_path / "out.jsonl"), "--method", "first", "--labels", str(file)]
    assert main(words) == 0
    assert "| annotator bo | 2 | 50 % [1, 99] | 0.00 | 0.33 |  |" in capsys.readouterr().out


GOOD = {"run": "a", "annotator": "ada", "agent": "agent_1", "t": 3}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"agent": ""}, "line 2: the agent is not filled in"),
        ({"agent": None}, "line 2: step 3 of nobody"),
        ({"t": -1}, "line 2: step -1 of agent_1"),
        ({"t": "3"}, r"line 2: Expected `int \| null`"),
        ({"confidence": "sure"}, "line 2: Invalid enum value 'sure'"),
        ({"step": 3}, "line 2: Object contains unknown field `step`"),
        ({"annotator": "bo"}, "line 2: bo has labelled a before"),
        ({}, "no two annotators have labelled the same run"),
    ],
)
def test_a_wrong_label_is_refused_by_its_line(
    wrong: dict, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = {**GOOD, "annotator": "bo"} if wrong.get("annotator") == "bo" else {**GOOD, "run": "b"}
    file = tmp_path / "labels.jsonl"
    file.write_text(f"{json.dumps(first)}\n{json.dumps({**GOOD, **wrong})}\n")
    assert main(["agree", str(file)]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_a_table_of_labelled_runs_is_made_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The mind of the team without its fault differs in the turn of the fault alone, so its row is always right."""
    out = tmp_path / "open.jsonl"
    words = ["table", "--half", "open", "--out", str(out), "--method", "diff: own", "--cases"]
    assert main([*words, "1"]) == 0
    first = capsys.readouterr().out
    assert first.splitlines()[2] == "| diff: own mind | 1 | 100 % [3, 100] | 100 % [3, 100] | 100 % [3, 100] |"
    written = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*") if file.is_file()}
    assert len(written) > 3
    assert main([*words, "1"]) == 0
    assert capsys.readouterr().out == first
    assert {file: file.stat().st_mtime_ns for file in written} == written
    assert main([*words, "2"]) == 2
    assert "holds 1 cases of another command" in capsys.readouterr().err
