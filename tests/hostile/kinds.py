"""Builds a folder of every kind with the commands that make it, and finds in it what can be damaged."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.conftest import environment
from tests.hostile.commands import command
from tests.hostile.pages import visit

Words = tuple[str, ...]

TEAM = ("agents=naive", "topology=debate", "n=2", "max_steps=4")
GRID = (*TEAM, "seed=0,1", "engine.workers=1")
MEMORY = ("agents=drwell", "topology=negotiation", "n=2", "max_steps=4")
SERVER = ("llm=openai", "llm.base_url={server}", "llm.model=simulated", "llm.api_key_env=null")
NO_MODEL = (*SERVER[:2], "llm.model=none", SERVER[3])
BY_BATCH = ("engine=batch", "engine.wait=1", "engine.poll=0.1", "llm.cache=false")
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
    "study": (
        ("study", "talk", *GRID, "--name", "s"),
        ("check", "runs/s"),
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
        paths: of all that is in it, in an order that does not depend on what is drawn.
    """

    name: str
    folder: Path
    commands: Sequence[Words]
    paths: Sequence[Path]

    @classmethod
    def read(cls, name: str, good: Path, server: str) -> Kind:
        """Read what was built."""
        folder = good / name / "home"
        found = [path.relative_to(folder) for path in folder.rglob("*")]
        return cls(name, folder, [filled(words, folder, server) for words in KINDS[name]], ordered(found))

    def runs(self) -> list[Path]:
        """Return the folders of runs in it."""
        return [path.parent for path in self.paths if path.name == "meta.json"]

    def used_by(self, words: Words, good: Path) -> list[Path]:
        """Return what a command uses when nothing is damaged, and what it would meet if it were there.

        The command is typed once in a copy of the folder; what it used is kept.
        """
        kept = good / "used" / hashlib.sha256(repr((self.name, words)).encode()).hexdigest()
        if not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(dir=good) as work:
                home, names = Path(work, "home"), Path(work, "names")
                shutil.copytree(self.folder, home)
                names.touch()
                command(words, home, variables(home, good), visit=lambda address: visit(address, home), names=names)
                names.rename(kept)
        found: set[Path] = set()
        for path in map(Path, kept.read_text().splitlines()):
            if path in self.paths or path.parent != Path():
                found.add(path)
            else:  # it was reached by the descriptor of its folder
                alike = [other for other in self.paths if other.name == path.name]
                found |= {*(alike or [place / path for place in places(words) if place in self.paths])}
        known = {*self.paths}
        found |= {above for path in found for above in path.parents} & known
        folders = {Path(), *(path for path in known if (self.folder / path).is_dir())}
        return ordered(path for path in found if path in known or (path.parent in folders and is_fixed(path.name)))


def is_fixed(name: str) -> bool:
    """Whether no part of a name is drawn: somebody else can have put a thing of this name anywhere."""
    return not _DRAWN.search(name)


def ordered(paths: Iterable[Path]) -> list[Path]:
    """Sort paths by what is not drawn in their names."""
    return sorted(paths, key=lambda path: (_DRAWN.sub("", str(path)), path))


def places(words: Words) -> set[Path]:
    """Return the folders and files that the words of a command may name."""
    sweep = (f"runs/{words[words.index('--name') + 1]}",) if "--name" in words else ()
    return {Path(word.rpartition("=")[2].partition(":")[0]) for word in (*words, *sweep)}


def build(good: Path, names: Iterable[str], server: str) -> None:
    """Make a folder of each of these kinds, below the folder `good`."""
    bring_a_cluster(good)
    for name in names:
        folder = good / name / "home"
        folder.mkdir(parents=True)
        last = partial(_is_there, folder, KILLED.get(name))
        for words in KINDS[name]:
            ending = command(filled(words, folder, server), folder, variables(folder, good), kill_when=last)
            assert name in (*KILLED, *FAIL) or ending.code == 0, f"{words}: {ending}"


def _is_there(folder: Path, name: str | None) -> bool:
    return name is not None and any(folder.glob(name))


def filled(words: Words, folder: Path, server: str) -> Words:
    """Put what was built into the place of names in braces, and the words of a verb apart."""
    runs = sorted(path.parent.relative_to(folder) for path in folder.glob("runs/*/meta.json"))
    run = str(runs[0]) if runs else ""
    return (*words[0].split(), *(word.format(server=server, run=run) for word in words[1:]))


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
