"""`quorum reproduce`: runs, resumes, forecasts, and refuses mistakes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Quorum

FEW = ("reproduce", "emcoop-rq3", "n=3", "seed=0", "max_steps=2", "engine.workers=1")


def test_without_a_name_it_lists_the_figures(quorum: Quorum) -> None:
    shown = quorum("reproduce")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "llamac-table2" in shown.stdout
    assert "feedback_crafter, feedback_cube" in shown.stdout
    listed = json.loads(quorum("reproduce", "--json").stdout)
    assert listed["emcoop-rq1"]["figure"] == "Figure 3"
    assert listed["llamac-table2"]["margins"]["outcome.success"] == 0.1
    assert listed["llamac-table2"]["because"].startswith("half of the smallest gaps")


def test_it_plays_what_is_missing_and_judges_every_point(quorum: Quorum, tmp_path: Path) -> None:
    first = quorum(*FEW)
    assert first.returncode == 0, first.stderr
    assert "feedback_crafter: 4/4 done" in first.stderr
    assert "feedback_crafter-chance: 4/4 done" in first.stderr
    assert "feedback_cube-echo: 2/2 done" in first.stderr
    assert first.stdout.count("published (GPT-5.2) and here, point by point") == 1
    assert first.stdout.count("our control and here, point by point") == 2
    assert "Simulated language model: its results say nothing about a real model." in first.stdout
    answer = json.loads(quorum(*FEW, "--json", "--quiet").stdout)
    assert [part["sweep"]["run_now"] for part in answer["parts"]] == [0, 0]
    floors = answer["parts"][0]["floors"]
    assert {floor: swept["run_now"] for floor, swept in floors.items()} == {"chance": 0, "echo": 0}
    points = [point for part in answer["parts"] for point in part["points"]]
    played = [point for point in points if "score," in point["what"] or "steps," in point["what"]]
    assert len(played) == 3
    for team in ("verdict", "chance", "echo"):
        assert {point[team] for point in played} == {"undecided"}  # one board
    assert points[0]["reason"] == "too few boards (1); simulated here, GPT-5.2 there"
    folder = tmp_path / "runs" / "emcoop-rq3" / "feedback_cube" / "comparison" / "arm-across-n"
    assert "point by point" in (folder / "tables.md").read_text()
    assert (folder / "figures" / "outcome.steps.png").exists()


def test_a_dry_run_names_the_cost_with_a_named_model(quorum: Quorum, tmp_path: Path) -> None:
    shown = quorum("reproduce", "llamac-table2", "llm=openai", "llm.model=gpt-5-mini", "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "180: 0 done, 180 to run now" in shown.stdout
    assert "llamac_table2-chance: 120 of 120 episodes to run, free (llm=random)" in shown.stdout
    assert "llamac_table2-echo: 120 of 120 episodes to run, free (llm=echo)" in shown.stdout
    assert "$" in shown.stdout
    assert "unknown" not in shown.stdout
    words = ("emcoop-rq2", "n=3", "seed=0", "llm=openai", "llm.model=gpt-5-mini", "--dry-run", "--json")
    plans = json.loads(quorum("reproduce", *words).stdout)
    assert [plan["team"] for plan in plans] == ["here", "chance", "echo"] * 2
    assert [plan["usd"] > 0 for plan in plans] == [True, False, False] * 2
    assert not (tmp_path / "runs").exists()


def test_mistakes_are_one_message(quorum: Quorum) -> None:
    for words, message in (
        (("llamac-tabel2",), "reproduce llamac-tabel2: there is no such figure\nDid you mean"),
        (("emcoop-rq3", "nn=2"), "nn"),
        (("emcoop-rq3", "--budget-usd", "0"), "budget"),
    ):
        done = quorum("reproduce", *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert message in done.stderr
        assert "Traceback" not in done.stderr
