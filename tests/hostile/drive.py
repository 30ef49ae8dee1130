"""Attacks the command: a verb over a folder in which something is damaged, with canaries outside of it."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.commands import CPU_SECONDS, MEMORY, Ending, command
from tests.hostile.damage import DAMAGES, SECRET, renew_digests, sorts_of
from tests.hostile.kinds import KINDS, Kind, Words, is_fixed, variables
from tests.hostile.pages import visit
from tests.hostile.verbs import EXAMPLES, VERBS, add_options, is_named, starts_with, takes_files, type_words

_BUG = re.compile(r"Traceback \(most recent call last\)|never retrieved|error: \S+\.py:\d+, in ")
"""How a bug shows; the last is how one of a plug-in does, of which no command of the fuzzer has any."""
_LARGEST_PAGE = 50 << 20
"""Bytes of a file that is looked through for secrets."""
_OFTEN = 4
"""How often a verb is tried that takes folders, for each time that one is that takes none."""


@dataclass(frozen=True, slots=True)
class Input:
    """What the command is given.

    Attributes:
        seed: that draws it.
        kind: of the folder.
        words: of the command.
        damages: names of damages, by what is damaged in the folder.
    """

    seed: int
    kind: Kind
    words: Words
    damages: Mapping[Path, str]

    def __str__(self) -> str:
        damages = ", ".join(f"{damage} {target}" for target, damage in self.damages.items())
        return f"FUZZ_SEED={self.seed}: quorum {' '.join(self.words)}\n({self.kind.name}: {damages})"


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


def draw(good: Path, kinds: Sequence[Kind], seed: int, verb: str | None = None, damage: str | None = None) -> Input:
    """Draw an input.

    Args:
        good: where the kinds were built.
        kinds: of folders.
        seed: decides everything that is left to chance.
        verb: None for any.
        damage: one that is among those of the input; None for any.
    """
    chance = random.Random(seed)
    often = [name for name in VERBS for _ in range(_OFTEN if _takes_folders(name) else 1)]
    while True:
        chosen = verb or chance.choice(often)
        made = [kind for kind in kinds if any(starts_with(words, chosen) for words in kind.commands)]
        kind = chance.choice(made if made and chance.random() < 0.5 else kinds)
        words = type_words(chosen, kind, chance.choice(kind.paths), chance)
        typed = (*words, *add_options(chosen, chance.choice(kind.paths), chance))
        damages: dict[Path, str] = {}
        for number in range(chance.choice((1, 1, 2, 3))):
            fitting = {
                target: found
                for target in _targets(good, kinds, kind, words, chance)
                if not any(other in target.parents or target in (other, *other.parents) for other in damages)
                and (found := _fitting(kind, typed, target, damage if number == 0 else None))
            }
            if fitting:
                target = chance.choice(list(fitting))
                damages[target] = chance.choice(fitting[target])
            elif number == 0:
                break
        if damages:
            return Input(seed, kind, typed, damages)


def _fitting(kind: Kind, words: Words, target: Path, damage: str | None) -> list[str]:
    """Return the damages that can be done to a target, or this one of them; a user who names a link means it."""
    sorts, free = sorts_of(kind.folder / target), is_named(target, words)
    fitting = [name for name, one in DAMAGES.items() if one.sort in sorts and not (free and one.leads_out)]
    return [name for name in fitting if damage in (None, name)]


def _targets(good: Path, kinds: Sequence[Kind], kind: Kind, words: Words, chance: random.Random) -> Sequence[Path]:
    """Return what may be damaged: mostly what the command uses; else all that is there, or what may be elsewhere."""
    used = kind.used_by(words, good)
    match chance.choices(range(3), (8, 1, 1))[0]:
        case 0 if used:
            return used
        case 1:
            places = sorted({path.parent for path in used} | {kind.runs()[0]})
            names = sorted({path.name for other in kinds for path in other.paths if is_fixed(path.name)})
            return [chance.choice(places) / chance.choice(names)]
    return kind.paths


def _takes_folders(verb: str) -> bool:
    """Whether a verb has to do with folders: its arguments name them, or it makes them."""
    arguments = [part for part in VERBS[verb].params if part.param_type_name == "argument"]
    made = any(starts_with(words, verb) for commands in KINDS.values() for words in commands)
    return made or any(map(takes_files, arguments)) or any("={" in word for words in EXAMPLES[verb] for word in words)


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
    for target, damage in given.damages.items():
        DAMAGES[damage].do(home / target, chance, canaries)
    for run in sorted({path for target in given.damages for path in target.parents} & {*given.kind.runs()}):
        renew_digests(home / run, chance)
    before, written = snapshot(work), _stamps(home)
    served: list[str] = []
    ending = command(
        given.words, home, variables(home, good), visit=lambda address: served.extend(visit(address, home))
    )
    changed = sorted(f"{path}: {part}" for path, part in snapshot(work).items() ^ before.items())
    new = [path for path, stamp in _stamps(home).items() if written.get(path) != stamp]
    wrong = _wrong(ending) or _shown(ending, served, new)
    if changed:
        wrong = "it changes what is outside of the folder:\n" + "\n".join(changed) + ending.errors[-500:]
    return Outcome(given, ending, wrong)


def plant_canaries(good: Path, kind: Kind) -> None:
    """Make the canaries: files and a run that look like what commands read, each with the secret in it."""
    canaries = good / "canaries"
    shutil.copytree(kind.folder / kind.runs()[0], canaries / "run")
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
    if _BUG.search(said):
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
