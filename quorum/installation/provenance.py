"""Provenance of an episode: versions, commit and machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from quorum.installation.packages import DISTRIBUTION, requirements
from quorum.installation.version import __version__

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class CodeVersion:
    """A version of Quorum's code.

    Attributes:
        version: version of the package.
        commit: commit of the checkout; None for an installed package.
        changed: whether files of the checkout differ from that commit.
    """

    version: str
    commit: str | None = None
    changed: bool = False

    @classmethod
    def of(cls, meta: Mapping[str, Any]) -> CodeVersion:
        """Extract it from the result of `provenance`."""
        git = meta.get("git") or {}
        return cls(str(meta["versions"][DISTRIBUTION]), git.get("commit"), git.get("changed") is True)

    def __str__(self) -> str:
        if self.commit is None:
            return self.version
        return f"{self.version} ({self.commit[:8]}{', changed' if self.changed else ''})"


@cache
def provenance() -> Mapping[str, Any]:
    """Return the versions of Quorum and its dependencies, the commit of a checkout, and the machine. JSON-ready."""
    installed = {r.name: r.installed for r in requirements() if r.installed is not None}
    return {
        "versions": {"python": platform.python_version(), DISTRIBUTION: __version__, **installed},
        "git": _commit(),
        "machine": {"system": platform.platform(), "architecture": platform.machine(), "cpus": os.cpu_count()},
    }


def _commit() -> Mapping[str, Any] | None:
    """Return the commit of the checkout that the code runs from; None for an installed package or without git."""
    git = shutil.which("git")
    if git is None or not (_ROOT / ".git").exists():
        return None
    command = [git, "-C", str(_ROOT)]
    head = subprocess.run([*command, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if head.returncode:
        return None
    changes = subprocess.run([*command, "status", "--porcelain"], capture_output=True, text=True, check=False)
    return {"commit": head.stdout.strip(), "changed": bool(changes.stdout.strip())}
