"""The command as a user meets it: in a separate process, in an empty folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from maeil.trace import comparable, read_trace
from tests.conftest import CORRIDOR, PATIENCE, Quorum, command, environment

MISTAKES = {
    ("run", "nn=8"): ["nn:", "'n'"],
    ("run", "env=cubee"): ["env:", "'cube'"],
    ("run", "n=abc"): ["n:", "'abc'", "whole number"],
    ("run", "n=0"): ["n:", "0", "at least 1"],
    ("run", "n=-3"): ["n:", "-3", "at least 1"],
    ("run", "max_steps=0"): ["max_steps:", "at least 1"],
    ("run", "topology.foo=1"): ["topology.foo:", "name"],
    ("run", "+x=1"): ["x:", "no such key"],
    ("run", "n=="): ["'n=='", "quote"],
    ("run", 'n="8'): ["cannot be read"],
    ("run", "n=2,4"): ["n:", "one value"],
    ("run", "n=shuffle(1,2)"): ["shuffle()", "seed"],
    ("run", "n=interval(0,1)"): ["interval()"],
    ("run", "env.blocks={1: 300}"): ["env:", "no room"],
    ("run", "env.layout=nowhere.txt"): ["env.layout:", "nowhere.txt"],
    ("run", "n=2", "env.layout=overlap.txt"): ["env.layout: ", "block 1 (B)"],
    ("run", "--out", "file/runs"): ["--out file/runs", "cannot be written"],
    ("run", "--out", "/proc/nowhere"): ["--out /proc/nowhere", "cannot be written"],
    ("run", "--plugin", "no_such_plugin"): ["--plugin no_such_plugin"],
    ("run", "--config-dir", "nowhere"): ["--config-dir nowhere"],
    ("run", "--live", "--quiet"): ["--live", "--quiet"],
    ("show", "nn=8"): ["nn:", "'n'"],
    ("list", "envs"): ["'envs'", "'env'"],
}
OVERLAP = "....|\n.AA.|\n0AAB|\n1.BB|\n....|\n"


@pytest.mark.parametrize("arguments", MISTAKES, ids=" ".join)
def test_a_mistake_is_one_message_and_leaves_nothing(arguments, quorum: Quorum, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "overlap.txt").write_text(OVERLAP)
    done = quorum(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("error: ") == 1
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) <= 2
    for words in MISTAKES[arguments]:
        assert words in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "overlap.txt"]


def test_a_bug_keeps_its_traceback(quorum: Quorum, tmp_path: Path) -> None:
    (tmp_path / "breaks_us.py").write_text("from quorum.episode import runner\n\nrunner.play = None\n")
    done = quorum("run", *CORRIDOR, "--plugin", "breaks_us")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "runner.py" in done.stderr
    assert "TypeError: 'NoneType' object is not callable" in done.stderr


def test_a_mistake_of_a_plugin_shows_no_frame_unless_asked(quorum: Quorum) -> None:
    mistake = "walker.py:34, in Walker.think: RuntimeError: the walker stumbled\n"
    brief, all_of_it = (quorum("run", *CORRIDOR, "agents.fails_at=2", *more) for more in ((), ("--debug",)))
    assert (brief.returncode, all_of_it.returncode) == (1, 1)
    assert mistake in brief.stderr
    assert len(brief.stderr.splitlines()) == 3
    assert "--debug shows every frame" in brief.stderr
    assert mistake in all_of_it.stderr
    assert "scheduler.py" in all_of_it.stderr
    assert all_of_it.stderr.count("RuntimeError, raised in") == 1


def test_run_prints_a_summary_and_where_the_trace_is(quorum: Quorum, tmp_path: Path) -> None:
    done = quorum("run", *CORRIDOR, "n=2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(".....[a]\n.....[b]\n")
    for words in ("success", "2 / 2 goals", "environment steps", " seconds"):
        assert words in done.stdout
    assert "plans: number" not in done.stdout
    assert "plans: number" in quorum("run", *CORRIDOR, "n=2", "--all", "--out", "all").stdout
    trace = tmp_path / done.stdout.splitlines()[-1].removeprefix("trace: ")
    assert read_trace(trace).end is not None


def test_json_is_alone_on_standard_output(quorum: Quorum, tmp_path: Path) -> None:
    done = quorum("run", *CORRIDOR, "n=2", "--json", "--live", "--out", "there")
    data = json.loads(done.stdout)
    assert data["outcome"] == "success"
    assert data["metrics"]["outcome.reached"] == 2
    assert json.loads((tmp_path / data["folder"] / "metrics.json").read_text()) == data["metrics"]
    assert Path(data["folder"]).parent == Path("there")
    assert "step 0: 0/2 goals" in done.stderr


def test_quiet_prints_nothing(quorum: Quorum, tmp_path: Path) -> None:
    done = quorum("run", *CORRIDOR, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(list((tmp_path / "runs").iterdir())) == 1
    done = quorum("run", *CORRIDOR, "--quiet", "--json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["folder"].endswith(".2")


def test_live_without_a_terminal_tells_the_score_and_then_the_summary(quorum: Quorum) -> None:
    done = quorum("run", *CORRIDOR, "--live")
    assert done.returncode == 0
    assert done.stderr.splitlines() == ["step 0: 0/4 goals, score 0", "step 5: 4/4 goals, score 4"]
    assert "4 / 4" in done.stdout


def test_live_in_a_terminal_draws_board_and_team(tmp_path: Path) -> None:
    screen = _in_terminal(command("run", *CORRIDOR, "n=2", "--live"), tmp_path)
    for words in ("walker_1", "walk end", "walk(cells=1)", "goals", "trace: runs"):
        assert words in screen


def _in_terminal(arguments: list[str], folder: Path) -> str:
    import pty

    parent, child = pty.openpty()
    process = subprocess.Popen(
        arguments, cwd=folder, env=environment(TERM="xterm", LINES="30"), stdout=child, stderr=child, stdin=child
    )
    os.close(child)
    screen = b""
    try:
        while chunk := os.read(parent, 65536):
            screen += chunk
    except OSError:  # the terminal is closed at the end
        pass
    finally:
        os.close(parent)
        assert process.wait(60) == 0
    return screen.decode()


def test_show_prints_the_resolved_configuration_and_its_hash(quorum: Quorum, tmp_path: Path) -> None:
    text = quorum("show", "n=8").stdout
    data = json.loads(quorum("show", "n=8", "--json").stdout)
    assert text.splitlines()[:2] == [f"hash: {data['hash']}", "n: 8"]
    assert data["configuration"]["env"]["n"] == 8
    assert data["name"].startswith("cube-n8-heuristic-individual-s0-")
    assert list(tmp_path.iterdir()) == []


def test_list_shows_groups_options_knobs_and_third_parties(quorum: Quorum) -> None:
    text = quorum("list").stdout
    for words in ("env=", "  cube          CUBE: ", "topology=", "  individual ", "seed=0", "memory.messages=10"):
        assert words in text
    text = quorum("list", "env", *CORRIDOR[:4]).stdout
    for words in (
        "env.blocks=null",
        "  corridor      A corridor: everybody walks",
        "corridor_configs)",
        "env.length=5",
        "    n=1 ",
    ):
        assert words in text
    assert "topology=" not in text
    for words in ("env.env", "env.name", "env.n=", "env.max_steps"):
        assert words not in text, "these cannot be typed: others flow into them"
    text = quorum("list", "agents", "--plugin", "walker").stdout
    assert "  walker        registered, but without an option file: add --config-dir DIR" in text
    lines = quorum("list", "llm").stdout.splitlines()
    assert sum("llm.tries=" in line for line in lines) == 1, "a key that most options have is described once"
    assert [line.split() for line in lines if "OPENAI_API_KEY" in line][-1] == ["llm.api_key_env=OPENAI_API_KEY"]
    owners = " ".join(" ".join(lines).split()).partition("Keys of ")[2].partition(": llm.")[0]
    assert owners.endswith(
        "with their usual values; of echo, random, simulated, all but llm.model, llm.api_key_env, llm.prices"
    )
    assert owners.startswith("anthropic, azure, ")
    assert "replay" not in owners
    data = json.loads(quorum("list", "--json").stdout)
    assert [option["name"] for option in data["groups"]["clock"]] == ["fixed", "seconds", "tokens"]


def test_check_looks_at_the_installation_and_its_exit_code_tells(quorum: Quorum, tmp_path: Path) -> None:
    done = quorum("check", "n=2")
    assert done.returncode == 0
    assert "composes, builds, and can begin" in done.stdout
    assert done.stdout.splitlines()[-1] == "nothing that a run needs is missing"
    done = quorum("check", "n=0")
    assert done.returncode == 1
    last = done.stdout.splitlines()[-1]
    assert last == "a run would fail: configuration: n: 0 is not allowed: it must be at least 1"
    findings = json.loads(quorum("check", "--json").stdout)
    assert {"python", "--out", "configuration"} <= {finding["subject"] for finding in findings}
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_printed(quorum: Quorum) -> None:
    from quorum.installation.version import __version__

    assert quorum("--version").stdout == f"quorum {__version__}\n"


def test_the_same_seed_gives_the_same_trace_in_another_process(quorum: Quorum, tmp_path: Path) -> None:
    folders = []
    for hash_seed in ("1", "2"):
        done = quorum("run", "n=8", "seed=3", "--json", PYTHONHASHSEED=hash_seed)
        folders.append(tmp_path / json.loads(done.stdout)["folder"])
    assert folders[0] != folders[1]
    assert comparable(folders[0]) == comparable(folders[1])
    assert len(comparable(folders[0])) > 100


def _started(tmp_path: Path, lines: int) -> tuple[subprocess.Popen[str], Path]:
    """Start a slow episode, and wait until its trace has some lines."""
    arguments = command("run", *CORRIDOR, "agents.pause=0.02", "env.length=1000", "max_steps=100000")
    process = subprocess.Popen(arguments, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for trace in tmp_path.glob("runs/*/trace.jsonl"):
            if trace.read_bytes().count(b"\n") >= lines:
                return process, trace.parent
        time.sleep(0.01)
    process.kill()
    raise AssertionError("the episode did not start")


def test_a_killed_run_leaves_a_readable_prefix_under_a_passing_name(tmp_path: Path) -> None:
    process, folder = _started(tmp_path, 40)
    process.kill()
    process.communicate()
    assert ".partial-" in folder.name
    trace = read_trace(folder)
    assert len(trace.events) >= 40
    assert trace.end is None
    assert json.loads((folder / "meta.json").read_text())["outcome"] is None


def test_ctrl_c_keeps_what_there_is_and_says_where(tmp_path: Path) -> None:
    process, folder = _started(tmp_path, 40)
    process.send_signal(signal.SIGINT)
    _, reported = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in reported
    assert str(folder.relative_to(tmp_path)) in reported
    meta = json.loads((folder / "meta.json").read_text())
    assert (meta["outcome"], meta["error"]["class"]) == ("error", "Interrupted")
    assert read_trace(folder).end.outcome == "error"
