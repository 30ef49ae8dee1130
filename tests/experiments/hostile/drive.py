"""Attacks the command: a verb over a folder in which something is damaged, with canaries outside of it."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

from quorum.experiments.viewer.library import Library
from quorum.experiments.viewer.server import Served
from tests.experiments.hostile.commands import CPU_SECONDS, MEMORY, Ending, command
from tests.experiments.hostile.damage import DAMAGES, SECRET, renew_digests, sorts_of
from tests.experiments.hostile.kinds import Kind, Words, variables
from tests.experiments.hostile.verbs import EXAMPLES, VERBS, named, starts_with, takes_files, type_words

_LARGEST_PAGE = 50 << 20
"""Bytes of a file that is looked through for secrets."""
_SERVED = Served(Library(Path()))
_OFTEN = 4
"""How often a verb is tried that takes folders, for each time that one is that takes none."""


@dataclass(frozen=True, slots=True)
class Input:
    """What the command is given.

    Attributes:
        seed: that draws it.
        kind: of the folder.
        words: of the command.
        target: what is damaged in the folder.
        damage: its name.
    """

    seed: int
    kind: Kind
    words: Words
    target: Path
    damage: str

    def __str__(self) -> str:
        return f"FUZZ_SEED={self.seed}: quorum {' '.join(self.words)}\n({self.kind.name}: {self.damage} {self.target})"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an input.

    Attributes:
        input: what was given.
        ending: of the command.
        wrong: what it must not do; empty for nothing.
    """

    input: Input
    ending: Ending
    wrong: str


def draw(kinds: Sequence[Kind], seed: int, verb: str | None = None, damage: str | None = None) -> Input:
    """Draw an input.

    Args:
        kinds: of folders.
        seed: decides everything that is left to chance.
        verb: None for any.
        damage: None for any.
    """
    chance = random.Random(seed)
    often = [name for name, found in VERBS.items() for _ in range(_OFTEN if _takes_folders(name, found) else 1)]
    while True:
        name = verb or chance.choice(often)
        made = [kind for kind in kinds if any(starts_with(words, name) for words in kind.commands)]
        kind = chance.choice(made if made and chance.random() < 0.5 else kinds)
        targets = kind.there if chance.random() < 0.75 else kind.names
        target = chance.choice(targets[chance.choice(list(targets))])
        sorts = sorts_of(kind.folder / target)
        fitting = [other for other, one in DAMAGES.items() if one.sort in sorts and damage in (None, other)]
        words = type_words(name, kind, target, chance)
        fitting = [other for other in fitting if not (DAMAGES[other].leads_out and target in named(words))]
        if fitting:
            return Input(seed, kind, words, target, chance.choice(fitting))


def _takes_folders(name: str, verb: object) -> bool:
    arguments = [part for part in verb.params if part.param_type_name == "argument"]  # type: ignore[attr-defined]
    return any(map(takes_files, arguments)) or any("={" in word for words in EXAMPLES[name] for word in words)


def attack(given: Input, good: Path, work: Path) -> Outcome:
    """Give an input to the command.

    Args:
        given: what.
        good: where the folders were built.
        work: an empty folder.
    """
    home, canaries = work / "home", work / "canaries"
    shutil.copytree(given.kind.folder, home)
    shutil.copytree(good / "canaries", canaries)
    chance = random.Random(given.seed)
    target = home / given.target
    DAMAGES[given.damage].do(target, chance, canaries)
    if (run := next((path for path in target.parents if (path / "meta.json").exists()), None)) and target.name != "meta.json":
        renew_digests(run, chance)
    before, written = snapshot(work), _stamps(home)
    served: list[str] = []
    ending = command(given.words, home, visit=lambda address: served.extend(visit(address, home)), **variables(home, good))
    changed = sorted(f"{path}: {part}" for path, part in snapshot(work).items() ^ before.items())
    new = [path for path, stamp in _stamps(home).items() if written.get(path) != stamp]
    wrong = _wrong(ending) or _shown(ending, served, new)
    if changed:
        wrong = "it changes what is outside of the folder:\n" + "\n".join(changed) + ending.errors[-500:]
    return Outcome(given, ending, wrong)


def plant_canaries(good: Path, run: Path) -> None:
    """Make the canaries: files and a run that look like what commands read, each with the secret in it."""
    canaries = good / "canaries"
    shutil.copytree(run, canaries / "run")
    for file in (canaries / "run").glob("*.*"):
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(b"agent_0", SECRET.encode()))
    (canaries / "secret.txt").write_text(f"{SECRET}\n..0\n1..\n")
    (canaries / "secret.json").write_text(json.dumps({"outcome.steps": 1, SECRET: 1}))


def snapshot(work: Path) -> Mapping[str, tuple[object, ...]]:
    """Return all that is outside of the folder of the user: names, kinds, modes, times and contents."""
    found: dict[str, tuple[object, ...]] = dict.fromkeys(os.listdir(work), ())
    for path in (work / "canaries", *(work / "canaries").rglob("*")):
        stat = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(work))] = (stat.st_ino, stat.st_mode, stat.st_mtime_ns, data)
    return found


def _stamps(home: Path) -> Mapping[Path, tuple[int, int]]:
    found = {}
    for above, _, names in os.walk(home):
        for path in (Path(above, name) for name in names):
            stat = path.lstat()
            if path.is_file() and not path.is_symlink() and stat.st_size < _LARGEST_PAGE:
                found[path] = (stat.st_mtime_ns, stat.st_size)
    return found


def _wrong(ending: Ending) -> str:
    said = ending.errors + ending.shown
    if "SIGXCPU" in said or "Fatal Python error" in said or "most recent call first" in said or ending.code < 0:
        return f"it hangs for more than {CPU_SECONDS} s, signal {-ending.code}: {ending.errors[-3000:]}"
    if "Traceback (most recent call last)" in said or "never retrieved" in said:
        return said[-4000:]
    if ending.code not in (0, 1, 2, 130):
        return f"exit code {ending.code}: {said[-500:]}"
    if ending.code and not said.strip():
        return f"it fails with exit code {ending.code}, and says nothing"
    if ending.memory > MEMORY:
        return f"it takes {ending.memory} KiB: {said[-300:]}"
    return ""


def _shown(ending: Ending, served: Iterable[str], written: Iterable[Path]) -> str:
    if SECRET in ending.shown + ending.errors:
        return f"it prints the secret: {(ending.shown + ending.errors)[-2000:]}"
    for answer in served:
        if SECRET in answer or answer.startswith("5"):
            return f"it serves: {answer[:2000]}"
    for path in written:
        if SECRET.encode() in path.read_bytes():
            return f"it writes the secret into {path}"
    return ""


def visit(address: str, home: Path) -> Iterable[str]:
    """Ask a server for every page that it may have; return status and content of its answers."""
    names = {path.name for path in home.rglob("*") if path.is_dir()} or {""}
    digests = {path.stem for path in home.rglob("*.png")} or {"0" * 64}
    for route in _SERVED.app().routes:
        path = route.path.replace(":int", "")  # type: ignore[attr-defined] # all of them are routes with a path
        fields = {"t": ["0", "1"], "number": ["0"], "digest": digests, "name": names, "one": names, "other": names}
        for number in range(8):
            chance = random.Random(number)
            values = {field: quote(chance.choice(sorted(some)), safe="") for field, some in fields.items()}
            try:
                with urlopen(address + path.format(**values).lstrip("/"), timeout=CPU_SECONDS) as answer:
                    yield f"{answer.status} {path} {answer.read().decode('utf-8', 'replace')}"
            except HTTPError as error:
                yield f"{error.code} {path} {error.read().decode('utf-8', 'replace')}"
            except OSError as error:
                yield f"599 {path} no answer: {error}"
            if "{" not in path:
                break
