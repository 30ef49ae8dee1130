"""The verb `study`: what it lists, plans and refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from quorum.verbs.app import app
from quorum_base.user_errors import UserError

TEAM = ("agents=naive", "topology=debate", "n=2", "max_steps=20", "engine.workers=1")


def typed(*words: str) -> str:
    done = CliRunner().invoke(app, ["study", *words], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_without_a_question_it_lists_them() -> None:
    found = json.loads(typed("--json"))
    assert set(found) == {"talk", "team", "topology"}
    assert found["talk"]["asks"] == "Does talk help this team, and which part of it?"
    assert "mute" in typed()


def test_a_plan_for_a_stated_effect_runs_nothing(tmp_path: Path) -> None:
    words = (*TEAM, "--plan", "--expect", "5,12", "--out", str(tmp_path / "runs"))
    found = json.loads(typed("talk", *words, "--json"))
    (design,) = found["designs"]
    assert design["boards"] == 67
    assert design["to_run"]
    assert not (tmp_path / "runs").exists()
    content = json.loads(typed("talk", *words, "--for", "content", "--json"))
    assert (content["for"], found["for"]) == ("content", "total")
    assert content["designs"][0]["boards"] > design["boards"], "p is corrected for seven tests"
    wider = (*words, "--half-width", "6")
    assert json.loads(typed("talk", *wider, "--json"))["designs"][0]["boards"] == 18
    assert re.search(r"\b1\W+18\b", typed("talk", *wider)), "the row of 1 draw"


@pytest.mark.conformance
def test_a_plan_without_one_plays_a_pilot_on_boards_that_no_study_has(tmp_path: Path) -> None:
    words = ("agents=naive", "topology=centralized", "env=transport", "n=4", "engine.workers=1")
    found = json.loads(typed("team", *words, "--plan", "--json", "--quiet", "--out", str(tmp_path)))
    (pilot,) = tmp_path.iterdir()
    assert pilot.name.endswith("-pilot")
    seeds = {
        json.loads((run / "meta.json").read_bytes())["seed"]
        for run in pilot.iterdir()
        if run.is_dir() and run.name[0] != "."
    }
    assert min(seeds) >= 1_000_000
    assert [design["draws"] for design in found["designs"]] == [1, 2, 4]
    boards = [design["boards"] for design in found["designs"]]
    assert boards == sorted(boards, reverse=True)


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (("tlk",), "study tlk: there is no such question"),
        (("talk", *TEAM, "--expect", "5"), "--expect 5: not an effect with its deviation"),
        (("talk", *TEAM, "--expect", "0,3"), "--expect 0,3: not an effect with its deviation"),
        (("talk", *TEAM, "--until", "soon"), "--until 'soon': not a condition"),
        (("talk", *TEAM, "--until", "significant(outcome.score)"), "outcome.score has no known range"),
        (
            ("talk", *TEAM, "--metric", "outcome.score", "--until", "significant(steps)"),
            "outcome.score has no known range",
        ),
        (("talk", *TEAM, "--plan", "--for", "contents", "--expect", "5,12"), "--for contents: the question has no"),
        (("talk", *TEAM, "--plan", "--for", "shuffled"), "a pilot cannot play the arm shuffled of shuffled"),
        (("talk", *TEAM, "--plan", "--expect", "0.01,12"), "2,000 boards do not give a power of 0.9 for total"),
        (("talk", *TEAM, "--metric", "stepz"), "there is no metric stepz"),
        (("talk", *TEAM, "--metric", "communication.messages"), "neither more nor less of it is better"),
        (
            ("talk", *TEAM, "--metric", "success", "--plan", "--expect", "5,12"),
            "outcome.success: differences of -1, 0 and 1",
        ),
        (("talk", *TEAM, "n=3"), "n is given twice"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_run(words: tuple[str, ...], reported: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["study", *words, "--out", str(tmp_path / "runs")])
    assert isinstance(done.exception, UserError)
    assert reported in str(done.exception)
    assert not (tmp_path / "runs").exists()
