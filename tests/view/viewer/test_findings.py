"""The interaction graph in the viewer: what became of messages, and where cooperation fails, from trace to browser."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from maeil.dig.graph import Reaction
from maeil.dig.patterns import Analysis, Pattern, analyse
from maeil.trace import read_trace
from quorum.view.viewer.episode import read_episode
from quorum.view.viewer.pages import Json
from tests.recorded import recorded_run
from tests.view.viewer.conftest import Open, served

CELL = [
    "n=4", "seed=1", "max_steps=60", "agents=naive", "llm=simulated_faults", "topology=debate",
]  # fmt: skip


@pytest.fixture(scope="module")
def run() -> Path:
    """A run in which cooperation fails."""
    return recorded_run(*CELL)


@pytest.fixture(scope="module")
def page(run: Path) -> Json:
    return orjson.loads(read_episode(run).pages.data(0))


@pytest.fixture(scope="module")
def analysis(run: Path) -> Analysis:
    return analyse(read_trace(run))


def test_the_findings_of_a_page_are_those_of_the_trace(page: Json, analysis: Analysis) -> None:
    assert [(one["pattern"], one["t"], one["agents"], one["messages"], one["subject"]) for one in page["findings"]] == [
        (one.pattern.value, one.t, [*one.agents], [*one.messages], one.subject) for one in analysis.findings
    ]
    assert {one["pattern"] for one in page["findings"]} >= {Pattern.REPEATED_EFFORT, Pattern.INCOMPLETE_COVERAGE}


def test_each_message_tells_what_its_recipients_have_done_with_it(page: Json, analysis: Analysis) -> None:
    for message in page["messages"]:
        flat = message["reactions"]
        known = analysis.graph.messages[message["message"]].reactions
        assert dict(zip(flat[::2], flat[1::2], strict=True)) == {
            agent: reaction for agent, reaction in known.items() if reaction not in (Reaction.WAIT, Reaction.PENDING)
        }


def test_a_finding_can_be_read_with_its_proof(run: Path, page: Json, opened: Open) -> None:
    first = next(one for one in page["findings"] if one["pattern"] == "repeated_effort")
    with served(run) as address:
        shown, complaints = opened(address)
        assert shown.evaluate("quorum.lanes.rows.some((row) => row.sort === 'finding')")
        shown.evaluate(f"quorum.player.seek({first['t']})")
        shown.locator(".events button", has_text="repeated effort").first.click()
        reported = shown.locator(".reader").inner_text()
        assert f"{first['subject']}, which needs {first['needed']}" in reported
        shown.locator(".reader button", has_text=f"message {first['messages'][0]}").click()
        assert ": consume" in shown.locator(".reader").inner_text()
        assert complaints == []
