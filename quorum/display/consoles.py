"""Rich's console and text for untrusted strings: nothing in them acts as markup or a control sequence."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import rich.console
import rich.text
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from quorum.display.sanitize import sanitize_lines
from quorum.display.terminal import printing

_BOUNDLESS = 100_000
"""Columns of a stream without a width."""


class Text(rich.text.Text):
    """A text that shows control characters as symbols; Rich would drop some of them and print the others."""

    def __init__(self, text: str = "", *arguments: Any, **options: Any) -> None:
        super().__init__(sanitize_lines(text), *arguments, **options)


class Console(rich.console.Console):
    """A console that ignores markup and emoji codes, and prints no control characters.

    A pipe or file has no width, so its lines are not wrapped unless COLUMNS is set.

    Args:
        options: options of Rich's console.
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
        """Let Typer end the command: Rich would call `sys.exit`, which counts as a plugin's mistake everywhere else.

        Raises:
            BrokenPipeError: the error being handled.
        """
        raise  # noqa: PLE0704 (Rich calls this in an exception handler)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the segments to print; all output passes through here, including parts of a table."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable() or segment.text == "\n":
                yield segment
            else:
                yield Segment(sanitize_lines(segment.text), segment.style)


def at_work(doing: str, *, quiet: bool = False) -> AbstractContextManager[object]:
    """Show on the terminal what a command does; elsewhere, show nothing.

    Print results afterwards: as long as the sign is shown, Rich sends standard output to standard error.
    """
    console = Console(stderr=True)
    return console.status(doing) if console.is_interactive and not quiet else nullcontext()
