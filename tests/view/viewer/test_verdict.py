"""What `quorum blame` has found stands on the lanes and in the reader; a file that is none does no harm."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from quorum.runs.run_folder import RunFolder
from quorum.view.viewer.episode import BLAME, read_episode, read_verdict
from tests.view.viewer.conftest import Open, served

NAMES = ("agent_0", "agent_1", "agent_2")
VERDICT = {
    "method": "branches", "agent": "agent_1", "t": 20, "t_hat": 248, "kind": "wrong_task", "probability": 0.9,
    "reruns": 12, "calls": 3, "reason": "With another plan there, the team reaches its goals.",
}  # fmt: skip
FLIPS = [
    {"agent": "agent_1", "t": 20, "t_hat": 248, "kind": "wrong_task", "persists": False, "command": "rm -r x"},
    {"agent": "agent_2", "t": 28, "t_hat": 347, "kind": "idle", "persists": True, "command": "rm -r x"},
]
for cause in FLIPS:
    cause["corrected"] = {"wins": 1, "draws": 1}
FLIPS.append({**FLIPS[0], "t": 9, "corrected": {"wins": 0, "draws": 1}})


def blamed(run: Path, target: Path, data: Any) -> Path:
    shutil.copytree(run, target)
    (target / BLAME).write_text(data if isinstance(data, str) else json.dumps(data))
    return target


def test_the_verdict_is_read_with_the_number_of_its_agent(tmp_path: Path) -> None:
    tmp_path.joinpath(BLAME).write_text(json.dumps({"verdict": {**VERDICT, "causes": FLIPS}, "version": "1"}))
    found = read_verdict(RunFolder(tmp_path), NAMES)
    assert found is not None
    assert (found["agent"], found["who"], found["t"], found["t_hat"]) == (1, "agent_1", 20, 248)
    assert [(flip["agent"], flip["t"]) for flip in found["flips"]] == [(2, 28)], "its own stands once"
    assert "rm -r" not in json.dumps(found), "no untrusted command is passed on"


def test_where_nothing_was_asked_there_is_no_verdict(tmp_path: Path) -> None:
    assert read_verdict(RunFolder(tmp_path), NAMES) is None


@pytest.mark.parametrize(
    "data",
    [
        "", "[]", "{}", '{"verdict": 1}', '{"verdict": {"t": -1}}', '{"verdict": {"t": 1e400}}',
        '{"verdict": {"t": "x"}}',
        '{"verdict": {"t": 9007199254740993}}', '{"verdict": {"reruns": 123456789012345678901234567890}}',
        '{"verdict": {"t_hat": NaN}}', '{"verdict": {"reason": ["a"]}}', "[" * 100_000,
    ],
)  # fmt: skip
def test_a_file_that_is_no_verdict_is_reported_and_the_run_is_shown(
    data: str, episodes: dict[str, Path], tmp_path: Path
) -> None:
    overview = read_episode(blamed(episodes["squeeze"], tmp_path / "run", data)).overview
    assert overview["verdict"] is None
    assert any("result of quorum blame cannot be read: blame.json" in problem for problem in overview["problems"])
    assert overview["steps"] > 0


def test_a_link_in_its_place_is_not_followed(episodes: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(json.dumps({"verdict": VERDICT}))
    shutil.copytree(episodes["squeeze"], tmp_path / "run")
    (tmp_path / "run" / BLAME).symlink_to(tmp_path / "secret")
    overview = read_episode(tmp_path / "run").overview
    assert overview["verdict"] is None
    assert any("link" in problem for problem in overview["problems"])


def test_it_is_marked_on_the_lanes_and_its_text_is_shown(
    episodes: dict[str, Path], tmp_path: Path, opened: Open
) -> None:
    run = blamed(episodes["cube"], tmp_path / "run", {"verdict": {**VERDICT, "causes": FLIPS}})
    with served(run) as address:
        page, complaints = opened(address)
        assert "With another plan there" in page.locator(".reader .why").inner_text()
        page.locator(".reader .why button").click()
        assert page.evaluate("quorum.player.t") == 20
        rows = page.evaluate("quorum.lanes.rows.filter(row => row.sort === 'verdict').length")
        assert rows == 1
        page.set_viewport_size({"width": 1280, "height": 1800})
        page.evaluate("quorum.lanes.draw()")
        hits = page.evaluate("""quorum.lanes.hits.filter(hit => hit[4] === 'verdict')
          .map(([x0,, x1,,, item]) => [(x0 + x1) / 2, item.t, item.main])""")
        place = page.evaluate("104 + quorum.model.axis.at(20, 248) * quorum.lanes.scale")
        main = [x for x, t, main in hits if main and t == 20]
        assert main == pytest.approx([place, place]), "in its own lane, and in that of its agent"
        assert [t for _, t, main in hits if not main] == [28]
        page.locator(".events button", has_text="blame:").first.click()
        reported = page.locator(".reader").inner_text()
        assert "agent_1: wrong task, at t = 20, t^ = 248" in reported
        assert "method: branches, probability: 90 %, episodes played again: 12, calls of models: 3" in reported
        assert complaints == []


@pytest.mark.parametrize("agent", [None, "nobody of this run"])
def test_a_verdict_that_names_no_decision_is_reported_all_the_same(
    agent: str | None, episodes: dict[str, Path], tmp_path: Path, opened: Open
) -> None:
    verdict = {**VERDICT, "agent": agent, "t": None, "t_hat": None, "reason": "No single decision."}
    with served(blamed(episodes["cube"], tmp_path / "run", {"verdict": verdict})) as address:
        page, complaints = opened(address)
        reported = page.locator(".reader .why").inner_text()
        assert (agent or "Nobody is named") in reported
        assert "No single decision." in reported
        assert complaints == []
