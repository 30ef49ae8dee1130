"""Traps in the folder of somebody else: each leaves a mark if anything there is run as code."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import quorum.agents.skills.cube.planner.team  # noqa: F401 (these define kernels)
from crafter_env.kernels.jit import KERNELS as CRAFTER
from cube_env.jit import KERNELS as CUBE
from quorum.agents.skills.cube.planner.jit import KERNELS as PLANNER
from quorum_base.compilation import numba

SHADOWED = (
    "agents", "ast", "asyncio", "click", "configs", "conftest", "crafter_env", "cube_env", "dill", "dotenv", "hydra",
    "inspect", "json", "lazy_loader", "lbf_env", "lbforaging", "llamac_env", "llvmlite", "maeil", "matplotlib",
    "multiprocessing", "numba",
    "numpy", "omegaconf", "orjson", "overcooked_ai_py", "overcooked_env",
    "pickle", "PIL", "pydantic", "pytest", "quorum_base", "random", "rich", "sitecustomize", "struct",
    "submitit", "trap", "typer", "typing", "usercustomize", "yaml",
)  # fmt: skip
"""Modules that somebody else puts into the folder: ours, those that ours import, and some that Python looks for."""


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (os.fspath(self._mark),)


def plant(run: Path, marks: Path) -> None:
    """Fill the folder of a run with traps.

    Args:
        run: of an ordinary run, which stays readable.
        marks: empty; a trap that is run leaves something there.
    """
    for name in SHADOWED:
        _module(run / f"{name}.py", marks / f"module_{name}")
    for package in ("hydra_plugins/trap", "_pytest"):
        (run / package).mkdir(parents=True)
        _module(run / package / "__init__.py", marks / f"package_{package.partition('/')[0]}")
    _poisoned_kernels(run, marks)
    _named_in_data(run, marks)


def _module(file: Path, mark: Path) -> None:
    file.write_text(f"import os\nif not os.path.exists({str(mark)!r}): os.mkdir({str(mark)!r})\n")


def _poisoned_kernels(run: Path, marks: Path) -> None:
    """Write Numba's configuration, with a cache of pickles at every place at which a kernel would be looked for."""
    (run / ".numba_config.yaml").write_text(
        f"cache_dir: {run / 'pickles'}\nhtml: {marks / 'annotated.html'}\ndebug_cache: 1\n"
    )
    bomb = pickle.dumps(Bomb(marks / "pickle"))
    for kernel in [*CUBE.dispatchers, *CRAFTER.dispatchers, *PLANNER.dispatchers]:
        function = kernel.py_func
        file = inspect.getfile(function)
        usual = numba.core.caching._CacheLocator.get_suitable_cache_subpath(file)
        name = kernel._cache._impl.filename_base + ".nbi"
        for folder in (usual, Path(kernel._cache.cache_path).name):
            target = run / "pickles" / folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(bomb)


def _named_in_data(run: Path, marks: Path) -> None:
    """Name modules and functions where readers of configurations, of Git and of templates may look them up."""
    call = {"_target_": "os.mkdir", "path": os.fspath(marks / "target")}
    file = run / "meta.json"
    meta = json.loads(file.read_text())
    file.write_text(
        json.dumps({**meta, "plugins": ["trap"], "plugin": "trap", "hydra": {"searchpath": ["pkg://trap"]}})
    )
    (run / ".hydra").mkdir()
    for name in ("conf.yaml", ".hydra/config.yaml", ".hydra/hydra.yaml"):
        (run / name).write_text(json.dumps({"hydra": {"searchpath": ["pkg://trap"]}, "env": call}))
    (run / ".git").mkdir()
    (run / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (run / ".git" / "config").write_text(f'[core]\n\tfsmonitor = "mkdir {marks}/git; false"\n')
    (run / "matplotlibrc").write_text("backend: module://trap\n")
    (run / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "-p trap"\n')
    (run / "pytest.ini").write_text("[pytest]\naddopts = -p trap\n")
    (run / "trap.pth").write_text("import trap\n")
    (run / "sweep.json").write_text(
        json.dumps({"schema": 1, "name": "s", "experiment": None, "arguments": [], "command": "quorum sweep",
                    "plugins": ["trap"], "arms": {}, "cells": []})
    )  # fmt: skip
    template = run / "prompts" / "cube"
    template.mkdir(parents=True)
    (template / "rules.jinja").write_text(f"{{{{ cycler.__init__.__globals__.os.mkdir('{marks}/template') }}}}")
    for name in ("git", "ffmpeg", "xdg-open", "latex"):
        program = run / name
        program.write_text(f"#!/bin/sh\nmkdir -p {marks}/program_{name}\n")
        program.chmod(0o755)


def outsider(sound: Path, folder: Path) -> tuple[Path, Path]:
    """Copy a run and fill it with traps; return it and the folder of marks."""
    run, marks = folder / "outsider", folder / "marks"
    shutil.copytree(sound, run)
    marks.mkdir()
    plant(run, marks)
    return run, marks


def fired(marks: Path) -> list[str]:
    """Return the names of the traps that were run."""
    return sorted(path.name for path in marks.iterdir())


def as_installed(arguments: Iterable[str], folder: Path) -> list[str]:
    """Write a program as `pip` does, into a folder, and return the command line that runs it."""
    program = folder / "bin" / "quorum"
    program.parent.mkdir()
    program.write_text("import sys\nfrom quorum.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n")
    return [sys.executable, os.fspath(program), *arguments]
