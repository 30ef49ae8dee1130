"""A run that is under way, in the browser: the page goes on with it, and stops when it is whole."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.episode.episode_folder import PARTIAL, EpisodeFolder, is_under_way
from quorum.runs.run_folder import RunFolder
from quorum.view.viewer.episode import read_episode
from quorum.view.viewer.page import exported_page
from tests.conftest import PATIENCE, command, environment
from tests.serving import served as model_served
from tests.view.viewer.conftest import Open, served, started

if TYPE_CHECKING:
    from playwright.sync_api import Page

BRAIN = SimulatedModel(SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 0}))
FEW = 8
"""Answers before a model is let go."""


def until(holds: Callable[[], bool], page: Page | None = None) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        if page is None:
            time.sleep(0.05)
        else:
            page.wait_for_timeout(50)


class Held:
    """A model that gives a few answers, and the others when it is let go: however slow the machine is that looks on."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self._asked = 0

    async def complete(self, request: Request) -> Reply:
        self._asked += 1
        while self._asked > FEW and not self.let_go.is_set():
            await asyncio.sleep(0.05)
        return await BRAIN.complete(request)


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def slow_run(tmp_path: Path, held: Held) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A run over a slow server; its process, and the folder that it writes."""
    with model_served(held, latency=0.6) as addresses:
        llm = ["llm=openai", f"llm.base_url={addresses.openai}", "llm.model=simulated", "llm.api_key_env=null"]
        team = ["agents=naive", "n=2", "max_steps=30", "topology=debate", "llm.cache=false"]
        process = subprocess.Popen(command("run", *team, *llm, "--quiet"), cwd=tmp_path, env=environment())
        try:
            until(lambda: any(trace.stat().st_size for trace in tmp_path.glob(f"runs/*{PARTIAL}*/trace.jsonl")))
            yield process, next(tmp_path.glob(f"runs/*{PARTIAL}*"))
        finally:
            process.kill()
            process.wait()


def _last(page: Page) -> int:
    last: int = page.evaluate("quorum.player.last")
    return last


def _t(page: Page) -> int:
    t: int = page.evaluate("quorum.player.t")
    return t


def test_the_page_goes_on_with_the_run_and_stops_when_it_is_whole(
    slow_run: tuple[subprocess.Popen[bytes], Path], held: Held, opened: Open
) -> None:
    process, folder = slow_run
    with served(folder) as address:
        page, complaints = opened(address)
        assert page.locator(".badge.under-way").inner_text() == "under way"
        assert page.locator(".problems").is_hidden()
        begin = _last(page)
        held.let_go.set()
        until(lambda: _last(page) > max(begin, 1), page)  # before the end, step 1 is a step to stand still at
        assert _t(page) == _last(page)  # it stood at the end, and goes on with it
        page.evaluate("quorum.player.seek(1)")
        seen = _last(page)
        until(lambda: _last(page) > seen, page)
        assert (_t(page), page.locator("output.clock").inner_text()) == (1, f"t = 1 of {_last(page)}")
        assert page.evaluate("quorum.picture().t") == 1
        page.evaluate("quorum.player.seek(quorum.player.last)")
        until(lambda: page.locator(".badge.under-way").count() == 0, page)
        assert process.wait(PATIENCE) == 0
        (whole,) = folder.parent.iterdir()
        steps = json.loads((whole / "metrics.json").read_text())["outcome.steps"]
        assert (_last(page), _t(page)) == (steps, steps)
        assert page.evaluate("quorum.picture().t") == steps
        assert page.locator("h1").inner_text() == whole.name
        assert "truncated" in page.locator(".facts").inner_text()
        assert page.locator(".problems").is_hidden()
        asked: list[str] = []
        page.on("request", lambda request: "/api/" in request.url and asked.append(request.url))
        page.wait_for_timeout(3000)
        assert asked == []
        assert page.evaluate("quorum.source.call(0).then((call) => call.agent)").startswith("agent_")
    assert complaints == []


def test_a_run_that_has_not_grown_is_not_read_again(tmp_path: Path, episodes: dict[str, Path], opened: Open) -> None:
    running = started(tmp_path, episodes["cube"])
    with running.guarded(), served(running.path) as address:
        page, _ = opened(address)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
        until(lambda: asked.count("progress") == 2, page)
    assert "episode" not in asked


def test_a_run_that_was_killed_is_not_followed(slow_run: tuple[subprocess.Popen[bytes], Path], opened: Open) -> None:
    process, folder = slow_run
    assert is_under_way(folder)
    assert read_episode(folder).overview["under_way"]
    exported = exported_page(read_episode(folder))
    process.kill()
    process.wait()
    assert not is_under_way(folder)
    with served(folder) as address:
        page, _ = opened(address)
        assert page.locator(".badge.under-way").count() == 0
        assert "the run was stopped" in page.locator(".problems").inner_text()
    file = folder.parent / "exported.html"
    file.write_text(exported)
    page, complaints = opened(file.as_uri())
    assert page.locator(".badge.under-way").count() == 0
    assert "The run was under way when this file was written." in page.locator(".problems").inner_text()
    page.wait_for_timeout(2500)
    assert complaints == []


def test_a_run_of_a_sweep_is_found_by_its_passing_name_when_it_is_whole(tmp_path: Path) -> None:
    from quorum.view.viewer.library import Library

    (tmp_path / "sweep.json").write_text("{}")
    folder = EpisodeFolder(tmp_path, "cell", once=True)
    (folder.path / "trace.jsonl").write_bytes(b"")
    passing = folder.path.name
    library = Library.of(tmp_path)
    with folder.guarded():
        assert library.progress(passing) == {"read": 1.0, "under_way": True, "size": 0}
        folder.finish()
    assert library.folder(passing) == tmp_path / "cell"
    assert not library.progress(passing)["under_way"]
    assert library.folder(f"cell{PARTIAL}00000000") is None


@pytest.mark.parametrize("moment", ["read_episode", "trace_name", "row"])
def test_a_run_that_gets_its_final_name_while_it_is_read_is_read_as_a_whole(
    moment: str, tmp_path: Path, episodes: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the page of a run that has just ended had no pictures, or nothing at all."""
    from quorum.view.viewer import library as looked_at

    folder = EpisodeFolder(tmp_path, "cell", once=True)
    shutil.copytree(episodes["cube"], folder.path, dirs_exist_ok=True)
    library = looked_at.Library.of(folder.path)
    owner = looked_at if moment == "read_episode" else RunFolder
    usual = getattr(owner, moment)
    done: list[Path] = []

    def ends_first(*arguments: object) -> object:
        if not done:
            done.append(folder.finish())
        return usual(*arguments)

    monkeypatch.setattr(owner, moment, ends_first)
    with folder.guarded():
        episode = library.episode(folder.path.name)
        assert done == [tmp_path / "cell"]
        assert episode is not None
        assert episode.overview == read_episode(done[0]).overview
    assert not episode.overview["problems"]
    assert json.loads(episode.film.data(0))["pictures"]
