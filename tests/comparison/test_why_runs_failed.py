"""The report of a sweep says why runs did not succeed, as far as their traces prove it."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import read_trace
from maeil.trace.explanation import explain_failure
from quorum.comparison import Question, compare, report
from quorum.runs import read_results
from tests.recorded import copied_run


def test_a_report_explains_runs_up_to_its_limit_and_passes_over_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tmp_path / "runs"
    idle = copied_run(runs, "n=2", "agents=idle", "max_steps=60")
    copied_run(runs, "n=2", "agents=idle", "max_steps=60", "seed=1").joinpath("trace.jsonl").unlink()
    why = " ".join(sentence.words for sentence in explain_failure(read_trace(idle)))
    assert "every plan was only idle" in why
    found = read_results(runs)
    text = report.page(found, compare([found], Question(by=("agents.name",))), runs / "report.html", "", {})
    assert "Why runs did not succeed" in text
    assert text.count(why) == 1
    assert f'<tr><th scope="row">{idle.name}</th><td>{why}</td></tr>' in text
    assert "does not explain" not in text
    monkeypatch.setattr(report, "MOST_EXPLAINED", 0)
    text = report.page(found, compare([found], Question(by=("agents.name",))), runs / "report.html", "", {})
    assert "Why runs did not succeed" not in text
