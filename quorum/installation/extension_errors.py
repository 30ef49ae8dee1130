"""Reports mistakes in plugin code with their location in that code, instead of a page of our stack frames.

A frame belongs to a plugin if it is not in this project, in Python, or in an installed package unrelated to Quorum. An
error that passes through such a frame, called from one of ours, is reported as the plugin's mistake. Any other error is
a bug of this project, and keeps its traceback.
"""

from __future__ import annotations

import errno
import logging
import site
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from inspect import getsourcefile, getsourcelines, isclass
from pathlib import Path
from traceback import walk_tb
from types import CodeType
from typing import Any

from pydantic import ValidationError

from maeil.contracts import definition_of
from maeil.errors import MaeilError
from quorum.agents.llm.redaction import redact_message
from quorum.display.terminal import echo
from quorum_base.components import PACKAGES
from quorum_base.exits import describe_exit
from quorum_base.registry import offers
from quorum_base.user_errors import UserError, shown_path

_log = logging.getLogger("quorum")
_KINDS = (
    "worlds", "minds", "topologies", "providers", "extensions", "engines", "trackers", "skills", "metrics", "figures",
    "verbs", "hooks", "origins", "api",
)  # fmt: skip
"""Kinds of entry points of packages, each in the group `quorum.KIND`."""
_LONGEST = 1000
"""Maximum characters of an error's own text in a message."""


class ExtensionError(UserError):
    """A mistake in the code or a file of a plugin. Its cause is the original error."""


class FailedEpisode(ExtensionError):
    """A mistake in plugin code that ended a running episode."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Place:
    """A location in plugin code.

    Attributes:
        file: path for a terminal: relative to the current folder if it is inside it.
        line: line number, from 1.
        function: enclosing function; empty at module level.
    """

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        inside = f", in {self.function}" if self.function else ""
        return f"{self.file}:{self.line}{inside}"


def as_extension_error(error: BaseException) -> ExtensionError | None:
    """Convert an error in plugin code; None for our own bugs and for user errors."""
    if isinstance(error, UserError) or (place := extension_place(error)) is None:
        return None
    link = next(link for link in _causes(error) if isinstance(link, MaeilError) or place_of(link) is not None)
    return ExtensionError(f"{place}: {_words(link)}")


def extension_place(error: BaseException) -> Place | None:
    """Return the location in plugin code of an error or its causes; None if there is none."""
    if not isinstance(error, Exception):
        return None
    return next((place for link in _causes(error) if (place := place_of(link)) is not None), None)


def place_of(error: BaseException) -> Place | None:
    """Return the innermost location in plugin code of an error; None if there is none.

    An error about a function is located at the line that raised its cause, or else at the definition of that function;
    a syntax error is located at the invalid line.
    """
    blamed = error.blamed if isinstance(error, MaeilError) else None
    if blamed is not None:
        raised = place_of(error.__cause__) if error.__cause__ is not None else None
        if (place := raised or definition_place(blamed)) is not None:
            return place
    if isinstance(error, SyntaxError) and error.filename and _is_theirs(error.filename):
        return Place(shown_path(error.filename), error.lineno or 1)
    found, below_ours = None, False
    for frame, line in walk_tb(error.__traceback__):
        if _top(frame.f_globals.get("__name__", "")) in PACKAGES:
            below_ours = True
        elif below_ours and _is_theirs(frame.f_code.co_filename, frame.f_globals.get("__name__", "")):
            found = Place(shown_path(frame.f_code.co_filename), line, _function(frame.f_code))
    return found


def definition_place(function: Callable[..., Any]) -> Place | None:
    """Return where a plugin defines a function or class; None if it is ours or a library's."""
    found = definition_of(function)
    try:
        file = getsourcefile(found)
        line = getsourcelines(found)[1] if isclass(found) else found.__code__.co_firstlineno
    except (AttributeError, OSError, TypeError):
        return None
    if file is None or not _is_theirs(file, found.__module__ or ""):
        return None
    return Place(shown_path(file), max(line, 1))


@contextmanager
def extension_errors(*also: type[UserError]) -> Iterator[None]:
    """Report errors in plugin code as such.

    Args:
        also: user errors to attribute to the running line of code, such as a name that is taken.

    Raises:
        ExtensionError: such an error was raised inside.
    """
    try:
        yield
    except Exception as error:
        mistake = as_extension_error(error)
        if mistake is None and isinstance(error, also) and (place := place_of(error)) is not None:
            mistake = ExtensionError(f"{place}: {error.message}", error.hint)
        if mistake is None:
            raise
        raise mistake from error


def print_mistake(error: Exception) -> int | None:
    """Print a user error, or a mistake in plugin code; with `--debug`, also its stack frames.

    Returns:
        The exit code of the command; None for a bug, which is not printed.
    """
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:  # from whichever option or argument
        error = UserError(f"{error.filename}: the name is too long for a file or a folder", "Give a shorter one.")
    mistake = error if isinstance(error, UserError) else as_extension_error(error)
    if mistake is None:
        return None
    echo(f"error: {mistake}", err=True)
    if isinstance(mistake, ExtensionError) and not _log.isEnabledFor(logging.DEBUG):
        echo("--debug shows every frame.", err=True)
    from quorum.display.logs import log_frames  # noqa: PLC0415 (Rich)

    log_frames(error)
    return mistake.exit_code


def belongs_to_extensions(module: str) -> None:
    """Mark the top-level package of a module as an extension of Quorum, wherever it is installed."""
    _noted.add(_top(module))


_noted: set[str] = set()


@cache
def _declared() -> frozenset[str]:
    """Return the top-level packages of all entry points of installed packages."""
    found = (point for kind in _KINDS for points in offers(f"quorum.{kind}").values() for point in points)
    return frozenset(_top(point.module) for point in found) - PACKAGES


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__


def _words(error: BaseException) -> str:
    """Return the type of an error and its text."""
    kind = type(error).__name__
    if isinstance(error, MaeilError):
        text = str(error)
    elif isinstance(error, SystemExit):
        text = describe_exit(error)
    elif isinstance(error, SyntaxError):
        text = f"{kind}: {error.msg}"
    elif isinstance(error, ValidationError):
        wrong = (f"{'.'.join(map(str, part['loc'])) or 'values'}: {part['msg']}" for part in error.errors())
        text = f"{kind} of {error.title}: {'; '.join(wrong)}"
    else:
        text = f"{kind}: {error}" if str(error) else kind
    text = redact_message(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _function(code: CodeType) -> str:
    return "" if code.co_name == "<module>" else code.co_qualname.replace("<locals>.", "")


def _is_theirs(file: str, module: str = "") -> bool:
    if file.startswith("<") or _top(module) in PACKAGES:
        return False
    path = Path(file).absolute()
    if any(path.is_relative_to(folder) for folder in _our_folders()):
        return False
    if any(path.is_relative_to(folder) for folder in _library_folders()):
        return _top(module) in _noted | _declared()
    return not path.is_relative_to(sysconfig.get_path("stdlib"))


@cache
def _our_folders() -> tuple[Path, ...]:
    files = (getattr(sys.modules.get(name), "__file__", None) for name in sorted(PACKAGES))
    return tuple(Path(file).absolute().parent for file in files if file)


@cache
def _library_folders() -> tuple[Path, ...]:
    found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    return tuple(map(Path, dict.fromkeys([*found, site.getusersitepackages()])))


def _top(module: str) -> str:
    return module.partition(".")[0]
