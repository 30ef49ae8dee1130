"""A user's mistakes: one message without a traceback. Everything else is a bug and keeps its traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any


class UserError(Exception):
    """Something that the user can put right.

    Args:
        message: what is wrong, beginning with the key, option or path that it is about.
        hint: what to do about it.

    Attributes:
        exit_code: of the command that it ends: 2, and 1 where work was under way and what there is of it was kept.
    """

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}\n{hint}" if hint else message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Have copies, and what another process gets, be whole, whatever arguments the class takes."""
        return _remade, (type(self), self.args, self.__dict__)


def _remade(kind: type[UserError], args: tuple[Any, ...], attributes: dict[str, Any]) -> UserError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class Withheld(ValueError):
    """A wrong value that no message may show: it could be a key."""


class WrongKey(ValueError):
    """One wrong value of several that were checked together, such as those of a whole component.

    Args:
        key: of the wrong one, among those that were checked.
        reason: what is allowed instead.
    """

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


# One slash where two are meant is how an address reads that was taken for a path.
_CREDENTIALS = re.compile(r"(?<=:/)(/?)[^\s/\"'<>\\]+(?=@)")


def mask_passwords(text: str) -> str:
    """Return a text without the user and the password of the addresses in it: `https://[hidden]@host`."""
    return _CREDENTIALS.sub(r"\1[hidden]", text) if ":/" in text else text


def shown_path(file: str | Path) -> str:
    """Return the path of a file as a message shows it: seen from the current folder where it lies below it."""
    try:
        return str(Path(file).absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(file)


def nearest(word: str, choices: Iterable[str], most: int = 2) -> str:
    """Return the question "Did you mean ...?" for the choices nearest to a word; empty when none is near.

    A dotted choice is also near when its last part is: `blocks` is near `env.blocks`.

    Args:
        word: what was written.
        choices: what can be.
        most: choices that are named.
    """
    names = list(dict.fromkeys(choices))
    found = [name for name in names if "." in name and name.rpartition(".")[2] == word]
    found = found or get_close_matches(word, names, n=most)
    shown = [repr(name) for name in found]
    return f"Did you mean {' or '.join(filter(None, (', '.join(shown[:-1]), shown[-1])))}?" if found else ""


def choices_hint(word: str, label: str, choices: Iterable[str]) -> str:
    """Return a hint with the nearest choices and all of them: `Did you mean 'cube'? Options of env: cube.`."""
    names = list(dict.fromkeys(choices))
    listing = f"{label}: {', '.join(names)}." if names else ""
    return " ".join(part for part in (nearest(word, names), listing) if part)
