"""Cases in the format of Who&When: read by a reader, held against their labels, and untrusted."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.view.export.command import export
from quorum.what_if.blame import who_when
from quorum.what_if.blame.answer import Question
from quorum.what_if.blame.attempts import Budget
from quorum.what_if.blame.verdict import Verdict
from quorum.what_if.blame.who_when import Case, Reading, read_cases
from quorum_base.user_errors import UserError
from tests.serving import served
from tests.view.export.exported import seal, write_lines
from tests.what_if.branch.test_identity import Counting

ALL = Question(method="reader:all_at_once")
GENERATED: dict[str, Any] = {
    "is_correct": False,
    "question": "How many boats are in the harbour?",
    "question_ID": "b-1",
    "level": "1",
    "ground_truth": "7",
    "history": [
        {"content": "I count the list.", "role": "assistant", "name": "Counter"},
        {"content": "", "role": "user", "name": "Terminal"},
        {"content": "So it is 6.", "role": "user", "name": "Counter"},
    ],
    "mistake_agent": "Counter",
    "mistake_step": "2",
    "mistake_reason": "It left one out.",
    "system_prompt": {"Counter": "You count."},
}
HAND_MADE: dict[str, Any] = {
    "is_corrected": False,
    "question": "Which page?",
    "groundtruth": 12,
    "history": [
        {"content": "Which page?", "role": "human"},
        {"content": "Look it up.", "role": "Orchestrator (-> Browser)"},
        {"content": "Page 11.", "role": "Browser"},
    ],
    "mistake_agent": "Orchestrator",
    "mistake_step": 1,
}


def case(folder: Path, name: str, **values: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(GENERATED | values))
    return folder / name


def test_both_kinds_of_the_format_are_read_with_their_agents_and_steps() -> None:
    generated, hand = (msgspec.convert(one, Case) for one in (GENERATED, HAND_MADE))
    assert [turn.agent for turn in generated.transcript.turns] == ["Counter", "Terminal", "Counter"]
    assert [turn.agent for turn in hand.transcript.turns] == ["human", "Orchestrator", "Browser"]
    assert (generated.step, hand.step) == (2, 1)
    assert [entry.get("role") for entry in hand.transcript.entries] == ["human", "Orchestrator (-> Browser)", "Browser"]
    assert hand.scene.given == {"question": "Which page?", "answer": "12"}


@pytest.mark.parametrize("procedure", ["all_at_once", "step_by_step", "bisection"])
def test_each_reader_reads_a_folder_of_cases(tmp_path: Path, procedure: str) -> None:
    case(tmp_path / "cases", "1.json")
    (tmp_path / "cases" / "2.json").write_text(json.dumps(HAND_MADE))
    (tmp_path / "cases" / "notes.txt").write_text("no case")
    found = read_cases(tmp_path / "cases", Question(method=f"reader:{procedure}"))
    assert [name for name, _, _ in found.cases] == ["1.json", "2.json"]
    assert found.calls > 0
    assert "simulated" in str(found)


def test_accuracy_counts_labelled_cases_and_steps_within_a_tolerance() -> None:
    labelled = msgspec.convert(GENERATED, Case)
    bare = msgspec.convert(GENERATED | {"mistake_agent": "", "mistake_step": ""}, Case)
    near, right, none = Verdict("m", "Terminal", 1), Verdict("m", "counter", 2), Verdict("m", None, None)
    cases = [("1", labelled, near), ("2", labelled, right), ("3", labelled, none), ("4", bare, right)]
    found = Reading("m", cases, 0, 0, 0.0, 0)
    assert found.agents == (1, 3)
    assert [found.steps(most) for most in (0, 1, 5)] == [(1, 3), (2, 3), (2, 3)]
    assert "step: 1 of 3 (33.3 %)\nstep within 1: 2 of 3 (66.7 %)\n" in str(found)


def test_what_is_a_success_is_not_read(tmp_path: Path) -> None:
    found = read_cases(case(tmp_path, "1.json", is_correct=True), ALL)
    assert not found.cases
    assert found.calls == 0


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"history": []}, "history is empty"),
        ({"history": "text"}, "history"),
        ({"mistake_step": "late"}, "late"),
        ({"mistake_step": -1}, "negative"),
    ],
)
def test_a_file_that_is_no_case_is_named_before_anything_is_asked(
    tmp_path: Path, values: dict[str, object], reason: str
) -> None:
    case(tmp_path, "1.json")
    case(tmp_path, "2.json", **values)
    with pytest.raises(UserError, match=rf"2\.json: not a case of Who&When: .*{reason}"):
        read_cases(tmp_path, ALL)


def test_untrusted_folders_lead_nowhere_and_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case(tmp_path / "elsewhere", "secret.json")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "1.json").symlink_to(tmp_path / "elsewhere" / "secret.json")
    with pytest.raises(UserError, match="link"):
        read_cases(tmp_path / "linked", ALL)
    (tmp_path / "piped").mkdir()
    os.mkfifo(tmp_path / "piped" / "1.json")
    with pytest.raises(UserError, match="not a file"):
        read_cases(tmp_path / "piped", ALL)
    monkeypatch.setattr(who_when, "LARGEST_CASE", 100)
    with pytest.raises(UserError, match="larger than"):
        read_cases(tmp_path / "elsewhere", ALL)
    monkeypatch.setattr(who_when, "MOST_CASES", 0)
    with pytest.raises(UserError, match="holds 1 cases"):
        read_cases(tmp_path / "elsewhere", ALL)


@pytest.mark.parametrize(
    ("question", "form", "message"),
    [
        (Question(), "who-when", "--method search needs a run"),
        (ALL, "who-whne", "there is no such format"),
    ],
)
def test_what_cannot_be_done_with_a_case_is_refused(
    tmp_path: Path, question: Question, form: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        read_cases(case(tmp_path, "1.json"), question, form)


def test_nothing_there_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such file or folder"):
        read_cases(tmp_path / "none", ALL)


def test_paid_readers_need_a_budget_keep_it_and_can_be_estimated(tmp_path: Path) -> None:
    for number in range(3):
        case(tmp_path / "cases", f"{number}.json")
    brain = Counting()
    with served(brain) as addresses:
        by = ("llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null")
        paid = Question(method=ALL.method, by=(*by, "llm.cache=false"))
        with pytest.raises(UserError, match="paid language model"):
            read_cases(tmp_path / "cases", paid)
        estimate = read_cases(tmp_path / "cases", paid, dry=True).estimate
        assert (brain.requests, estimate["answers"]) == (0, 3)
        found = read_cases(tmp_path / "cases", Question(method=ALL.method, by=paid.by, budget=Budget(calls=2)))
    assert (brain.requests, found.calls, len(found.cases), found.unread) == (2, 2, 2, 1)
    assert "the budget ended before 1 of 3 cases were read" in str(found)


def test_runs_are_exported_as_cases_that_readers_read_and_old_ones_go(tmp_path: Path) -> None:
    words = ["env=squeeze", "n=2", "max_steps=3", "agents=naive"]
    first, second = (run_cell(Cell.compose([*words, f"seed={seed}"]), tmp_path / "runs").folder for seed in (0, 1))
    target, _ = export(tmp_path / "runs", "who-when", None, calls=True, force=False)
    found = read_cases(target, ALL)
    assert [name for name, _, _ in found.cases] == sorted(f"{run.name}.json" for run in (first, second))
    assert {*found.cases[0][1].transcript.team} == {"environment", "agent_0", "agent_1"}
    assert found.agents == (0, 0)
    shutil.rmtree(second)
    export(tmp_path / "runs", "who-when", None, calls=False, force=False)
    assert os.listdir(target) == [f"{first.name}.json"]
    assert "plans" not in (target / f"{first.name}.json").read_text()


def test_a_run_without_a_turn_is_no_case(tmp_path: Path) -> None:
    run = run_cell(Cell.compose(["env=squeeze", "n=2", "max_steps=1", "agents=naive"]), tmp_path / "runs").folder
    first, *_, end = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    write_lines(run / "trace.jsonl", [first, {**end, "seq": 1}])
    seal(run)
    with pytest.raises(UserError, match="no run has any turns"):
        export(run, "who-when", tmp_path / "cases", calls=True, force=False)
    assert not (tmp_path / "cases").exists()
