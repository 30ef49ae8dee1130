"""Log records on standard error: what is composed, built, called, retried and written.

Every module logs to a logger with its name (`quorum.…`, `maeil.…`): at INFO, events that occur once per episode or
cell; at DEBUG, every model call and every event of a trace. Nothing is shown unless the user asks for it: with
`--verbose` or `--debug`, the environment variable `QUORUM_LOG`, or Python's `logging`. No record holds an API key.
"""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Iterator
from typing import Any

from rich.logging import RichHandler

from quorum.agents.llm.redaction import Redaction
from quorum.display.consoles import Console
from quorum.display.sanitize import sanitize
from quorum_base.components import PACKAGES
from quorum_base.user_errors import UserError, choices_hint

VARIABLE = "QUORUM_LOG"
"""Environment variable for the log level; worker processes inherit it."""
_LEVELS = {"info": logging.INFO, "debug": logging.DEBUG}
_log = logging.getLogger(__name__)


def show_logs(level: str | None = None) -> None:
    """Show the log records of this project on standard error, here and in processes started later.

    The loggers of other packages keep their level, because HTTP clients log what they send at DEBUG.

    Args:
        level: `info` or `debug`; None: the value of `QUORUM_LOG`, or nothing if it is not set.

    Raises:
        UserError: `QUORUM_LOG` is not a level.
    """
    level = level or os.environ.get(VARIABLE)
    if not level:
        return
    if level not in _LEVELS:
        raise UserError(f"{VARIABLE}={level}: there is no such level", choices_hint(level, "Levels", _LEVELS))
    os.environ[VARIABLE] = level
    console = Console(stderr=True)
    if console.is_terminal:
        handler: logging.Handler = RichHandler(console=console, show_path=False)
        handler.setFormatter(_Sanitizing("%(name)s: %(message)s", datefmt="[%X]"))
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(_Sanitizing("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler])
    for package in PACKAGES:
        logging.getLogger(package).setLevel(_LEVELS[level])


def log_frames(error: BaseException) -> None:
    """Log at DEBUG the stack frames in which a user's mistake was found.

    The messages of its causes are left out, because they may quote an API key.
    """
    _log.debug("%s", "".join(_frames(error)))


def _frames(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield f"{type(error).__qualname__}, raised in\n"
        yield from traceback.format_tb(error.__traceback__)
        error = error.__cause__ or error.__context__


class _Sanitizing(logging.Formatter):
    """Formats records without secrets and control characters, as they may quote what a model wrote."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._redact = Redaction.of(os.environ)

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(sanitize, self._redact(super().format(record)).split("\n")))
