"""How long a user waits for a command: a run, a small sweep, a plan, a resume, a comparison.

python benchmarks/waiting.py                                     # all of them, 3 runs each; minutes
python benchmarks/waiting.py --only run sweep --runs 9
python benchmarks/waiting.py --tree ../before --tree .           # two checkouts in turns, each with its own .venv

Every command runs in its own process, from bytecode, as after an install. The CPU time is that of the command and
of all processes that it starts. Checkouts alternate, so that another load of the machine slows both.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from benchmarks.compare import build
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.sweeps.plan import plan

GRID = ("n=2,4", "seed=range(0,5000)")
CELLS = 10_000
UNWANTED = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
"""Variables without which the commands run: bytecode is written, and a checkout imports itself."""
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "run": ("run", "n=2", "--out", "{new}"),
    "sweep": ("sweep", "n=2,4", "seed=range(0,4)", "--out", "{new}"),
    "one worker": ("sweep", "n=2,4", "seed=range(0,4)", "engine.workers=1", "--out", "{new}"),
    "plan": ("sweep", *GRID, "--dry-run", "--out", "{new}"),
    "resume": ("sweep", *GRID, "--accept-versions", "--out", "{kept}", "--name", "resumed"),
    "compare": ("compare", "{kept}/compared", "--by", "topology", "--baseline", "individual"),
}
"""The commands, by the name of each. A folder `new` is empty, `kept` has finished sweeps of 10,000 cells."""


def finish(folder: Path) -> None:
    """Make the sweep of `GRID` in a folder, finished: one episode of each kind is run, the others are copies of it."""
    patterns: dict[str, Path] = {}
    for planned in plan(GRID).cells:
        if planned.kind not in patterns:
            patterns[planned.kind] = run_cell(planned.cell(), folder.parent / "patterns").folder
        shutil.copytree(patterns[planned.kind], folder / planned.name)
        meta = json.loads((folder / planned.name / "meta.json").read_bytes())
        configuration = json.loads(planned.configuration)
        meta.update(name=planned.name, hash=planned.hash, seed=configuration["seed"], configuration=configuration)
        (folder / planned.name / "meta.json").write_text(json.dumps(meta, indent=2))


def measure(tree: Path, words: tuple[str, ...], kept: Path) -> tuple[float, float]:
    """Run a command of a checkout; return its seconds of wall and of CPU."""
    python = tree / ".venv/bin/python" if tree != Path() else Path(sys.executable)
    variables = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    with tempfile.TemporaryDirectory() as new:
        filled = [word.replace("{new}", new).replace("{kept}", str(kept)) for word in words]
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([python, "-m", "quorum", *filled], cwd=new, env=variables, check=True, capture_output=True)
        wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time the commands that users wait for.")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tree", action="append", type=Path, help="A checkout; this one if none is given.")
    parser.add_argument("--kept", type=Path, help="Folder for the finished sweeps, to be used again.")
    chosen = parser.parse_args()
    trees: list[Path] = [tree.resolve() for tree in chosen.tree or []] or [Path()]
    with tempfile.TemporaryDirectory() as temporary:
        kept: Path = (chosen.kept or Path(temporary)).resolve()
        if "resume" in chosen.only and not (kept / "resumed").is_dir():
            finish(kept / "resumed")
        if "compare" in chosen.only and not (kept / "compared").is_dir():
            build(kept / "compared", CELLS)
        run_cell(Cell.compose(["n=2"]), Path(temporary))  # compiles the kernels
        for name in chosen.only:
            taken: dict[Path, list[tuple[float, float]]] = {tree: [] for tree in trees}
            for tree in trees * (chosen.runs + 1):
                taken[tree].append(measure(tree, COMMANDS[name], kept))
            for tree, all_runs in taken.items():
                wall, cpu = zip(*all_runs[1:], strict=True)  # the first one writes bytecode
                least = f"least {min(wall):.2f} and {min(cpu):.2f}"
                print(f"{name:10} {tree}: {median(wall):.2f} s, {median(cpu):.2f} s of CPU ({least})", flush=True)
        print(f"{chosen.runs} runs, medians; load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()}")


if __name__ == "__main__":
    main()
