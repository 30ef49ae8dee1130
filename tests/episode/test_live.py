from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from maeil.trace import SCHEMA, Stamped
from maeil.trace.events import (
    ActionChange,
    EpisodeStart,
    MessageSent,
    PlanChange,
    ScoreChange,
    StageChange,
    StepTaken,
    ThoughtEnd,
    ThoughtStart,
)
from quorum.episode.live import LiveView, line_view
from tests.conftest import ROOT


def _world(n: int, board: str = "..|\n0A|"):
    return SimpleNamespace(agents=tuple(f"agent_{i}" for i in range(n)), ansi=lambda: board)


def _console(height: int = 24, width: int = 100) -> Console:
    return Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)


def _tell(view, *events, t: int = 0) -> None:
    for seq, event in enumerate(events):
        view(Stamped(seq, t, 0.0, 0.0, event))


def _drawn(view: LiveView, console: Console) -> str:
    with console.capture() as capture:
        console.print(view.render())
    return capture.get()


def _plan(agent: int, status: str = "committed", target: str = "block_3") -> PlanChange:
    actions = [{"action": "push_block", "block": 3, "steps": 2}]
    return PlanChange(f"P{agent}.1", agent, status, "", {"kind": "deliver", "target": target}, actions)


def test_the_view_shows_board_stages_plans_actions_and_score() -> None:
    console = _console()
    view = LiveView(_world(2), console, pace=0)
    _tell(
        view,
        ScoreChange(1, 3, 2.0),
        _plan(0),
        StageChange(0, "R", "W", "plan_committed"),
        ActionChange("P0.1", 0, 0, "push_block", "started"),
        _plan(1, "succeeded"),
        StepTaken((0, 1), -0.01),
        t=6,
    )
    text = _drawn(view, console)
    assert "0A|" in text
    assert "step 7   1/3 goals, score 2   R 1  W 1" in text
    rows = [line.split("  ") for line in text.splitlines()]
    agent_0, agent_1 = (
        [cell.strip() for cell in row if cell.strip()] for row in rows if any("agent_" in cell for cell in row)
    )
    assert agent_0[-4:] == ["agent_0", "W", "deliver block_3", "push_block(block=3, steps=2)"]
    assert agent_1[-3:] == ["agent_1", "R", "succeeded"]


def test_the_view_shows_who_says_what_who_thinks_and_what_the_letters_mean() -> None:
    console = _console(height=30)
    view = LiveView(_world(2), console, pace=0)
    start = EpisodeStart(SCHEMA, 0, "w", "t", ["agent_0", "agent_1"], ["coordinator"], "tokens", {})
    _tell(
        view,
        start,
        ThoughtStart(2, ["speak"], []),
        MessageSent(0, 2, [0, 1], "directive", "agent_0: block_2", 0.0),
    )
    text = _drawn(view, console)
    assert "coordinator → all (directive): agent_0: block_2" in text
    assert any("coordinator" in line and "thinks: speak" in line for line in text.splitlines())
    assert "R reasons  W waits  X acts  I interrupted" in text
    _tell(view, ThoughtEnd(2, 1, [], [], 0.0))
    assert "thinks" not in _drawn(view, console)


@pytest.mark.parametrize(("width", "height"), [(80, 24), pytest.param(100, 30, marks=pytest.mark.conformance)])
def test_messages_never_push_the_team_off_the_screen(width: int, height: int) -> None:
    console = _console(height=height, width=width)
    view = LiveView(_world(8, "\n".join(["." * 20] * 20)), console, pace=0)
    for number in range(40):
        _tell(view, MessageSent(number, 0, [1], "inform", "long words " * 30, 0.0))
    lines = _drawn(view, console).splitlines()
    assert len(lines) <= height
    assert sum("agent_" in line and "→" not in line for line in lines) == 8
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(("width", "height"), [(80, 24), pytest.param(100, 30, marks=pytest.mark.conformance)])
def test_in_a_real_terminal_the_command_shows_who_says_what(width: int, height: int, tmp_path: Path) -> None:
    words = ["n=3", "agents=naive", "topology=centralized", "max_steps=30", "--live", "--out", str(tmp_path)]
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(width), "LINES": str(height)}
    command = [sys.executable, "-m", "quorum", "run", *words]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, env=environment) as process:
        os.close(slave)
        reported = b""
        with contextlib.suppress(OSError):  # the end of a terminal is an error on Linux
            while chunk := os.read(master, 65536):
                reported += chunk
        os.close(master)
    assert process.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", reported.decode())
    assert "agent_0 → all (directive): agent_1: block_" in text
    assert re.search(r"agent_1 +[RWX] +deliver block_", text)
    assert "R reasons  W waits  X acts  I interrupted" in text


def test_a_team_too_large_for_the_screen_is_shown_by_task() -> None:
    console = _console(height=20)
    view = LiveView(_world(200), console, pace=0)
    _tell(view, *(_plan(i, target=f"block_{min(i // 60, 1)}") for i in range(150)))
    text = _drawn(view, console)
    assert "agent_0" not in text
    for number, task in ((60, "deliver block_0"), (90, "deliver block_1"), (50, "")):
        assert any(str(number) in line and task in line for line in text.splitlines())
    _tell(view, *(_plan(i, target=f"block_{i}") for i in range(200)))
    text = _drawn(view, console)
    assert "others" in text
    assert len(text.splitlines()) <= 20


@pytest.mark.parametrize("markup", ["[bold red]x[/]", "[/nothing]", "\x1b[31mred"])
def test_what_others_wrote_is_text_and_never_markup(markup: str) -> None:
    console = _console()
    view = LiveView(_world(1), console, pace=0)
    _tell(view, _plan(0, target=markup), ActionChange("P0.1", 0, 0, "push_block", "started"))
    text = _drawn(view, console)
    assert markup.replace("\x1b", "␛") in text
    assert "\x1b" not in text


def test_without_a_terminal_each_change_of_the_score_is_a_line() -> None:
    console = Console(file=io.StringIO(), width=100)
    view = line_view(console)
    _tell(view, ScoreChange(0, 3, 0.0), StepTaken((0,), 0.0), ScoreChange(1, 3, 2.0), t=4)
    assert console.file.getvalue() == "step 4: 0/3 goals, score 0\nstep 4: 1/3 goals, score 2\n"


def test_beside_a_board_too_wide_for_the_screen_the_team_can_still_be_read() -> None:
    console = _console(height=30, width=90)
    view = LiveView(_world(64, "\n".join(["." * 64] * 64)), console, pace=0)
    _tell(view, *(_plan(i, target="block_12") for i in range(64)))
    assert any("64  R      deliver block_12" in line for line in _drawn(view, console).splitlines())
