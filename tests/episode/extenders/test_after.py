"""A mistake in a metric, a figure, a provider, skills, or the picture of a world: one message, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.episode.extenders.conftest import Typed, assert_reported, write, wrong
from tests.episode.extenders.test_components import WORDS

_ASKED = f"{WORDS.replace('agents=mine', 'agents=naive')} llm=own --plugin own"
_RULED = f"{WORDS.replace('agents=mine', 'agents=heuristic')} --plugin pit_skills"
_COMPLETE = "async def complete(self, request):"
_OWN_METRIC = "def own(trace):"

METRICS = {
    "one that raises": (
        wrong("own_metric.py", {"return len": "return ln  # HERE\n    return len"}),
        "talk.own: NameError",
    ),
    "one that is a text": (
        wrong("own_metric.py", {'@metric("talk.own")': '@metric("talk.own")  # HERE', "return len(": "return str("}),
        "is neither a finite number nor None",
    ),
}
PROVIDERS = {
    "one that raises": (
        wrong("own.py", {_COMPLETE: f"{_COMPLETE}\n        request.prompt  # HERE"}),
        "in OwnModel.complete: AttributeError: 'Request' object has no attribute 'prompt'",
        1,
    ),
    "one that answers with a text": (
        wrong(
            "own.py", {'Reply("{}", Finish.STOP, Usage(prompt=1, completion=1), 0.0, 0.0, "own")': "'{}'"}, _COMPLETE
        ),
        "OwnModel.complete() returned a str, '{}'; it must return a quorum.agents.llm.protocol.Reply",
        1,
    ),
    "one that is not async": (wrong("own.py", {_COMPLETE: "def complete(self, request):  # HERE"}), "is not async", 1),
    "one that builds nothing": (
        wrong("own.py", {"OwnModel()))": "None))  # HERE"}),
        "returned None; it must return a quorum.agents.llm.provided.ProvidedModel",
        2,
    ),
}
SKILLS = {
    "a rule that raises": (wrong("pit_skills.py", {"(Rest(),)": "(Walk(),)  # HERE\n    "}), "in rule: NameError", 1),
    "a rule that gives an action": (
        wrong("pit_skills.py", {"Plan((Rest(),))": "Rest()"}, "def rule(view):"),
        "rule() returned a Rest, Rest(action='rest'); it must return a maeil.Plan",
        1,
    ),
    "a role that gives nothing": (
        wrong("pit_skills.py", {"return [Comm": "[Comm"}, "def heuristic(self, world):"),
        "PitSkills.heuristic() returned None; it must return a list of minds",
        2,
    ),
    "no skills": (wrong("pit_skills.py", {'PitSkills("pit"))': "PitSkills)  # HERE"}), "it is a type, not a", 2),
}
PICTURES = {
    "a picture that raises": (
        wrong("pit.py", {"return Drawing(": "self.brush  # HERE\n        return Drawing("}),
        "in Pit.draw: AttributeError: 'Pit' object has no attribute 'brush'",
    ),
    "a picture that is none": (
        wrong("pit.py", {"return Drawing(": "return dict(Drawing=", 'b"", {name:': "{name:"}, "def draw(self):"),
        "Pit.draw() returned a dict",
    ),
    "a canvas that is none": (
        wrong("pit.py", {"return Canvas(": "return ("}, "def canvas(self):"),
        "Pit.canvas() returned a tuple",
    ),
}
_FIGURE = 'from quorum.comparison.figures import figure\n\n\n@figure("own")  # HERE\ndef own(comparison):\n    {}\n'
FIGURES = {
    "one that raises": (_FIGURE.replace("  # HERE", "").format("return comparison.panels  # HERE"), "AttributeError"),
    "one that draws nothing": (_FIGURE.format("pass"), "own() returned None; it must yield Drawings"),
    "one that draws a number": (_FIGURE.format("yield 3"), "own() returned an int, 3"),
}


@pytest.mark.parametrize("mistake", METRICS)
def test_a_metric_ends_the_run_that_it_scores(typed: Typed, tmp_path: Path, mistake: str) -> None:
    files, reported = METRICS[mistake]
    write(tmp_path, files)
    assert_reported(typed(f"run {WORDS} --plugin own_metric"), files, (reported, "The episode has failed"), 1)


def test_a_metric_of_old_runs_says_where_it_is_wrong(typed: Typed, tmp_path: Path) -> None:
    files, reported = METRICS["one that raises"]
    write(tmp_path, files)
    assert typed(f"run {WORDS}").code == 0
    (run,) = (tmp_path / "runs").iterdir()
    assert_reported(typed(f"results {run} --plugin own_metric"), files, (reported,), 2)


@pytest.mark.parametrize("mistake", PROVIDERS)
def test_a_provider(typed: Typed, tmp_path: Path, mistake: str) -> None:
    files, reported, code = PROVIDERS[mistake]
    write(tmp_path, files)
    assert_reported(typed(f"run {_ASKED}"), files, (reported,), code)
    assert (tmp_path / "runs").exists() == (code == 1)


@pytest.mark.parametrize("mistake", SKILLS)
def test_skills(typed: Typed, tmp_path: Path, mistake: str) -> None:
    files, reported, code = SKILLS[mistake]
    write(tmp_path, files)
    assert_reported(typed(f"run {_RULED}"), files, (reported,), code)
    assert (tmp_path / "runs").exists() == (code == 1)


def test_a_world_that_cannot_tell_itself_at_the_end_has_its_run(typed: Typed, tmp_path: Path) -> None:
    files = wrong("pit.py", {'return "pit"': "return self.board  # HERE"})
    write(tmp_path, files)
    done = typed(f"run {WORDS}")
    assert_reported(done, files, ("in Pit.ansi: AttributeError", "The episode itself is complete"), 1)


@pytest.mark.parametrize("mistake", PICTURES)
def test_a_picture_ends_a_film_and_is_reported_on_a_page(typed: Typed, tmp_path: Path, mistake: str) -> None:
    files, reported = PICTURES[mistake]
    write(tmp_path, files)
    assert typed(f"run {WORDS}").code == 0
    (run,) = (tmp_path / "runs").iterdir()
    assert_reported(
        typed(f"replay {run} --out film.gif --plugin pit --plugin mine --plugin round"), files, (reported,), 2
    )
    assert not list(tmp_path.glob("*.gif*"))


@pytest.mark.parametrize("mistake", FIGURES)
def test_a_figure(typed: Typed, tmp_path: Path, mistake: str) -> None:
    text, reported = FIGURES[mistake]
    files = {"own_figure.py": text}
    write(tmp_path, files)
    assert typed(f"run {WORDS}").code == 0
    assert_reported(typed("report runs --out report.html --plugin own_figure"), files, (reported,), 2)
    assert not (tmp_path / "report.html").exists()


def test_the_simulated_model_says_that_it_does_not_know_a_world(typed: Typed) -> None:
    done = typed(f"run {WORDS.replace('agents=mine', 'agents=naive')}")
    assert done.code == 0
    assert "notice: the simulated model has no rules for the world 'pit'" in done.err
    taught = typed("run n=2 agents=naive max_steps=1")
    assert "no rules" not in taught.err
