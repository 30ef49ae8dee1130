"""Paint a frame of a film: for each run its label, its board and its caption, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image

from maeil.trace.events import MessageSent
from quorum.runs.recorded_episode import RecordedEpisode
from quorum.view.replay.replay import SIMULATED, Frame, Replay, caption
from quorum_base.drawing import Canvas, Drawing, MarkKind
from quorum_base.painting.board import BoardPainter, board_size
from quorum_base.painting.colours import EDGE, INK, MUTED, PAPER_WHITE, RULE, Colour, mix, parse, shade
from quorum_base.painting.text import clipped, font, strip, two_lines
from quorum_base.user_errors import UserError

WARNING: Colour = (176, 66, 0)
"""Colour of warnings; text in it is legible on white."""
PALETTE_SIZE = 255
"""Number of colours of a film; one index of a GIF is reserved for unchanged pixels."""

_LEVELS = (0, 51, 102, 153, 204, 255)


def palette(kinds: Sequence[MarkKind]) -> list[Colour]:
    """Return the palette of a film with these kinds: their colours, and blends of each with ink and with white.

    It does not depend on the frames, so a film can be written frame by frame.
    """
    fixed = [PAPER_WHITE, INK, MUTED, RULE, EDGE, WARNING]
    steps = [0.25, 0.5, 0.75]
    greys = [mix(PAPER_WHITE, INK, share / 16) for share in range(1, 16)]
    own = [parse(kind.light) for kind in kinds]
    rims = [shade(colour) for colour in own]
    ways = [mix(colour, end, share) for share in steps for end in (PAPER_WHITE, INK) for colour in (*own, WARNING)]
    cube = [(red, green, blue) for red in _LEVELS for green in _LEVELS for blue in _LEVELS]  # for worlds with images
    return list(dict.fromkeys([*fixed, *own, *rims, *greys, *ways, *cube]))[:PALETTE_SIZE]


_BOARD = 480
"""Default length of the longer edge of a board, in pixels."""
_LEGIBLE = 12
"""Pixels per cell of a large board, as long as the board stays below `_LARGEST`."""
_LARGEST = 960
_GAP = 12
"""Margin around everything, in pixels."""
_TEXT, _LINE = 13, 19
"""Height of a letter and of a line, in pixels."""


class FramePainter:
    """Paints the frames of a replay.

    Args:
        replay: the replay.
        canvas: canvas of the world, the same for all runs.
        width: width of the film in pixels; None: a width that fits the board.

    Raises:
        UserError: the film would be too narrow for the boards.
    """

    def __init__(self, replay: Replay, canvas: Canvas, width: int | None) -> None:
        self._replay = replay
        panels = len(replay.runs)
        cell = _cell(canvas) if width is None else _cell_within(canvas, (width - _GAP) // panels - _GAP)
        if cell < 1:
            columns = board_size(canvas, 1)[0]
            raise UserError(
                f"--width {width}: too narrow for {panels} board{'s' if panels > 1 else ''} of {canvas.width} cells",
                f"At least {panels * (columns + _GAP) + _GAP}.",
            )
        self._boards = BoardPainter(canvas, cell)
        self._panel = max(self._boards.size[0], _BOARD) if width is None else (width - _GAP) // panels - _GAP
        self._talk = any(run.trace.stamped(MessageSent) for run in replay.runs)
        height = _GAP + _LINE + self._boards.size[1] + _GAP // 2 + _LINE * (4 if self._talk else 2) + _GAP
        wanted = panels * (self._panel + _GAP) + _GAP if width is None else width
        self.size = (wanted + wanted % 2, height + height % 2)
        """Width and height in pixels, both even, as H.264 requires."""

    def paint(self, frames: Sequence[Frame[Drawing]]) -> Image.Image:
        """Paint an instant of all runs, RGB."""
        image = Image.new("RGB", self.size, PAPER_WHITE)
        for number, (frame, run, label) in enumerate(zip(frames, self._replay.runs, self._replay.labels, strict=True)):
            self._paint_run(image, _GAP + number * (self._panel + _GAP), frame, run, label)
        return image

    def _paint_run(
        self, image: Image.Image, left: int, frame: Frame[Drawing], run: RecordedEpisode, label: str
    ) -> None:
        top = _GAP
        simulated = run.answering_models.simulated
        badge = round(font(_TEXT, bold=True).getlength(SIMULATED)) + _GAP if simulated else 0
        self._write(image, left, top, label, INK, bold=True, room=self._panel - badge)
        if simulated:
            self._write(image, left + self._panel - badge + _GAP, top, SIMULATED, WARNING, bold=True)
        top += _LINE
        image.paste(self._boards.paint(frame.picture), (left + (self._panel - self._boards.size[0]) // 2, top))
        top += self._boards.size[1] + _GAP // 2
        count, detail = caption(frame, run.steps, frame.picture.caption)
        self._write(image, left, top, count, INK, bold=True)
        self._write(image, left, top + _LINE, detail, INK if frame.end else MUTED, bold=bool(frame.end))
        if self._talk:
            for number, line in enumerate(two_lines(frame.said, self._panel, font(_TEXT))):
                self._write(image, left, top + (2 + number) * _LINE, line, INK)

    def _write(
        self, image: Image.Image, left: int, top: int, text: str, colour: Colour, *, bold: bool = False,
        room: int | None = None,
    ) -> None:  # fmt: skip
        face = font(_TEXT, bold=bold)
        room = max(1, min(self._panel if room is None else room, image.width - left))
        image.paste(strip(clipped(text, room, face), (room, _LINE), face, colour), (left, top))


def _cell(canvas: Canvas) -> int:
    """Choose the pixels per cell: small boards get large cells; the cells of large boards stay legible."""
    longest = max(canvas.width, canvas.height) + 2 * canvas.margin
    return max(1, int(_BOARD / longest), min(_LEGIBLE, int(_LARGEST / longest)))


def _cell_within(canvas: Canvas, width: int) -> int:
    """Return the largest cell for which a board is at most `width` pixels wide; 0 for none."""
    cell = max(0, int((width - 1) / (canvas.width + 2 * canvas.margin)))
    return cell if cell and board_size(canvas, cell)[0] <= width else max(0, cell - 1)
