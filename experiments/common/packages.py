"""The packages that Quorum needs or can use, as its own installed metadata names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, distributions, metadata, requires, version
from typing import Any

from packaging.requirements import Requirement

from maeil.user_errors import UserError

DISTRIBUTION = "quorum-harness"


@dataclass(frozen=True, slots=True)
class Needed:
    """One requirement.

    Attributes:
        name: the package.
        wanted: the versions that will do, `>=2.2`.
        extra: the extra that brings it; empty for the base install.
        installed: the installed version, or None.
        fits: whether the installed version will do.
    """

    name: str
    wanted: str
    extra: str
    installed: str | None
    fits: bool


def requirements() -> tuple[Needed, ...]:
    """Return every requirement of the base install and of the extras; nothing when Quorum itself is not installed."""
    try:
        extras = metadata(DISTRIBUTION).get_all("Provides-Extra") or []
        lines = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return ()
    found = []
    for line in lines:
        requirement = Requirement(line)
        for extra in ("", *extras):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                found.append(_look_up(requirement, extra))
                break
    return tuple(found)


def owners(package: str) -> Iterator[Distribution]:
    """Yield the installed distributions that hold a top-level package or module.

    `importlib.metadata.packages_distributions` makes a path of every installed file for that, which takes 0.2 s.
    """
    recorded = re.compile(rf"^{re.escape(package)}(?:/|\.[^/]*,)", re.MULTILINE)
    for found in distributions():
        declared = found.read_text("top_level.txt")
        if package in declared.split() if declared else recorded.search(found.read_text("RECORD") or ""):
            yield found


def load(module: str, extra: str, what: str) -> Any:
    """Import a package of an extra.

    Args:
        module: its name.
        extra: what brings it.
        what: the choice of the user that needs it, as it was typed.

    Raises:
        UserError: it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(f"{what}: the package {module} is missing", f"pip install '{DISTRIBUTION}[{extra}]'") from error


def _look_up(requirement: Requirement, extra: str) -> Needed:
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        installed = None
    fits = installed is not None and requirement.specifier.contains(installed, prereleases=True)
    return Needed(requirement.name, str(requirement.specifier), extra, installed, fits)
