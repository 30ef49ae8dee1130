"""The packages that Quorum requires or can use, according to its own installed metadata."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions, metadata, requires
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from quorum_base.user_errors import UserError

DISTRIBUTION = "quorum-harness"
_VERSION = re.compile(r"^Version: *(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Needed:
    """One requirement.

    Attributes:
        name: the package.
        wanted: suitable versions, `>=2.2`.
        extra: the extra that includes it; empty for the base install.
        installed: the installed version, or None.
        fits: whether the installed version is suitable.
    """

    name: str
    wanted: str
    extra: str
    installed: str | None
    fits: bool


def requirements() -> tuple[Needed, ...]:
    """Return all requirements of the base install and the extras; empty if Quorum itself is not installed."""
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


def base_names() -> frozenset[str]:
    """Return the normalized names of the distributions that the base install requires."""
    return frozenset(canonicalize_name(needed.name) for needed in requirements() if not needed.extra)


def owners(*packages: str) -> dict[str, list[Distribution]]:
    """Return the installed distributions that contain each of these top-level packages or modules.

    `importlib.metadata.packages_distributions` creates a path for every installed file, which takes 0.2 s.
    """
    held: dict[str, list[Distribution]] = {package: [] for package in packages}
    recorded = {name: re.compile(rf"^{re.escape(name)}(?:/|\.[^/]*,)", re.MULTILINE) for name in packages}
    for found in distributions():
        declared = found.read_text("top_level.txt")
        names, record = (declared or "").split(), "" if declared else found.read_text("RECORD") or ""
        for name, pattern in recorded.items():
            # A text search takes far less time than a pattern on every line.
            if name in names or ((f"{name}/" in record or f"{name}." in record) and pattern.search(record)):
                held[name].append(found)
    return held


def load(module: str, extra: str, what: str) -> Any:
    """Import a package of an extra.

    Args:
        module: name of the module.
        extra: the extra that includes it.
        what: the user's choice that needs it, as typed.

    Raises:
        UserError: it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(f"{what}: the package {module} is missing", f"pip install '{DISTRIBUTION}[{extra}]'") from error


def _look_up(requirement: Requirement, extra: str) -> Needed:
    installed = _installed(requirement.name)
    fits = installed is not None and requirement.specifier.contains(installed, prereleases=True)
    return Needed(requirement.name, str(requirement.specifier), extra, installed, fits)


def _installed(name: str) -> str | None:
    """Return the version of a distribution; None if it is not installed.

    `importlib.metadata.version` parses all its metadata as an e-mail, which adds up over fifty distributions.
    """
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    head = (found.read_text("METADATA") or "").partition("\n\n")[0]
    line = _VERSION.search(head)
    return line[1].strip() if line else found.version
