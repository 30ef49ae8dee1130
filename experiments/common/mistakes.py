"""Prints the mistake that ends a command, in one message on standard error."""

from __future__ import annotations

import logging

from maeil.user_errors import UserError
from quorum.experiments.common.extension_errors import ExtensionError, as_extension_error
from quorum.experiments.common.logs import log_frames
from quorum.experiments.common.terminal import echo

_log = logging.getLogger("quorum")


def print_mistake(error: Exception) -> int | None:
    """Print a mistake of a user, or of the code of a plug-in; with `--debug` also in which frames it was found.

    Returns:
        The exit code of the command; None for a bug, of which nothing is printed.
    """
    mistake = error if isinstance(error, UserError) else as_extension_error(error)
    if mistake is None:
        return None
    echo(f"error: {mistake}", err=True)
    if isinstance(mistake, ExtensionError) and not _log.isEnabledFor(logging.DEBUG):
        echo("--debug shows every frame.", err=True)
    log_frames(error)
    return mistake.exit_code
