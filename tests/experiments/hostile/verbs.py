"""Types commands: every verb of the registry, with its own options, over what is in a folder."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from quorum.experiments.verbs.app import app
from tests.experiments.hostile.kinds import GRID, MEMORY, METRIC, TEAM, Kind, Words

VERBS: Mapping[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined] # it is a group
"""Every verb of the command, with its parameters."""

EXAMPLES: Mapping[str, Sequence[Words]] = {
    "run": (
        (*TEAM, "llm=replay", "llm.run={run}"),
        (*TEAM, "env.layout={target}"),
        (*TEAM[:1], *TEAM[2:], "topology=learned", "topology.edges={target}"),
        (*MEMORY, "memory.store={folder}"),
    ),
    "sweep": ((*GRID, "--name", "s"), (*GRID, "--name", "s", "--dry-run"), (*GRID[:-1], "--name", "b")),
    "fit": (("topology", *TEAM[:1], *TEAM[2:], "--rounds", "1", "--boards", "1", "--graphs", "2"),),
    "view": (("--no-browser",), ("--export", "new.html")),
    "replay": ((), ("--out", "new.gif")),
    "results": (
        (),
        ("--recompute", "--write"),
        ("--sql", "select * from results, events"),
        ("--per", "agent"),
        ("--per", "message"),
        ("--credit", "agent"),
    ),
    "show": (("env.layout={target}",),),
    "show prompt": (("agent=1", "at={run}:0"), ("agent=0", "at={run}:0", "--picture", "new.png")),
    "show failures": ((),),
    "compare": (METRIC, (*METRIC, "--curves")),
    "report": (METRIC, (*METRIC, "--episodes")),
    "branch": (("--at", "0:50", "agents=idle"), ("--at", "0", "--draws", "2", "--name", "b", "engine.workers=1")),
    "blame": (("--budget-reruns", "5"), ("--method", "rules"), ("--method", "reader:all_at_once")),
    "list": ((), ("metrics",)),
    "check": ((),),
    "cache": (("stats",), ("clear", "--yes")),
    "completion": (("bash",),),
    "complete": (("--", "run", ""),),
    "serve-simulated": (("--port", "0"),),
}
"""What each verb is given next to the folders and files that its parameters name."""
_LEFT_OUT = {"--debug", "--compile", "--help"}
"""Flags that show the code at fault, take minutes, or do nothing else."""
_SELDOM = 0.1
"""How often a flag or a file is given to an option that nobody needs."""


def type_words(verb: str, kind: Kind, target: Path, chance: random.Random) -> Words:
    """Draw the words of a command that meets a target."""
    own = [words for words in kind.commands if starts_with(words, verb)]
    if own and chance.random() < 0.6:
        return (*chance.choice(own), *_flags(verb, chance, _SELDOM / 3))
    run, folder = _above(kind, target, chance)
    values = {"run": run, "folder": folder, "target": target}
    example = (word.format(**values) if "={" in word else word for word in chance.choice(EXAMPLES[verb]))
    files = _files(verb, target, chance)
    return (*verb.split(), *_arguments(verb, run, folder, chance), *example, *_flags(verb, chance, _SELDOM), *files)


def starts_with(words: Words, verb: str) -> bool:
    """Whether a command has this verb."""
    return words[: len(verb.split())] == tuple(verb.split())


def named(words: Words) -> set[Path]:
    """Return what a user names with the words of a command, and what is above it."""
    usual = ("edges.yaml", "cache/quorum/replies.sqlite")
    sweep = (f"runs/{words[words.index('--name') + 1]}",) if "--name" in words else ()
    found = {Path(word.rpartition("=")[2].partition(":")[0]) for word in (*words, *usual, *sweep)}
    return {path for way in found for path in (way, *way.parents)}


def _above(kind: Kind, target: Path, chance: random.Random) -> tuple[Path, Path]:
    """Return a run and a folder that hold a target, or any."""
    runs = [run.relative_to(kind.folder) for run in kind.runs()]
    folders = [Path("runs"), *{run.parent for run in runs} - {Path("runs")}]
    run = next((run for run in runs if run in target.parents), chance.choice(runs))
    return run, next((folder for folder in reversed(folders) if folder in target.parents), chance.choice(folders))


def takes_files(parameter: Any) -> bool:
    """Whether a parameter takes files or folders."""
    metavar = parameter.metavar or ""
    return "Path" in str(parameter.type_descriptor.annotation) or "RUN" in metavar or "SWEEP" in metavar


def _arguments(verb: str, run: Path, folder: Path, chance: random.Random) -> Iterator[str]:
    for parameter in VERBS[verb].params:
        if parameter.param_type_name == "argument" and takes_files(parameter):
            if parameter.required or "|" in (parameter.metavar or "") or chance.random() < _SELDOM:
                either = [place for word, place in (("RUN", run), ("SWEEP", folder)) if word in parameter.metavar]
                yield str(chance.choice(either or [run]))


def _flags(verb: str, chance: random.Random, share: float) -> Iterator[str]:
    for parameter in VERBS[verb].params:
        if parameter.param_type_name == "option" and parameter.is_flag and chance.random() < share:
            if not _LEFT_OUT & set(parameter.opts):
                yield chance.choice((*parameter.opts, *parameter.secondary_opts))


def _files(verb: str, target: Path, chance: random.Random) -> Iterator[str]:
    for parameter in VERBS[verb].params:
        if parameter.param_type_name == "option" and takes_files(parameter) and chance.random() < _SELDOM:
            yield from (parameter.opts[0], str(chance.choice((target, target.parent, "new/file"))))
