"""`quorum view`: open the page, or write it."""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from quorum.storage.outputs import Output
from quorum.view.viewer.library import Library
from quorum_base.user_errors import UserError


def view(folders: Sequence[Path], port: int, *, browser: bool, echo: Callable[[str], None]) -> None:
    """Serve the page of a run, of two runs side by side, or of a sweep, until the process is interrupted.

    Args:
        folders: folder of a run or of a sweep, or of two runs of one board.
        port: 0 for any free one.
        browser: whether to open the page in the user's browser.
        echo: prints the address.

    Raises:
        UserError: there is nothing to show, or the port is taken.
    """
    from quorum.view.viewer.server import serve  # noqa: PLC0415 - an export does without Starlette

    library = opened_library(folders)

    def ready(address: str) -> None:
        echo(address)
        echo("Press Ctrl-C to stop.")
        if browser:
            Thread(target=webbrowser.open, args=(_way_in(folder_of_page, address).as_uri(),), daemon=True).start()

    try:
        with TemporaryDirectory(prefix="quorum-") as name:
            folder_of_page = Path(name)
            serve(library, port, ready)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"--port {port}: {reason}", "Give another one, or 0 for any.") from error


def _way_in(folder: Path, address: str) -> Path:
    """Write a page that redirects to the address, and return its file.

    All users of a machine can see the arguments of a browser process, and the address contains the token. Only the user
    can read this file.

    Args:
        folder: a folder that only the user can enter.
        address: address of the page.
    """
    file = folder / "open.html"
    with open(file, "x", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as page:
        page.write(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">')
    return file


def export(
    folders: Sequence[Path], output: Output, most: int = 0, report: Callable[[str], None] = lambda _: None
) -> Path:
    """Write the page of a run, or of two runs side by side, as one file, or a sweep as a folder; return the page.

    Args:
        folders: folder of a run or of a sweep, or of two runs of one board.
        output: the file; for a sweep, the new folder.
        most: maximum MiB of the pages of a sweep.
        report: called with the expected size of the pages of a sweep.

    Raises:
        UserError: there is no such run, or the page cannot be written; see also `write_site`.
    """
    from quorum.view.viewer.page import exported_page  # noqa: PLC0415 - a page that is served is made elsewhere
    from quorum.view.viewer.site import write_site  # noqa: PLC0415

    replace(output, force=True).check()
    library = opened_library(folders)
    if not library.named:
        return write_site(library.root, library.names(), output.target, most, report)
    output.check()  # only now is it known that it is a file, which --force may replace
    episodes = [episode for episode in map(library.episode, library.named) if episode is not None]
    output.write(exported_page(*episodes, pair=library.pair).encode())
    return output.target


def opened_library(folders: Sequence[Path]) -> Library:
    """Open the folders that the user named.

    Raises:
        UserError: they cannot be shown, or are too many for one page.
    """
    match folders:
        case [folder]:
            return Library.of(folder)
        case [one, other]:
            return Library.side_by_side(one, other)
    raise UserError(
        f"{folders[2]}: one of {len(folders)} folders, but a page shows one, or two side by side",
        "Give one run or sweep, or two runs of one board.",
    )
