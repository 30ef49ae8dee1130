"""What tests of several rooms share."""

from __future__ import annotations

import atexit
import gc
import logging
import multiprocessing
import os
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from multiprocessing import forkserver
from pathlib import Path

import pytest
from hypothesis import settings

from quorum_base.compilation.cache import NoFolder, cache_folder
from quorum_base.user_cache import user_cache
from tests.templates import share_templates

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = ROOT / "tests" / "plugins"
EXAMPLES = ROOT / "examples"
CORRIDOR = ("--plugin", "walker", "--config-dir", str(PLUGINS / "corridor_configs"), "env=corridor", "agents=walker")
"""Arguments that choose the world of the examples, and minds of the tests."""
PATIENCE = 600.0
"""Seconds after which a test takes something to hang. No test measures speed, so a busy machine fails none. pytest ends
the test itself after 900 s (pyproject.toml)."""

# The same examples every time, so that a check that passed passes again: `make search` draws new ones.
settings.register_profile("few", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("full", max_examples=100, deadline=None, derandomize=True)  # of `make conformance`
settings.register_profile("search", max_examples=400, deadline=None, print_blob=True)  # of `make search`
settings.load_profile("few")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background, which every command would inherit
    signal.signal(signal.SIGINT, signal.default_int_handler)
with suppress(NoFolder, OSError):  # a test with its own caches neither compiles all kernels nor lists all fonts
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder()))
    os.environ.setdefault("MPLCONFIGDIR", str(user_cache().parent / "matplotlib"))
    os.environ.setdefault("PLAYWRIGHT_BROWSERS_PATH", str(user_cache().parent / "ms-playwright"))
_NUMBERS = count()


def pytest_configure(config: pytest.Config) -> None:
    """Have all processes of a session share the templates of configurations, and keep their answers in one folder.

    A process that only imports this module inherits the folder, and leaves none behind.
    """
    share_templates()
    caches = tempfile.TemporaryDirectory(prefix="caches-", ignore_cleanup_errors=True)
    os.environ["XDG_CACHE_HOME"] = caches.name
    config.add_cleanup(caches.cleanup)


def pytest_xdist_auto_num_workers() -> int:
    """Run four workers on two cores with `-n auto`: a worker often waits for a server, a browser or a process."""
    return 2 * (os.cpu_count() or 1)


IN_A_BROWSER = (
    "pages/test_pages.py",
    "viewer/test_episode_page.py",
    "viewer/test_sweep_page.py",
    "viewer/test_hostile.py",
)
"""The files whose pages `make test` opens in a browser: each kind of page, and pages of hostile folders."""


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect all tests without the collector of cycles, which then passes over the modules and the tests.

    They stay until the end, and to look through them again and again took half of the time of collecting.
    """
    gc.disable()
    yield
    gc.collect()
    gc.freeze()
    gc.enable()
    atexit.register(gc.unfreeze)  # libraries look at the end whether their objects are gone


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave most tests in a browser to `make conformance`: all together they take a quarter of the time."""
    for item in items:
        opens = isinstance(item, pytest.Function) and "browser" in item.fixturenames
        if opens and not item.path.as_posix().endswith(IN_A_BROWSER):
            item.add_marker(pytest.mark.conformance)


def command(*arguments: str) -> list[str]:
    """Give the command line of `quorum`, as a user would type it."""
    return [sys.executable, "-m", "quorum", *arguments]


def one_each(*words: str) -> list[str]:
    """Give `KEY=VALUE` words in which the last of those for one key takes the place of the others."""
    return list({word.partition("=")[0]: word for word in words}.values())


def environment(**changes: str) -> dict[str, str]:
    """Return an environment in which the checkout, the plugins of the tests and the examples are found."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, PLUGINS, EXAMPLES))),
        "COLUMNS": "100",
        **changes,
    }


LEFT_BEHIND = ("never retrieved", "was destroyed but it is pending", "was never awaited")
"""What Python says about a task or a coroutine that nobody has waited for."""


class _LeftBehind(logging.Handler):
    """Keeps what event loops say about tasks that were left behind."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.reports: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        if any(words in text for words in LEFT_BEHIND):
            self.reports.append(text)


_LEFT = _LeftBehind()
logging.getLogger("asyncio").addHandler(_LEFT)


@pytest.fixture(autouse=True)
def _answers_of_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test an empty cache: another test's server may have had the same port and answered the same prompt."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path(os.environ["XDG_CACHE_HOME"], str(next(_NUMBERS)))))


@pytest.fixture(autouse=True)
def _no_task_is_left_behind() -> Iterator[None]:
    """Fail when an event loop reports a task whose failure nobody has seen, or that never came to its end.

    A task that only the collector of cycles finds is reported in a later test.
    """
    yield
    reports, _LEFT.reports = _LEFT.reports, []
    assert not reports, "\n".join(reports)


@pytest.fixture(scope="session")
def hanging_up() -> Iterator[str]:
    """Give the address of a server that accepts connections and hangs up: a run starts there, and fails."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


Quorum = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    """Run the command in an empty folder, by `forked`; `command` gives what a user types, for tests of all that."""

    def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return forked(arguments, tmp_path, environment(**changes))

    return run


def forked(arguments: Sequence[str], folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, in a process that is forked from a server that has imported the project.

    To start Python and to import takes a command longer than its work. The workers of its sweeps are forked from that
    server, too; the answer lacks what they write to standard error.
    """
    with tempfile.TemporaryDirectory() as streams:
        out, err = Path(streams) / "out", Path(streams) / "err"
        process = FORKS.Process(target=_be_quorum, args=(tuple(arguments), folder, variables, out, err))
        process.start()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(command(*arguments), PATIENCE, out.read_text(), err.read_text())
        shown, errors = out.read_text("utf-8"), err.read_text("utf-8")
        assert not any(words in errors for words in LEFT_BEHIND), errors
        return subprocess.CompletedProcess(command(*arguments), process.exitcode or 0, shown, errors)


FORKS = multiprocessing.get_context("forkserver")
"""Processes forked from a server that has imported the project already."""
FORKS.set_forkserver_preload(["tests.conftest", "tests.warm"])


def _be_quorum(arguments: tuple[str, ...], folder: Path, variables: dict[str, str], out: Path, err: Path) -> None:
    for stream, target in enumerate((Path(os.devnull), out, err)):
        os.dup2(os.open(target, os.O_RDWR | os.O_CREAT), stream)
    be_quorum(arguments, folder, variables)


def be_quorum(arguments: tuple[str, ...], folder: Path, variables: dict[str, str]) -> None:
    """Run the command in this process, which `FORKS` has forked for it."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[1:1] = variables["PYTHONPATH"].split(os.pathsep)
    sys.argv = ["quorum", *arguments]
    forkserver._forkserver.ensure_running = lambda: None  # its workers come from there, too
    from maeil.metrics.registry import METRICS
    from quorum.cli import main
    from quorum.comparison.figures.registry import FIGURES

    METRICS._loading = FIGURES._loading = False  # the server has looked for packages on its own path
    main()
