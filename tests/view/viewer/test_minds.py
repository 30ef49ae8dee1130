"""The page says who had which mind, in a team of several."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from quorum.view.viewer.episode import read_episode
from tests.recorded import recorded_run
from tests.view.viewer.conftest import Open, served

MIXED = ["n=2", "agents=naive", "agents.members.agent_0=negotiator", "topology=debate", "max_steps=6"]


@pytest.fixture(scope="module")
def mixed() -> Path:
    return recorded_run(*MIXED)


def test_an_episode_tells_the_mind_of_each_participant(mixed: Path, episodes: dict[str, Path]) -> None:
    overview = read_episode(mixed).overview
    assert overview["minds"] == {"agent_0": "negotiator", "agent_1": "naive"}
    assert overview["facts"]["team"] == "naive+negotiator@0"
    alike = read_episode(episodes["squeeze"]).overview
    assert alike["minds"] == {}
    assert "team" not in alike["facts"]


def test_a_folder_that_says_something_else_than_names_is_damaged(mixed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for file in mixed.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    meta = orjson.loads((folder / "meta.json").read_bytes())
    (folder / "meta.json").write_bytes(orjson.dumps({**meta, "minds": {"agent_0": ["x"]}}))
    overview = read_episode(folder).overview
    assert overview["minds"] == {}
    assert any("meta.json" in problem for problem in overview["problems"])


def test_the_rows_of_the_lanes_are_labelled_with_the_minds(mixed: Path, opened: Open) -> None:
    with served(mixed) as address:
        page, complaints = opened(address)
        assert page.evaluate("quorum.lanes.model.lane(0)") == "agent_0 · negotiator"
        assert page.locator(".facts").first.inner_text().count("naive+negotiator@0") == 1
    assert complaints == []
