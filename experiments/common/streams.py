"""What happens when what is printed cannot be written: a full disk behind `> FILE`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from maeil.user_errors import UserError


@contextmanager
def printing(stream: IO[Any]) -> Iterator[None]:
    """Tell it in one message when a stream takes nothing more, and print nothing more to it.

    A reader that has left is no mistake, and passes through: Typer and Rich end the command then.

    Raises:
        UserError: the stream cannot be written.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is left in the buffer would be tried again when Python ends, and fail with a traceback.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        name = "standard error" if stream is sys.stderr else "standard output"
        raise UserError(
            f"{name}: cannot be written: {error.strerror or error}",
            "Make room, or print to another place. What the command has written to folders is there.",
        ) from error
