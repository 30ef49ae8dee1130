"""All output of the command passes through here, so that no untrusted text can control a terminal.

`echo` prints lines and `echo_json` prints data; tables and pictures use `consoles.py`. After calls to `show_warnings`
and `show_bugs`, warnings and tracebacks take the same path. Nothing else prints: see `tests/test_printing.py`.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import IO, Any

import typer

from quorum.agents.llm.redaction import redact_message
from quorum.display.sanitize import escape_json, sanitize_lines
from quorum_base.user_errors import UserError

_PLAIN = {
    "↑": "^", "↓": "v", "→": "->", "←": "<-", "…": "...", "·": "-", "•": "*", "─": "-", "│": "|",
    "▲": "^", "▼": "v", "▶": ">", "◀": "<", "▀": "#", "█": "#",
    "\u2013": "-", "\u2014": "-", "\u2212": "-", "\u00d7": "x", "\u2039": "<", "\u203a": ">",
    "\u27e8": "<", "\u27e9": ">", "Δ": "Delta",
}  # fmt: skip
"""ASCII replacements for our symbols."""
_USUAL = ("surrogateescape", "backslashreplace")
"""Python's default error handlers for characters that a stream lacks: by locale, and on standard error."""


def show_in_any_encoding() -> None:
    """Print in any encoding: replace symbols that it lacks by ASCII, and other characters by their number."""
    codecs.register_error("quorum", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (stream.errors == "strict" or _may_lack_signs(stream)):
            stream.reconfigure(errors="quorum")


def _may_lack_signs(stream: io.TextIOWrapper) -> bool:
    """Whether a stream lacks some symbols and the user has set no error handler for them."""
    return stream.errors in _USUAL and codecs.lookup(stream.encoding).name != "utf-8"


def _in_ascii(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    plain = (_PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in missing)
    return "".join(plain), error.end


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print lines.

    Args:
        text: one line or more.
        err: print to standard error, without secrets of the environment.
        nl: end with a line feed.
    """
    stream = sys.stderr if err else sys.stdout
    with printing(stream):
        # Typer replaces an ASCII stream that it finds by itself with a UTF-8 one.
        typer.echo(sanitize_lines(redact_message(text) if err else text), file=stream, nl=nl)


def echo_json(data: object) -> None:
    """Print JSON to standard output."""
    with printing(sys.stdout):
        typer.echo(escape_json(json.dumps(data, indent=2, ensure_ascii=False)), file=sys.stdout)


def confirm(question: str) -> None:
    """Ask for confirmation on standard error, and end the command if the answer is no."""
    typer.confirm(sanitize_lines(question), abort=True, err=True)


def show_warnings() -> None:
    """Print warnings through `echo` from now on, those for users in one line."""
    warnings.showwarning = _show_warning  # type: ignore[assignment] # it accepts the arguments by position


def show_bugs() -> None:
    """Print the tracebacks of uncaught exceptions through `echo`."""
    sys.excepthook = _show_bug


def _show_bug(kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
    echo("".join(traceback.format_exception(kind, error, frames)), err=True, nl=False)


def _show_warning(message: Warning | str, category: type[Warning], *place: Any) -> None:
    if issubclass(category, UserWarning):
        echo(f"warning: {message}", err=True)
    else:
        filename, line_number, *_ = place
        echo(warnings.formatwarning(message, category, filename, line_number), err=True, nl=False)


@contextmanager
def printing(stream: IO[Any]) -> Iterator[None]:
    """Report a failed stream in one message, and print nothing more to it.

    A closed pipe is not an error and passes through: Typer and Rich then end the command.

    Raises:
        UserError: the stream cannot be written.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        # Python would try to flush the buffer again at exit, and fail with a traceback.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        name = "standard error" if stream is sys.stderr else "standard output"
        raise UserError(
            f"{name}: cannot be written: {error.strerror or error}",
            "Make room, or print to another place. Files that the command has already written are complete.",
        ) from error
