"""What tests of several rooms share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = ROOT / "tests" / "plugins"
CORRIDOR = ("--plugin", "corridor", "--config-dir", str(PLUGINS / "corridor_configs"), "env=corridor", "agents=walker")
"""Arguments that choose the third-party world and its minds."""


def command(*arguments: str) -> list[str]:
    """Give the command line of `quorum`, as a user would type it."""
    return [sys.executable, "-m", "cli", *arguments]


def environment(**changes: str) -> dict[str, str]:
    """Give an environment in which the checkout and the plugins of the tests are found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(PLUGINS))), "COLUMNS": "100", **changes}


Quorum = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    """Run the command in an empty folder."""

    def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            cwd=tmp_path,
            env=environment(**changes),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run
