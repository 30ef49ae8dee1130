"""Types commands: every verb of the registry, with its own options, over what is in a folder."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from quorum.verbs.app import all_verbs, command_of
from tests.hostile.kinds import GRID, MEMORY, METRIC, TEAM, Kind, Words, places

VERBS: Mapping[str, Any] = {name: command_of(name) for name in all_verbs()}
"""Every verb of the command, with its parameters."""

EXAMPLES: Mapping[str, Sequence[Words]] = {
    "run": (
        (*TEAM, "llm=replay", "llm.run={run}"),
        (*TEAM, "env.layout={target}"),
        (*TEAM[:1], *TEAM[2:], "topology=learned", "topology.edges={target}"),
        (*MEMORY, "memory.store={folder}"),
    ),
    "sweep": ((*GRID, "--name", "s"), (*GRID, "--name", "s", "--dry-run"), (*GRID[:-1], "--name", "b")),
    "view": (("--no-browser",), ("--export", "new.html")),
    "replay": ((), ("--out", "new.gif")),
    "results": (
        (),
        ("--write",),
        ("--sql", "select * from results, events"),
        ("--sql", "from per_agent, per_message"),
    ),
    "credit": ((), ("--write",)),
    "export": (
        ("--to", "parquet", "--calls"),
        ("--to", "hf", "--out", "new"),
        ("--to", "inspect", "--calls", "--out", "new.json"),
        ("--to", "otlp", "--calls"),
    ),
    "show": (("env.layout={target}",),),
    "show prompt": (("agent=1", "at={run}:0"), ("agent=0", "at={run}:0", "--picture", "new.png")),
    "show failures": ((),),
    "compare": (METRIC, (*METRIC, "--budget", "thoughts")),
    "report": (METRIC, (*METRIC, "--episodes")),
    "reproduce": (("emcoop-rq3", "n=3", "seed=0", "max_steps=2"), ("llamac-table2", "--dry-run"), ()),
    "study": (("talk", *GRID, "--name", "s"), ("team", *GRID, "--plan", "--expect", "5,12"), ()),
    "branch": (("--at", "0:50", "agents=idle"), ("--at", "0", "--draws", "2", "--name", "b", "engine.workers=1")),
    "blame": (("--budget-reruns", "5"), ("--method", "rules"), ("--method", "reader:all_at_once")),
    "list": ((), ("metrics",)),
    "new": (("mind", "new"),),
    "check": ((),),
    "completion": (("bash",),),
    "complete": (("--", "run", ""),),
    "serve-simulated": (("--port", "0"),),
}
"""What each verb is given next to the folders and files that its parameters name."""
_LEFT_OUT = {"--debug", "--compile", "--help"}
"""Flags that show the code at fault, take minutes, or do nothing else."""
_SELDOM = 0.07
"""How often a flag or a file is given to an option that nobody needs."""


def type_words(verb: str, kind: Kind, target: Path, chance: random.Random) -> Words:
    """Draw the words of a command that meets a target."""
    own = [words for words in kind.commands if starts_with(words, verb)]
    if own and chance.random() < 0.6:
        return chance.choice(own)
    run, folder = _above(kind, target, chance)
    values = {"run": run, "folder": folder, "target": target}
    example = (word.format(**values) if "={" in word else word for word in chance.choice(EXAMPLES[verb]))
    return (*verb.split(), *_arguments(verb, run, folder, chance), *example)


def starts_with(words: Words, verb: str) -> bool:
    """Whether a command has this verb."""
    return " ".join(words).startswith(f"{verb} ")


def is_named(target: Path, words: Words) -> bool:
    """Whether a user names a target or what is in it with the words of a command, or keeps it in the own cache."""
    usual = {Path("edges.yaml"), Path("cache"), Path("runs")}  # what commands use that name nothing else
    return any(target in (way, *way.parents) for way in usual | places(words)) or target.parts[0] == "cache"


def _above(kind: Kind, target: Path, chance: random.Random) -> tuple[Path, Path]:
    """Return a run and a folder that hold a target, or any."""
    runs = kind.runs()
    folders = list(dict.fromkeys((Path("runs"), *(run.parent for run in runs))))
    run = next((run for run in runs if run in target.parents), chance.choice(runs))
    return run, next((folder for folder in reversed(folders) if folder in target.parents), chance.choice(folders))


def takes_files(parameter: Any) -> bool:
    """Whether a parameter takes files or folders."""
    metavar = parameter.metavar or ""
    return "Path" in str(parameter.type_descriptor.annotation) or "RUN" in metavar or "SWEEP" in metavar


def _arguments(verb: str, run: Path, folder: Path, chance: random.Random) -> Iterator[str]:
    for argument in (part for part in VERBS[verb].params if part.param_type_name == "argument" and takes_files(part)):
        metavar = argument.metavar or ""
        if argument.required or "SWEEP" in metavar or chance.random() < _SELDOM:
            either = [place for word, place in (("RUN", run), ("SWEEP", folder)) if word in metavar]
            yield str(chance.choice(either or [run]))


def add_options(verb: str, target: Path, chance: random.Random) -> Iterator[str]:
    """Draw flags, and options that take a file."""
    for option in (part for part in VERBS[verb].params if part.param_type_name == "option"):
        if chance.random() >= _SELDOM or _LEFT_OUT & set(option.opts):
            continue
        if option.is_flag:
            yield chance.choice((*option.opts, *option.secondary_opts))
        elif takes_files(option):
            yield from (option.opts[0], str(chance.choice((target, target.parent, "new/file"))))
