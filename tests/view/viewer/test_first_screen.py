"""What the page of a failed run shows first: why it failed, in sentences, and a legend of the signs that occur."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import read_trace
from maeil.trace.events import StageChange
from maeil.trace.explanation import explain_failure
from quorum.view.viewer.episode import read_episode
from tests.recorded import recorded_run
from tests.view.viewer.conftest import Open, served

STAGES = {"R": "reason", "W": "wait", "X": "execute", "I": "interrupted"}


@pytest.fixture(scope="module")
def idle() -> Path:
    """A run whose team does nothing for so long that it counts as a deadlock."""
    return recorded_run("n=2", "agents=idle", "max_steps=60")


@pytest.fixture(scope="module")
def failing() -> Path:
    """A run whose first failure is an attempt of too few agents."""
    return recorded_run("n=4", "seed=2", "agents=naive", "max_steps=12")


def test_the_page_has_the_sentences_of_the_trace(idle: Path, failing: Path) -> None:
    for run in (idle, failing):
        sentences = explain_failure(read_trace(run))
        assert len(sentences) > 1
        assert read_episode(run).overview["why"] == [{"t": one.t, "words": one.words} for one in sentences]


def test_an_idle_team_is_explained_and_never_without_failure(idle: Path, opened: Open) -> None:
    with served(idle) as address:
        page, complaints = opened(address)
        first = page.locator(".reader").inner_text()
        assert "Nobody tried a task: every plan was only idle. t = 0" in first
        assert "No failure and no interruption" not in first
        page.locator(".reader .summary button", has_text="t = 60").click()
        assert page.evaluate("quorum.player.t") == 60
        assert complaints == []


def test_the_first_failure_opens_as_a_sentence(failing: Path, opened: Open) -> None:
    with served(failing) as address:
        page, complaints = opened(address)
        page.keyboard.press("n")
        shown = page.locator(".reader").inner_text()
        assert "failed: too few agents in place" in shown
        assert "The attempt of agent_" in shown
        assert "{" not in shown
        assert complaints == []


def test_the_legend_has_the_signs_that_occur_on_one_line_until_it_is_unfolded(idle: Path, opened: Open) -> None:
    with served(idle) as address:
        page, complaints = opened(address)
        legend = page.get_by_label("legend of the lanes")
        height = legend.bounding_box()["height"]  # type: ignore[index]
        assert height < 30
        legend.locator("summary").click()
        assert page.evaluate("document.querySelector('.lanes-head .legend').open")
        words = legend.inner_text()
        reached = {stamped.event.to_stage for stamped in read_trace(idle).stamped(StageChange)} | {"R"}  # type: ignore[attr-defined]
        assert {code for code, name in STAGES.items() if name in words} == reached
        assert "timed out" not in words
        assert "orphan" not in words
        assert "deadlock" in words
        page.set_viewport_size({"width": 900, "height": 800})
        page.wait_for_function("document.querySelector('.lanes-head .legend').open")
        assert complaints == []


def test_on_a_telephone_the_legend_has_a_line_and_unfolds_by_keyboard(failing: Path, opened: Open) -> None:
    with served(failing) as address:
        page, _ = opened(address)
        page.set_viewport_size({"width": 390, "height": 800})
        summary = page.locator(".lanes-head .legend summary")
        line, group = (part.bounding_box() for part in (summary, summary.locator(".legend-group").first))
        assert group["x"] + group["width"] <= line["x"] + line["width"]  # type: ignore[index]
        summary.focus()
        for key, shown in (("Enter", True), (" ", False)):
            page.keyboard.press(key)
            page.wait_for_function(f"document.querySelector('.lanes-head .legend').open === {str(shown).lower()}")
