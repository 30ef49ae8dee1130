from __future__ import annotations

import io

import pytest
from rich.console import Console

from quorum.display.characters import as_characters
from quorum.runs.recorded_episode import open_episode
from quorum.view.replay.replay import prepare_replay
from quorum.view.replay.terminal import play, print_frames
from quorum_base.drawing import PAPER, Canvas, Drawing, Mark, MarkKind, Rotation, Shape
from tests.view.replay.conftest import CELLS, edit_trace

KINDS = (
    MarkKind("meadow", "#d6e8c4", "#000000", sign="m"),
    MarkKind("block", "#e69f00", "#000000"),
    MarkKind("agent", "#0072b2", "#000000", Shape.DISC),
    MarkKind("target", "#c8102e", "#000000", Shape.RING),
    MarkKind("push", "#1d1d1f", "#000000", Shape.WEDGE),
)
CANVAS = Canvas(4, 3, KINDS)


def _console(width: int = 100, height: int = 40, *, terminal: bool = True) -> Console:
    return Console(file=io.StringIO(), width=width, height=height, force_terminal=terminal, color_system="truecolor")


def _colours(text, row: int, column: int) -> str:
    line = text.split()[row]
    style = next(span.style for span in line.spans if span.start <= column < span.end)
    return f"{style.color.triplet.hex} on {style.bgcolor.triplet.hex}"


def test_marks_and_signs_stand_in_their_cells() -> None:
    ground = bytes([0] + [PAPER] * 11)
    marks = {"b": Mark(1, 1, 0, 2, 2, label="b0"), "a": Mark(2, 3, 2, label="7"), "t": Mark(3, 0, 2)}
    text = as_characters(CANVAS, Drawing(ground, marks), columns=8, rows=3)
    assert text.plain.splitlines() == ["m  b0   ", "        ", "[]    7 "]
    assert _colours(text, 1, 3).endswith("on #e69f00")
    assert _colours(text, 2, 6) == "#ffffff on #0072b2"
    assert _colours(text, 2, 0) == "#c8102e on #ffffff"


def test_large_cells_show_where_marks_are_turned() -> None:
    text = as_characters(CANVAS, Drawing(b"", {"p": Mark(4, 1, 1, 0.5, 0.5, turn=Rotation.LEFT)}), columns=100, rows=12)
    assert len(text.plain.splitlines()) == 12
    assert text.plain.count("◀") == 1


def test_a_board_that_is_too_tall_is_drawn_by_half_rows() -> None:
    marks = {"b": Mark(1, 1, 0, 2, 2), "a": Mark(2, 3, 2, label="7")}
    text = as_characters(CANVAS, Drawing(b"", marks), columns=80, rows=2)
    assert text.plain.splitlines() == ["▀▀▀▀", "▀▀▀▀"]
    assert _colours(text, 0, 1) == "#e69f00 on #e69f00"
    assert _colours(text, 1, 3) == "#0072b2 on #ffffff"


@pytest.mark.parametrize(("columns", "rows"), [(40, 20), (7, 50), (3, 3)])
def test_the_largest_board_fits_and_shows_every_agent(columns, rows) -> None:
    canvas = Canvas(256, 256, KINDS)
    marks = {"b": Mark(1, 0, 0, 100, 100), "a": Mark(2, 255, 255, label="200")}
    text = as_characters(canvas, Drawing(bytes([PAPER]) * 256**2, marks), columns, rows)
    lines = text.plain.splitlines()
    assert len(lines) <= rows
    assert max(map(len, lines)) <= columns
    last = text.split()[-1]
    assert "#0072b2" in {c.triplet.hex for span in last.spans for c in (span.style.color, span.style.bgcolor)}


def test_a_run_is_played_at_its_pace_and_its_end_stays(played) -> None:
    run = open_episode(played("debate").folder)
    console, waits = _console(), []
    play(prepare_replay([run], 0, None), console, 4, waits.append)
    shown = console.file.getvalue()
    assert waits == [0.25] * (run.steps + 1)
    assert all(f"step {t} of {run.steps}" in shown for t in range(run.steps + 1))
    assert "simulated model" in shown
    _, left, after = shown.rpartition("\x1b[?1049l")  # the alternate screen is closed
    assert left
    assert "end: " in after


def test_two_runs_are_played_beside_each_other(played) -> None:
    console = _console(width=120)
    runs = [open_episode(played(name).folder) for name in ("debate", "centralized")]
    play(prepare_replay(runs, 0, 0), console, 50, lambda _: None)
    line = next(line for line in console.file.getvalue().splitlines() if "debate · naive" in line)
    assert "centralized · naive" in line


@pytest.mark.parametrize("name", CELLS)
def test_without_a_terminal_the_frames_are_text(played, name) -> None:
    run = open_episode(played(name).folder)
    console = Console(file=io.StringIO(), width=80)
    print_frames(prepare_replay([run], 0, None), console)
    shown = console.file.getvalue()
    assert "\x1b" not in shown
    assert shown.count(f" of {run.steps} · ") == run.steps + 1


def test_hostile_words_do_not_reach_the_terminal(copied) -> None:
    folder = copied("debate")
    hostile = "\x1b]0;title\x07[bold]markup[/bold] \u202eevil"
    edit_trace(folder, lambda event: event | {"content": hostile} if event["event"] == "message_sent" else event)
    console = _console()
    play(prepare_replay([open_episode(folder)], 1, 1), console, 50, lambda _: None)
    shown = console.file.getvalue()
    assert "[bold]markup[/bold]" in shown
    assert not {"\x1b]0;", "\x07", "\u202e"} & {part for part in ("\x1b]0;", "\x07", "\u202e") if part in shown}
