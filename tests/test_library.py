"""The library works where the command never is: in any thread, in an event loop, in a forked child, and under spawn."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import quorum
from maeil.trace import comparable
from quorum.api import SweepResult
from quorum.sweeps.engines.local import _apart
from quorum.sweeps.stopping import Stop
from quorum.verbs.app import app
from tests.conftest import PATIENCE, PLUGINS, environment
from tests.sweeps.conftest import leftovers, stamps

CONFIGS = PLUGINS / "corridor_configs"
WORDS = ("env=corridor", "agents=walker", "n=1", "engine.workers=1")
SLOW = ("env.length=5", "agents.pause=0.1", "seed=range(0,20)")
"""Twenty episodes of half a second each."""
HEAD = f"""
    import os, signal, sys, threading, time
    import quorum

    def sweep(name, *words):
        done = quorum.sweep(*{WORDS!r}, *words, name=name, plugins=["walker"], config_dir={str(CONFIGS)!r})
        return len(done.finished), done.left
"""
"""The beginning of programs."""


def sweep(out: Path, name: str, *words: str, **options: Any) -> SweepResult:
    return quorum.sweep(*WORDS, *words, out=out, name=name, plugins=["walker"], config_dir=CONFIGS, **options)


def until(happens: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def started(folder: Path, program: str) -> subprocess.Popen[str]:
    (folder / "program.py").write_text(textwrap.dedent(HEAD) + textwrap.dedent(program))
    return subprocess.Popen(
        [sys.executable, "program.py"], cwd=folder, env=environment(), text=True, stdout=subprocess.PIPE, stderr=-1
    )


def lines(folder: Path, program: str) -> list[str]:
    """Run a program to its end and return what it prints."""
    process = started(folder, program)
    try:
        out, reported = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, reported) == (0, "")
    return out.splitlines()


def test_two_sweeps_at_once_in_threads(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(sweep, tmp_path, name, "seed=0,1") for name in "ab"]
    assert [(len(one.result().finished), one.result().left) for one in both] == [(2, 0), (2, 0)]
    assert leftovers(tmp_path / "a") == leftovers(tmp_path / "b") == []


def test_runs_at_once_in_threads_that_ask_models(tmp_path: Path) -> None:
    def run(seed: int) -> quorum.Result:
        return quorum.run("n=2", "agents=naive", "llm=simulated", "max_steps=3", f"seed={seed}", out=tmp_path)

    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(run, (1, 2, 1)))
    assert comparable(found[0].folder) == comparable(found[2].folder) != comparable(found[1].folder)


async def test_a_sweep_inside_an_event_loop(tmp_path: Path) -> None:
    done = sweep(tmp_path, "s", "seed=0")
    assert done.left == 0
    assert "1 of 1 done" in done._repr_mimebundle_()["text/html"]


def test_a_thread_cancels_a_sweep_which_another_one_cannot_enter_and_what_is_done_stays(tmp_path: Path) -> None:
    stop, folder = quorum.Cancellation(), tmp_path / "s"
    with ThreadPoolExecutor(1) as threads:
        under_way: Future[SweepResult] = threads.submit(sweep, tmp_path, "s", *SLOW, cancel=stop)
        until(lambda: stamps(folder))
        with pytest.raises(quorum.UserError, match="another quorum sweep is running in this folder"):
            sweep(tmp_path, "s", *SLOW)
        stop.cancel()
    first = under_way.result()
    done = stamps(folder)
    assert (first.stop, first.reason) == (Stop.CANCELLED, "cancelled")
    assert len(first.finished) == len(done) == 20 - first.left
    assert 0 < first.left < 20
    assert leftovers(folder) == []
    again = sweep(tmp_path, "s", *SLOW, limit=1)
    assert (again.before, len(again.finished)) == (len(done), 1)
    assert done.items() <= stamps(folder).items()
    assert sweep(tmp_path, "s", *SLOW, cancel=stop).finished == ()


def test_to_cancel_twice_drops_what_is_under_way(tmp_path: Path) -> None:
    stop = quorum.Cancellation()
    with ThreadPoolExecutor(1) as threads:
        under_way = threads.submit(sweep, tmp_path, "s", "agents.pause=60", cancel=stop)
        until(lambda: list(tmp_path.glob("s/*.partial-*")))
        stop.cancel()
        time.sleep(0.5)
        assert not under_way.done()
        stop.cancel()
        assert under_way.result(30).stop is Stop.CANCELLED
    assert (under_way.result().finished, under_way.result().reason) == ((), "cancelled; cells in progress are dropped")
    assert leftovers(tmp_path / "s") == []


def test_ctrl_c_raises_also_where_a_cancellation_is_given(tmp_path: Path) -> None:
    def press() -> None:
        until(lambda: list(tmp_path.glob("s/*.partial-*")))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path, "s", *SLOW, cancel=quorum.Cancellation())
    assert 0 < len(stamps(tmp_path / "s")) < 20


@pytest.mark.conformance
def test_a_forked_child_and_a_daemon_have_their_own_workers(tmp_path: Path) -> None:
    program = """
        import multiprocessing
        print("parent", *sweep("a", "seed=0"), flush=True)
        if (child := os.fork()) == 0:
            print("child", *sweep("b", "seed=0"), flush=True)
            sys.exit()
        os.waitpid(child, 0)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            print("daemon", *pool.apply(sweep, ("c", "seed=0")), flush=True)
        print("parent", *sweep("d", "seed=0"))
    """
    assert lines(tmp_path, program) == ["parent 1 0", "child 1 0", "daemon 1 0", "parent 1 0"]


@pytest.mark.conformance
def test_a_child_that_ends_while_another_thread_sweeps_leaves_its_workers_alone(tmp_path: Path) -> None:
    program = """
        found = []
        words = "env.length=5", "agents.pause=0.1", "seed=0,1,2"
        thread = threading.Thread(target=lambda: found.extend(sweep("s", *words)))
        thread.start()
        while not any(".partial-" in name for name in os.listdir("runs/s")):
            time.sleep(0.01)
        if os.fork() == 0:
            sys.exit()
        os.wait()
        thread.join()
        print(*found)
    """
    (tmp_path / "runs" / "s").mkdir(parents=True)
    assert lines(tmp_path, program) == ["3 0"]
    assert not (tmp_path / "runs" / "s" / ".retried").exists()


@pytest.mark.conformance
def test_the_locks_of_a_killed_process_die_with_it_though_a_child_lives_whose_signals_are_its_own(
    tmp_path: Path,
) -> None:
    program = f"""
        def fork():
            while not any(".partial-" in name for name in os.listdir("runs/s")):
                time.sleep(0.01)
            if os.fork() == 0:
                print(os.getpid(), flush=True)
                time.sleep(36_000)
        threading.Thread(target=fork).start()
        sweep("s", *{SLOW!r})
    """
    (tmp_path / "runs" / "s").mkdir(parents=True)
    process = started(tmp_path, program)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    try:
        process.kill()
        begin = time.monotonic()
        assert len(sweep(tmp_path / "runs", "s", *SLOW, limit=1).finished) == 1
        assert time.monotonic() - begin < PATIENCE
    finally:
        os.kill(child, signal.SIGTERM)
    deadline = threading.Timer(30, os.kill, (child, signal.SIGKILL))
    deadline.start()
    process.communicate()  # until the child is no more
    assert deadline.is_alive(), "the child took SIGTERM for a wish to stop the sweep of its parent"
    deadline.cancel()


@pytest.mark.conformance
def test_workers_are_spawned_where_the_program_wants_it_so(tmp_path: Path) -> None:
    program = """
        import multiprocessing.forkserver
        multiprocessing.set_start_method("spawn")
        print(*sweep("s", "seed=0,1"), multiprocessing.forkserver._forkserver._forkserver_pid)
    """
    assert lines(tmp_path, program) == ["2 0 None"]


def test_other_threads_find_the_main_module_while_a_worker_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "mine", textwrap.dedent, raising=False)
    before = dict(os.environ)
    with _apart() as variables:
        assert sys.modules["__main__"] is not main
        assert sys.modules["__main__"].mine is textwrap.dedent
        assert pickle.loads(pickle.dumps(textwrap.dedent)) is textwrap.dedent
        assert variables == before
    assert sys.modules["__main__"] is main
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("function", "arguments", "options", "reported"),
    [
        ("run", ("n=4", 3), {}, ["overrides.1: 3 is not text"]),
        ("run", (["n=4", "seed=1"],), {}, ["overrides.0: ['n=4', 'seed=1'] is not text"]),
        ("run", (), {"out": 5}, ["out: 5 is not text or 5 is not a path"]),
        ("run", (), {"plugins": None}, ["plugins: null is not a list"]),
        ("run", (), {"plugins": "walker"}, ["plugins: 'walker' is not a list"]),
        ("run", (), {"strict": "yes", "config_dir": 1}, ["strict: 'yes' is not true or false", "config_dir: 1 is not"]),
        ("run", (), {"n": 4}, ["unexpected keyword argument 'n'", "'n=4'"]),
        ("sweep", ("n=4",), {"limit": -1}, ["limit: -1 is not allowed: it must be at least 0"]),
        ("sweep", (), {"limit": True}, ["limit: true is not a whole number"]),
        ("sweep", (), {"budget_usd": "x", "plugins": None, "out": 5}, ["budget_usd: 'x'", "plugins: null", "out: 5"]),
        ("sweep", (), {"budget_usd": float("nan")}, ["budget_usd: nan is not allowed: it must be more than 0"]),
        ("sweep", (), {"budget_tokens": 1.5}, ["budget_tokens: 1.5 is not a whole number"]),
        ("sweep", (), {"seed": [1, 2]}, ["unexpected keyword argument 'seed'"]),
        ("sweep", (), {"name": 5}, ["name: 5 is not text"]),
        ("sweep", (), {"cancel": threading.Event}, ["is not a Cancellation"]),
        ("sweep", (), {"progress": 1, "skip_invalid": 0}, ["progress: 1", "skip_invalid: 0"]),
        ("results", (None,), {}, ["folder: null is not text or null is not a path"]),
        ("results", (), {}, ["missing a required argument: 'folder'"]),
        ("results", ("a", "b"), {}, ["too many positional arguments"]),
        ("compare", (), {}, ["name the folder"]),
        ("compare", (["a", "b"],), {}, ["folders.0: ['a', 'b'] is not text"]),
        ("compare", ("a",), {"by": [3]}, ["by: [3] is not text"]),
        ("compare", ("a",), {"metrics": 5, "statistic": None}, ["metrics: 5 is not text", "statistic: null"]),
        ("compare", ("a",), {"across": 2}, ["across: 2 is not text"]),
    ],
)
def test_arguments_of_a_wrong_type_are_one_mistake_that_names_them(
    function: str, arguments: tuple[Any, ...], options: dict[str, Any], reported: list[str], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(quorum.UserError) as refused:
        getattr(quorum, function)(*arguments, **options)
    assert [words for words in (f"{function}(): ", *reported) if words not in str(refused.value)] == []
    assert not list(tmp_path.iterdir())


def test_the_command_refuses_a_limit_below_nothing_as_well() -> None:
    refused = CliRunner().invoke(app, ["sweep", "n=2", "--limit", "-1"])
    assert (refused.exit_code, "--limit" in refused.output) == (2, True)
