"""The lane of failures: what the rules find, from the trace to what can be read in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import read_trace
from quorum.view.viewer import episode as episode_module
from quorum.view.viewer.episode import read_episode
from quorum.what_if.failures import find_failures
from tests.recorded import recorded_run
from tests.view.viewer.conftest import Open, served

CELL = ["n=4", "seed=3", "agents=naive", "topology=decentralized", "llm=simulated_faults"]


@pytest.fixture(scope="module")
def failing() -> Path:
    """A run in which an agent says one task and plans another."""
    return recorded_run(*CELL)


def test_the_page_has_what_the_rules_find_with_what_proves_it(failing: Path) -> None:
    shown = read_episode(failing).overview["failures"]
    found = find_failures(read_trace(failing))
    assert shown is not None
    assert shown[0]["kind"] == "mismatch"
    assert [(one["kind"], one["agent"], one["t"], [proof["words"] for proof in one["proofs"]]) for one in shown] == [
        (str(one.kind), one.agent, one.t, [proof.words for proof in one.proofs]) for one in found
    ]


def test_a_failure_can_be_read_with_its_proofs_that_lead_to_their_instants(failing: Path, opened: Open) -> None:
    first = find_failures(read_trace(failing))[0]
    with served(failing) as address:
        page, complaints = opened(address)
        assert page.evaluate("quorum.lanes.rows.some((row) => row.sort === 'failure')")
        page.evaluate(f"quorum.player.seek({first.t})")
        page.locator(".events button", has_text="MAST").first.click()
        assert page.locator(".reader h2").first.inner_text() == "mismatch"
        reported = page.locator(".reader li").all_inner_texts()
        assert reported == [f"t = {proof.t} {proof.words}" for proof in first.proofs]
        page.evaluate("quorum.player.seek(0)")
        page.locator(".reader li button").last.click()
        assert page.evaluate("quorum.player.t") == first.proofs[-1].t
        assert complaints == []


def test_a_trace_that_contradicts_itself_is_shown_without_failures(failing: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in failing.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    trace = broken / "trace.jsonl"
    trace.write_text(
        trace.read_text().replace(
            '"plan":"P0.1","agent":0,"status":"committed"', '"plan":"P0.0","agent":0,"status":"committed"'
        )
    )
    overview = read_episode(broken).overview
    assert overview["failures"] is None
    assert any("Failures cannot be detected" in problem for problem in overview["problems"])


def test_of_a_very_long_trace_nothing_is_kept(failing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episode_module, "WHOLE", 1000)
    assert read_episode(failing).overview["failures"] is None


def test_the_lane_says_which_kinds_are_not_known_where_messages_are_text_alone(failing: Path, opened: Open) -> None:
    unknown = "messages are text only: ignored input and mismatch are unknown"
    alone = recorded_run("n=2", "agents=dmas", "topology=dialogue", "max_steps=20")
    for run, known in ((failing, True), (alone, False)):
        with served(run) as address:
            page, complaints = opened(address)
            titles = page.evaluate("quorum.lanes.rows.map((row) => row.text ?? '')")
            assert any(unknown in title for title in titles) is not known
            assert complaints == []
