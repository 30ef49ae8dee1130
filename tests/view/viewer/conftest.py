"""One browser, a few real episodes and one server for all tests of the viewer."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
import uvicorn

from quorum.episode.episode_folder import EpisodeFolder
from quorum.view.viewer.command import opened_library
from quorum.view.viewer.server import application
from tests.comparison.test_browser import BROWSERS, INSTALL
from tests.conftest import PATIENCE
from tests.recorded import copied_run, recorded_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

TOKEN = "a-token-of-the-tests"
EPISODES = {
    "cube": ["n=3", "agents=naive", "topology=debate", "max_steps=60", "llm.temperature=0"],
    "crafter": ["n=2", "env=crafter_coop", "agents=heuristic", "max_steps=25"],
    "transport": ["n=4", "env=transport_hard", "agents=heuristic", "seed=1"],
    "squeeze": ["n=3", "env=squeeze", "agents=heuristic", "max_steps=8"],
    "foraging": ["n=3", "env=foraging", "agents=heuristic"],
    "overcooked": ["env=overcooked", "agents=heuristic", "env.soups=1"],
}


@pytest.fixture(scope="session")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Real runs, one of each world, in one folder."""
    out = tmp_path_factory.mktemp("viewer") / "runs"
    return {world: copied_run(out, *arguments) for world, arguments in EPISODES.items()}


NEXT_TO = ["n=3", "agents=naive", "topology=centralized", "max_steps=25", "llm.temperature=0"]
"""As the run of CUBE, but for the topology; and it is stopped before its end."""


@pytest.fixture(scope="session")
def two(episodes: dict[str, Path]) -> tuple[Path, Path]:
    """Two runs of one board."""
    return episodes["cube"], recorded_run(*NEXT_TO)


def started(folder: Path, run: Path) -> EpisodeFolder:
    """Write the first half of a run, as one that is under way."""
    half = EpisodeFolder(folder, "started", once=True)
    lines = (run / "trace.jsonl").read_bytes().splitlines(keepends=True)
    (half.path / "trace.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    for file in ("config.yaml", "calls.jsonl"):
        if (run / file).exists():
            shutil.copy(run / file, half.path)
    return half


SIXTEEN = ["n=16", "agents=naive", "topology=decentralized", "max_steps=20", "llm.temperature=0"]


@pytest.fixture(scope="session")
def sixteen() -> Path:
    """A run of a large team that talks."""
    return recorded_run(*SIXTEEN)


@pytest.fixture(scope="module")
def browser(episodes: dict[str, Path]) -> Iterator[Browser]:
    """A browser, for one module alone: while it is open there is an event loop, and nothing else can have one."""
    api = pytest.importorskip("playwright.sync_api", reason="pip install 'quorum-harness[test]'")
    with api.sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        path = next(filter(None, map(shutil.which, (*BROWSERS, own))), None)
        if path is None:
            pytest.skip(INSTALL)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def served(*folders: Path) -> Iterator[str]:
    """Serve a folder, or two runs side by side, as the command does; give the address of the page."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        port = listener.getsockname()[1]
        app = application(opened_library(folders), TOKEN, port)
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{port}/{TOKEN}/"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


@pytest.fixture(scope="session")
def site(episodes: dict[str, Path]) -> Iterator[str]:
    """The address of the page of all real runs."""
    with served(episodes["cube"].parent) as address:
        yield address


Open = Callable[..., "tuple[Page, list[str]]"]
SIZE: ViewportSize = {"width": 1280, "height": 800}


class Tabs:
    """The tabs of one browser, lent to one test after the other: to open one costs more than to load a page.

    Args:
        browser: that opens them.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[tuple[str, bool], list[Page]] = {}

    @contextmanager
    def tab(self, address: str, scheme: Literal["light", "dark"] = "light", offline: bool = False) -> Iterator[Page]:
        """Lend a tab of the usual size with an empty storage, in which this address can be loaded.

        It may still show another page of the same server: to leave that for an empty page takes a new process.
        """
        free = self._free.setdefault((scheme, offline), [])
        page = free.pop() if free else self._new(scheme, offline)
        same_server = page.url.partition(TOKEN)[0] == address.partition(TOKEN)[0]
        if not same_server or page.url.partition("#")[0] == address.partition("#")[0]:
            page.goto("about:blank")
        yield page
        for other in page.context.pages:
            if other != page:
                other.close()
        if page.url.startswith(("http:", "file:")):
            page.evaluate("() => localStorage.clear()")
        page.mouse.move(0, 0)
        page.set_viewport_size(SIZE)
        free.append(page)

    def _new(self, scheme: Literal["light", "dark"], offline: bool) -> Page:
        context = self._browser.new_context(
            viewport=SIZE, color_scheme=scheme, offline=offline, reduced_motion="reduce"
        )
        return context.new_page()


def load(page: Page, address: str, *, whole: bool = True) -> None:
    """Load a page, and wait until all of it is there."""
    page.goto(address)
    if whole:
        page.wait_for_selector("html[data-ready=yes]", timeout=1000 * PATIENCE)


@contextmanager
def complaints_of(page: Page, home: str) -> Iterator[list[str]]:
    """Collect what the browser complains of, and what it asks of any other address."""
    complaints: list[str] = []
    listeners: dict[str, Callable[[Any], object]] = {
        "console": lambda message: complaints.append(message.text),
        "pageerror": lambda error: complaints.append(str(error)),
        "dialog": lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()),
        "request": lambda request: request.url.startswith(home) or complaints.append(request.url),
    }
    for event, listener in listeners.items():
        page.on(event, listener)  # type: ignore[call-overload]
    yield complaints
    for event, listener in listeners.items():
        page.remove_listener(event, listener)


@pytest.fixture(scope="module")
def tabs(browser: Browser) -> Tabs:
    """The tabs of the browser."""
    return Tabs(browser)


@pytest.fixture
def opened(tabs: Tabs) -> Iterator[Open]:
    """Opens a page; gives it, and all that the browser complains of or asks of any other address."""
    with ExitStack() as lent:

        def open_page(
            address: str, *, scheme: Literal["light", "dark"] = "light", offline: bool = False, whole: bool = True
        ) -> tuple[Page, list[str]]:
            page = lent.enter_context(tabs.tab(address, scheme, offline))
            home = address.split("#", maxsplit=1)[0].split("run/", maxsplit=1)[0]
            complaints = lent.enter_context(complaints_of(page, home))
            load(page, address, whole=whole)
            return page, complaints

        yield open_page
