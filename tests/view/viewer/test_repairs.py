"""The lane of repairs: what the gate found and did, from the trace to what can be read in a browser."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from maeil.trace import read_trace
from quorum.methods.repair.events import RepairChecked, RepairEnded, RepairStarted
from quorum.view.viewer.episode import read_episode
from quorum.view.viewer.pages import Json
from tests.recorded import recorded_run
from tests.view.viewer.conftest import Open, served

CELL = [
    "n=6", "seed=1", "max_steps=60", "agents=naive", "llm=simulated_faults", "extension=repair",
    "extension.repair.predictor=exact",
]  # fmt: skip


@pytest.fixture(scope="module")
def repaired() -> Path:
    """A run with repairs."""
    return recorded_run(*CELL)


@pytest.fixture(scope="module")
def repairs(repaired: Path) -> list[Json]:
    return orjson.loads(read_episode(repaired).pages.data(0))["repairs"]


def test_the_page_has_every_check_that_found_something_with_what_was_done(repaired: Path, repairs: list[Json]) -> None:
    trace = read_trace(repaired)
    found = [stamped for stamped in trace.stamped(RepairChecked) if stamped.event.verdict != "passed"]
    assert [(one["t"], one["begins"], one["verdict"], one["violations"]) for one in repairs] == [
        (stamped.t, stamped.t_hat, stamped.event.verdict, stamped.event.violations) for stamped in found
    ]
    started = [one for one in repairs if "mode" in one]
    assert {one["verdict"] for one in started} == {"repair"}
    assert [(one["agents"], one["advice"]) for one in started] == [
        (event.agents, event.advice) for event in trace.of(RepairStarted)
    ]
    assert [one["replaced"] for one in started] == [event.replaced for event in trace.of(RepairEnded)]
    assert all(one["ends"] > one["begins"] for one in started)


def test_a_repair_can_be_read_with_its_reasons_its_advice_and_the_plans_given_up(
    repaired: Path, repairs: list[Json], opened: Open
) -> None:
    first = next(one for one in repairs if one.get("advice") and one.get("replaced"))
    with served(repaired) as address:
        page, complaints = opened(address)
        assert page.evaluate("quorum.lanes.rows.some((row) => row.sort === 'repair')")
        page.evaluate(f"quorum.player.seek({first['t']})")
        page.locator(".events button", has_text="expected to fail").first.click()
        reported = page.locator(".reader").inner_text()
        for violation in first["violations"]:
            target = violation["task"]["target"]
            assert f"{target}: {violation['constraint']}, {violation['expected']} of {violation['needed']}" in reported
        assert "Advised:" in reported
        page.locator(".reader button", has_text=first["replaced"][0]).click()
        assert page.locator(".reader h2").first.inner_text().startswith(f"plan {first['replaced'][0]}")
        assert complaints == []


def test_an_episode_without_repairs_has_no_lane_for_them(site: str, episodes: dict[str, Path], opened: Open) -> None:
    page, _ = opened(f"{site}run/{episodes['cube'].name}")
    assert not page.evaluate("quorum.lanes.rows.some((row) => row.sort === 'repair')")
