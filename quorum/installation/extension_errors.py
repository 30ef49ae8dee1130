"""Mistakes in the code of plug-ins, reported with their place in that code instead of a page of our frames.

The code of a plug-in is what runs in a frame that is neither of this project nor of Python nor of an installed package
that has nothing to do with Quorum. An error that passes through such a frame, below one of ours, is reported as a
mistake of the plug-in. One that does not is a bug of this project, and keeps its traceback.
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
    "verbs", "hooks", "origins", "measures", "api",
)  # fmt: skip
"""What packages offer by entry points, each in the group `quorum.KIND`."""
_LONGEST = 1000
"""Characters of an error's own text that a message shows, at most."""


class ExtensionError(UserError):
    """A mistake in the code of a plug-in, or in a file that belongs to it. Its cause is the error as it was raised."""


class FailedEpisode(ExtensionError):
    """A mistake in the code of a plug-in that ended an episode under way."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Place:
    """A place in somebody's code.

    Attributes:
        file: as a terminal shows it: seen from the current folder where it lies below it.
        line: from 1.
        function: in which it is; empty at the top of a module.
    """

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        inside = f", in {self.function}" if self.function else ""
        return f"{self.file}:{self.line}{inside}"


def as_extension_error(error: BaseException) -> ExtensionError | None:
    """Return an error as the mistake in somebody's code that it is; None for a bug of ours and for a user's mistake."""
    if isinstance(error, UserError) or (place := extension_place(error)) is None:
        return None
    link = next(link for link in _causes(error) if isinstance(link, MaeilError) or place_of(link) is not None)
    return ExtensionError(f"{place}: {_words(link)}")


def extension_place(error: BaseException) -> Place | None:
    """Return the place in somebody's code that an error, or what caused it, comes from; None where there is none."""
    if not isinstance(error, Exception):
        return None
    return next((place for link in _causes(error) if (place := place_of(link)) is not None), None)


def place_of(error: BaseException) -> Place | None:
    """Return the innermost place in somebody's code that an error comes from; None where there is none.

    An error that blames a function comes from the line that raised its cause, or else from the definition of that
    function; a syntax error from the line that cannot be read.
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
    """Return where somebody has defined a function or a class; None for what is ours, or of a library."""
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
    """Report errors of a plug-in's code as such.

    Args:
        also: mistakes of a user that come from the line of code that was just at work, such as a name that is taken.

    Raises:
        ExtensionError: one was raised inside.
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
    """Print a mistake of a user, or of the code of a plug-in; with `--debug` also in which frames it was found.

    Returns:
        The exit code of the command; None for a bug, of which nothing is printed.
    """
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:  # whichever option or argument it came from
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
    """Note that the top-level package of a module extends Quorum, wherever it is installed."""
    _noted.add(_top(module))


_noted: set[str] = set()


@cache
def _declared() -> frozenset[str]:
    """Return the top-level packages of all that installed packages offer by entry points."""
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
    """Return the kind of an error and its text."""
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
