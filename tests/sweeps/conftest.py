"""Small sweeps in the corridor of the test plugins: real worker processes, episodes of milliseconds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quorum.configuration.plugins import load_plugins
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepRequest, SweepResult
from tests.conftest import PLUGINS

MODULES = ("walker", "parrot", "mortal", "counter")
LOCAL = ("engine.workers=1",)

Sweep = Callable[..., SweepResult]


@pytest.fixture(scope="session")
def options(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a `--config-dir` with the options of all test plugins, and load these."""
    load_plugins(MODULES)
    folder = tmp_path_factory.mktemp("configs")
    for name in ("corridor", "parrot", "mortal", "counter"):
        shutil.copytree(PLUGINS / f"{name}_configs", folder, dirs_exist_ok=True)
    (folder / "experiment").mkdir()
    return folder


@pytest.fixture
def asked(tmp_path: Path, options: Path) -> Callable[..., SweepRequest]:
    """Make the arguments of a command about a sweep called `s`, in the corridor unless another world is named."""

    def make(*words: str, engine: tuple[str, ...] = LOCAL, **changes: Any) -> SweepRequest:
        values: dict[str, Any] = {
            "out": tmp_path,
            "name": "s",
            "plugins": MODULES,
            "config_dir": options,
        }
        world = () if any(word.startswith("env=") for word in words) else ("env=corridor",)
        return SweepRequest(words=(*world, *words, *engine), **{**values, **changes})

    return make


@pytest.fixture
def sweep(asked: Callable[..., SweepRequest]) -> Sweep:
    """Run a sweep called `s` in the corridor."""

    def run(*words: str, **changes: Any) -> SweepResult:
        return run_sweep_command(asked(*words, **changes), quiet=True)

    return run


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Give what would differ if a finished cell were run again: inode and time of its meta.json, by name."""
    found = {
        file.parent.name: file.stat() for file in folder.glob("*/meta.json") if ".partial-" not in file.parent.name
    }
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in found.items()}


def leftovers(folder: Path) -> list[str]:
    """Give what a finished sweep must not leave in its folder."""
    usual = {".lock", ".workers", ".retried", "sweep.json", "results.csv"}
    inside = [path.name for path in folder.iterdir() if path.name not in usual]
    return [name for name in inside if name.startswith(".") or not (folder / name / "metrics.json").exists()]
