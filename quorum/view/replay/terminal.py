"""Play an episode in the terminal; without a terminal, print its frames one after another."""

from __future__ import annotations

import time
from collections.abc import Callable

import rich.text
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table

from maeil import World
from quorum.display.characters import as_characters
from quorum.display.consoles import Console, Text
from quorum.view.replay.replay import SIMULATED, Frame, Replay, caption
from quorum_base.drawing import Drawable, Pictured

_CHROME = 7
"""Rows around a board: its label, and its caption with a message of several lines."""
_GAP = 3
"""Columns between two boards."""


_Picture = tuple[rich.text.Text, str]
"""A world as text, and its remark about the instant."""


def play(replay: Replay, console: Console, fps: float, sleep: Callable[[float], None] = time.sleep) -> None:
    """Play a replay on a terminal, and leave its last frame there.

    Args:
        replay: the replay.
        console: a terminal.
        fps: steps per second.
        sleep: waits for some seconds.

    Raises:
        UserError: a run cannot be replayed.
    """
    width = (console.width + _GAP) // len(replay.runs) - _GAP
    rows = max(1, console.height - _CHROME)

    def picture(world: World) -> _Picture:
        if not isinstance(world, Drawable) or isinstance(world, Pictured):
            return _as_text(world)
        drawing = world.draw()
        return as_characters(world.canvas(), drawing, width, rows), drawing.caption

    screen: RenderableType = ""
    with Live(console=console, screen=True, auto_refresh=False) as live:
        for frames in replay.frames(picture):
            screen = _side_by_side(replay, frames, width)
            live.update(screen, refresh=True)
            sleep(1 / fps)
    console.print(screen)


def print_frames(replay: Replay, console: Console) -> None:
    """Print every frame of a replay as text, without colours and without pauses: for pipes and files.

    Raises:
        UserError: a run cannot be replayed.
    """
    for frames in replay.frames(_as_text):
        for label, run, frame in zip(replay.labels, replay.runs, frames, strict=True):
            who = f"{SIMULATED} · {label}" if run.answering_models.simulated else label
            board, remark = frame.picture
            lines = (who, *caption(frame, run.steps, remark), frame.said)
            head = "\n".join(line for line in lines if line)
            console.print(Text(head), soft_wrap=True)
            console.print(Text(board.plain.rstrip("\n") + "\n"), soft_wrap=True)


def _as_text(world: World) -> _Picture:
    remark = world.draw().caption if isinstance(world, Drawable) and not isinstance(world, Pictured) else ""
    return Text.from_ansi(world.ansi()), remark


def _side_by_side(replay: Replay, frames: tuple[Frame[_Picture], ...], width: int) -> RenderableType:
    table = Table.grid(padding=(0, _GAP, 0, 0))
    panels = []
    for label, run, frame in zip(replay.labels, replay.runs, frames, strict=True):
        board, remark = frame.picture
        count, detail = caption(frame, run.steps, remark)
        simulated = [(f"{SIMULATED} · ", "bold red")] if run.answering_models.simulated else []
        head = Text.assemble(
            *simulated, (label, "bold"), "\n", (count, "bold"), "\n", (detail, "bold" if frame.end else ""),
            no_wrap=True, overflow="ellipsis",
        )  # fmt: skip
        table.add_column(width=width)
        panels.append(Group(head, board, Text(frame.said)))
    table.add_row(*panels)
    return table
