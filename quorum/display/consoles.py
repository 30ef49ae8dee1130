"""Rich's console and text, for untrusted texts: nothing in them is markup or a control sequence."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import rich.console
import rich.text
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from quorum.display.sanitize import sanitize_lines
from quorum.display.terminal import printing

_BOUNDLESS = 100_000
"""Columns of what has no width."""


class Text(rich.text.Text):
    """A text in which control characters are symbols; Rich would drop some of them and print the others."""

    def __init__(self, text: str = "", *arguments: Any, **options: Any) -> None:
        super().__init__(sanitize_lines(text), *arguments, **options)


class Console(rich.console.Console):
    """A console that takes no text for markup or for an emoji, and prints no character that could act.

    A pipe or a file has no width, so lines are as long as they need to be there, unless COLUMNS is set.

    Args:
        options: those of Rich's console.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)
        if "width" not in options and "COLUMNS" not in os.environ and not self.is_terminal:
            self.width = _BOUNDLESS

    def print(self, *objects: Any, **options: Any) -> None:
        """Print objects; report a stream that cannot be written in one message."""
        with printing(self.file):
            super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Let Typer end the command: Rich would by `sys.exit`, which is a mistake of a plug-in everywhere else.

        Raises:
            BrokenPipeError: the one that this is called for.
        """
        raise  # noqa: PLE0704 (Rich calls it where that is handled)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the segments of what is printed; whatever is printed passes here, also parts of a table."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable() or segment.text == "\n":
                yield segment
            else:
                yield Segment(sanitize_lines(segment.text), segment.style)
