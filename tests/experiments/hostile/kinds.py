"""Builds a folder of every kind with the commands that make it, and finds in it what can be damaged."""

from __future__ import annotations

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import environment
from tests.experiments.hostile.commands import command

Words = tuple[str, ...]

TEAM = ("agents=naive", "topology=debate", "n=2", "max_steps=4")
GRID = (*TEAM, "seed=0,1", "engine.workers=1")
MEMORY = ("agents=drwell", "topology=negotiation", "n=2", "max_steps=4")
SERVER = ("llm=openai", "llm.base_url={server}", "llm.model=simulated", "llm.api_key_env=null")
NO_MODEL = (*SERVER[:2], "llm.model=none", SERVER[3])
BY_BATCH = ("engine.batch=true", "engine.batch_wait=1", "engine.batch_poll=0.1", "llm.cache=false")
METRIC = ("--by", "topology.name", "--across", "none", "--metric", "steps", "--accept-versions")
SLURM = (*TEAM, "engine=slurm", "engine.executor=local", "engine.jobs=1")

KINDS: Mapping[str, Sequence[Words]] = {
    "run": (
        ("run", *TEAM, "env.observation=picture"),
        ("view", "{run}", "--export", "page.html", "--force"),
        ("replay", "{run}", "--out", "film.gif", "--force"),
        ("show prompt", "agent=1", "at={run}:0", "--picture", "picture.png"),
    ),
    "sweep": (
        ("sweep", *GRID, "--name", "s"),
        ("compare", "runs/s", *METRIC),
        ("report", "runs/s", *METRIC, "--episodes"),
        ("results", "runs/s"),
    ),
    "branches": (
        ("run", *TEAM),
        ("branch", "{run}", "--at", "0:50", "--draws", "2", "--name", "b", "engine.workers=1"),
        ("compare", "runs/b", "--metric", "steps"),
    ),
    "blame": (
        ("run", *TEAM),
        ("blame", "{run}", "--budget-reruns", "5"),
    ),
    "batches": (("sweep", *GRID[:-1], *SERVER, *BY_BATCH, "--name", "s"),),
    "memory": (
        ("sweep", *MEMORY, "episode=range(0,2)", "engine.workers=1", "--name", "line"),
        ("run", *MEMORY, "memory.store=memory"),
    ),
    "fit": (
        ("fit", "topology", *TEAM[:1], *TEAM[2:], "engine.workers=1", "--rounds", "1", "--boards", "1", "--graphs",
         "2", "--force"),
        ("run", *TEAM[:1], *TEAM[2:], "topology=learned", "topology.edges=edges.yaml"),
    ),
    "slurm": (
        ("sweep", *SLURM, "seed=0", "--name", "s"),
        ("sweep", *SLURM[:-2], "engine.executor=slurm", "seed=0,1", "--name", "s"),
    ),
    "cache": (("run", *TEAM, *SERVER),),
    "killed": (("sweep", *GRID, "llm.latency=0.1", "--name", "s"),),
    "failed": (
        ("sweep", *GRID, *NO_MODEL, "--name", "s", "--retry-failed"),
        ("sweep", *GRID, *NO_MODEL, "--name", "s", "--retry-failed"),
    ),
}  # fmt: skip
"""The commands that make a folder of each kind; typed again, they go on in it."""
FAIL = ("failed", "slurm")
"""Kinds whose commands may fail."""
KILLED = {"batches": "runs/s/batches.jsonl", "killed": "runs/s/*.partial-*/trace.jsonl"}
"""Commands of these kinds are killed when there is such a file."""
_DRAWN = re.compile(r"[0-9a-f]{8,}|listener-.*|^\d{3,}_|^\.$")
"""The part of a name that nobody can predict, or that says nothing of its kind."""
_CLUSTER = {
    "sbatch": "echo 'sbatch: error: no partition' >&2\nexit 1",
    "squeue": "echo '7|PENDING|None'",
    "scancel": 'echo "$@" > "$CANARIES/scancel"',
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A folder of a kind.

    Attributes:
        name: of the kind.
        folder: in which its commands were typed.
        commands: that made it, ready to be typed again.
        there: what is in it, by the name without what is drawn.
        names: what any command opens or makes in some folder and is not in this one, by the name.
    """

    name: str
    folder: Path
    commands: Sequence[Words]
    there: Mapping[str, Sequence[Path]]
    names: Mapping[str, Sequence[Path]]

    def runs(self) -> list[Path]:
        """Return the folders of runs in it."""
        return sorted(file.parent for file in self.folder.rglob("meta.json"))


def build(good: Path, server: str) -> None:
    """Make a folder of each kind, below the folder `good`."""
    bring_a_cluster(good)
    for name, commands in KINDS.items():
        folder = good / name / "home"
        folder.mkdir(parents=True)
        for words in commands:
            until = KILLED.get(name)
            ending = command(
                filled(words, folder, server),
                folder,
                kill_when=lambda: until and any(folder.glob(until)),
                names=good / "names",
                **variables(folder, good),
            )
            assert until or name in FAIL or ending.code == 0, f"{words}: {ending}"


def read(good: Path, server: str) -> list[Kind]:
    """Return what was built."""
    names = sorted({name for name in (good / "names").read_text().splitlines() if name and not _DRAWN.search(name)})
    return [
        Kind(kind, folder, [filled(words, folder, server) for words in commands], *_targets(folder, names))
        for kind, commands in KINDS.items()
        for folder in (good / kind / "home",)
    ]


def filled(words: Words, folder: Path, server: str) -> Words:
    """Put what was built into the place of names in braces, and the words of a verb apart."""
    runs = sorted(path.parent.relative_to(folder) for path in folder.glob("runs/*/meta.json"))
    run = str(runs[0]) if runs else ""
    return (*words[0].split(), *(word.format(server=server, run=run) if "{ " not in word else word for word in words[1:]))


def _targets(folder: Path, names: Sequence[str]) -> tuple[Mapping[str, Sequence[Path]], Mapping[str, Sequence[Path]]]:
    there, absent = defaultdict(list), defaultdict(list)
    for path in sorted(folder.rglob("*"), key=lambda path: _DRAWN.sub("", str(path))):
        there[_DRAWN.sub("", path.name)].append(path.relative_to(folder))
        for name in names if path.is_dir() else ():
            if not (path / name).exists():
                absent[name].append((path / name).relative_to(folder))
    return there, absent


def bring_a_cluster(good: Path) -> None:
    """Write the programs of a cluster that takes no job; to cancel one that is not ours leaves a mark."""
    for name, does in _CLUSTER.items():
        program = good / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{does}\n")
        program.chmod(0o755)


def variables(folder: Path, good: Path) -> dict[str, str]:
    """Return what a user has in the environment, in whose folder everything is kept."""
    return {
        **environment(),
        "PATH": f"{good / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "BROWSER": shutil.which("true") or "true",
        "CANARIES": str(folder.parent / "canaries"),
    }
