"""The lanes of beliefs: what agents answered to a probe, from the trace to what can be read in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import read_trace
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.view.viewer.episode import read_episode
from quorum.what_if.extensions.probe import Belief
from tests.branching import plan_branch
from tests.view.viewer.conftest import Open, served


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A probe of a run whose agents answer half of their questions by a draw."""
    out = tmp_path_factory.mktemp("probed")
    run = run_cell(Cell.compose(["n=4", "agents=naive", "topology=hierarchy", "max_steps=6"]), out / "run").folder
    planned = plan_branch(run, "3", edits=("llm.poor=0.5",), probe=True)
    return run_cell(planned.cell, out / "probe", start=planned.start).folder


def test_an_episode_that_was_not_probed_has_no_beliefs(episodes: dict[str, Path]) -> None:
    assert read_episode(episodes["cube"]).overview["beliefs"] == []


def test_each_agent_has_a_lane_with_its_share_of_right_answers_and_each_answer_can_be_read(
    probed: Path, opened: Open
) -> None:
    beliefs = list(read_trace(probed).of(Belief))
    assert [one["truth"] for one in read_episode(probed).overview["beliefs"]] == [one.truth for one in beliefs]
    own = [one for one in beliefs if one.agent == 1]
    right = sum(one.answer == one.truth for one in own)
    with served(probed) as address:
        page, complaints = opened(address)
        page.set_viewport_size({"width": 1280, "height": 1800})
        page.evaluate("quorum.lanes.draw()")
        assert page.evaluate("quorum.lanes.rows.filter(row => row.sort === 'belief').map(row => row.agent)") == [
            0,
            1,
            2,
            3,
        ]
        drawn = page.evaluate(
            "quorum.lanes.hits.filter(hit => hit[4] === 'belief').map(hit => [hit[5].agent, hit[5].t])"
        )
        assert sorted(drawn) == [[agent, 3] for agent in range(4)]
        page.evaluate("quorum.player.seek(3)")
        page.locator(".events button", has_text="agent_1 believes").first.click()
        reported = page.locator(".reader").inner_text()
        assert f"believes {right} of {len(own)} right; " in reported
        for fact in {one.fact for one in own}:
            of_fact = [one for one in own if one.fact == fact]
            assert f"{fact}: {sum(one.answer == one.truth for one in of_fact)} of {len(of_fact)} right" in reported
        assert complaints == []
