"""User errors: the command prints one message without a traceback. Any other error is a bug and keeps its traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any


class UserError(Exception):
    """An error that the user can fix.

    Args:
        message: what is wrong, starting with the key, option or path.
        hint: how to fix it.

    Attributes:
        exit_code: exit code of the command: 2, or 1 if work was under way and its results so far were kept.
    """

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}\n{hint}" if hint else message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep copies and pickles complete, whatever arguments the subclass takes."""
        return _remade, (type(self), self.args, self.__dict__)


def _remade(kind: type[UserError], args: tuple[Any, ...], attributes: dict[str, Any]) -> UserError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class Withheld(ValueError):
    """An invalid value that messages must not show, because it could be a secret key."""


class WrongKey(ValueError):
    """An invalid value among several that are checked together, such as those of a whole component.

    Args:
        key: key of the invalid value.
        reason: what is allowed instead.
    """

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


# An address that was treated as a path has one slash instead of two.
_CREDENTIALS = re.compile(r"(?<=:/)(/?)[^\s/\"'<>\\]+(?=@)")


def mask_passwords(text: str) -> str:
    """Hide user names and passwords in the addresses of a text: `https://[hidden]@host`."""
    return _CREDENTIALS.sub(r"\1[hidden]", text) if ":/" in text else text


def shown_path(file: str | Path) -> str:
    """Return the path of a file for a message: relative to the current folder if the file is inside it."""
    try:
        return str(Path(file).absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(file)


_SHORTEST_NAME = 4
"""Letters of a word from which on `nearest` looks for it in descriptions."""


def nearest(word: str, choices: Iterable[str], most: int = 2, descriptions: Mapping[str, str] | None = None) -> str:
    """Return the question "Did you mean ...?" with the choices closest to a word; empty if none is close.

    A dotted choice whose last part equals the word comes first, `env.blocks` for `blocks`; then choices whose
    description contains the word, as a paper writes it: `ma_crafter` for `MA-Crafter`.

    Args:
        word: what the user wrote.
        choices: valid words.
        most: maximum number of choices in the question.
        descriptions: descriptions of choices, which may contain other names of them.
    """
    names = list(dict.fromkeys(choices))
    found = [name for name in names if "." in name and name.rpartition(".")[2] == word]
    if len(letters := _letters(word)) >= _SHORTEST_NAME:
        found = found or [name for name, text in (descriptions or {}).items() if letters in _letters(text)][:most]
    found = found or get_close_matches(word, names, n=most)
    shown = [repr(name) for name in found]
    return f"Did you mean {' or '.join(filter(None, (', '.join(shown[:-1]), shown[-1])))}?" if found else ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def choices_hint(word: str, label: str, choices: Iterable[str], descriptions: Mapping[str, str] | None = None) -> str:
    """Return a hint with the closest choices and the list of all: `Did you mean 'cube'? Options of env: cube.`."""
    names = list(dict.fromkeys(choices))
    listing = f"{label}: {', '.join(names)}." if names else ""
    return " ".join(part for part in (nearest(word, names, descriptions=descriptions), listing) if part)
