"""Boards by name: a small library, each of which shows one way in which teams fail on CUBE.

The failure modes are those that the CUBE page illustrates; each board's first line says what it shows.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from cube_env.layout import Layout
from maeil.environments.errors import LayoutError

BOARDS = Path(__file__).resolve().parent / "boards"


def board_names() -> tuple[str, ...]:
    """The names of the library's boards, sorted."""
    return tuple(sorted(file.stem for file in BOARDS.glob("*.txt")))


def load_board(name: str) -> Layout:
    """A board of the library.

    Raises:
        LayoutError: There is none of this name; the message names the nearest and all.
    """
    if name not in board_names():
        raise _unknown(name)
    return Layout.parse((BOARDS / f"{name}.txt").read_text(encoding="utf-8"))


def layout_from(source: str) -> Layout:
    """A layout from its drawing (several lines), the name of a board of the library, or the path of a file.

    Raises:
        LayoutError: It is none of these, or not a board; the message gives file, line and column.
    """
    if "\n" in source.strip():
        return Layout.parse(source)
    if source in board_names():
        return load_board(source)
    file = Path(source)
    if not file.suffix and not file.exists() and file.name == source:
        raise _unknown(source)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LayoutError(f"{source} cannot be read: {reason}{_names_hint(file.stem)}") from error
    try:
        return Layout.parse(text)
    except LayoutError as error:
        raise LayoutError(f"{source}: {error}") from error


def _unknown(name: str) -> LayoutError:
    hint = _names_hint(name) or "."
    return LayoutError(f"there is no file and no board {name!r}{hint} The boards are {', '.join(board_names())}.")


def _names_hint(name: str) -> str:
    near = get_close_matches(name, board_names(), n=1)
    return f": did you mean {near[0]!r}?" if near else ""
