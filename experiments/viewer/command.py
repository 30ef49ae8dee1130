"""`quorum view`: opens the page, or writes it."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path

from maeil.user_errors import UserError
from quorum.experiments.common.outputs import Output
from quorum.experiments.viewer.library import Library


def view(folder: Path, port: int, *, browser: bool, echo: Callable[[str], None]) -> None:
    """Serve the page of a run or of a sweep until the process is interrupted.

    Args:
        folder: of a run or of a sweep.
        port: 0 for any free one.
        browser: whether to open the page in the user's browser.
        echo: prints the address.

    Raises:
        UserError: there is nothing to show, or the port is taken.
    """
    from quorum.experiments.viewer.server import serve  # noqa: PLC0415 - an export does without Starlette

    library = Library.of(folder)

    def ready(address: str) -> None:
        echo(address)
        echo("Ctrl-C ends it.")
        if browser:
            webbrowser.open(address)

    try:
        serve(library, port, ready)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"--port {port}: {reason}", "Give another one, or 0 for any.") from error


def export(folder: Path, output: Output) -> Path:
    """Write the page of a run as one file; return the file.

    Raises:
        UserError: there is no such run, it is a sweep, or the file cannot be written.
    """
    from quorum.experiments.viewer.page import exported_page  # noqa: PLC0415 - a page that is served is made elsewhere

    output.check()
    library = Library.of(folder)
    if library.single is None:
        names = library.names()
        example = f": {folder / names[0]}" if names else ""
        raise UserError(f"--export: {folder} is a sweep; one file holds one run", f"Give one of its runs{example}.")
    episode = library.episode(library.single)
    assert episode is not None
    output.write(exported_page(episode).encode())
    return output.target
