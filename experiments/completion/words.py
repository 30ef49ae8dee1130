"""The candidates for the next word of a command line, from the configuration files and the folders on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from quorum.experiments.configuration.catalogue import (
    BUILTIN_GROUPS,
    CONFIGS,
    SWEEP_GROUPS,
    Knob,
    Option,
    knobs,
    options,
)

_MARKS = ("meta.json", "sweep.json")
"""A folder that holds one of these is that of a run or of a sweep."""
_DEFAULT = re.compile(r"^  - (?P<group>\w+): (?P<name>\w+)", re.MULTILINE)
_BOOLEANS = ("true", "false")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word that may come next.

    Attributes:
        word: the whole word, with what is typed of it already.
        about: what it is, in a few words; empty where there is nothing to say.
    """

    word: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the command, as far as completion needs it.

    Attributes:
        about: what it does.
        flags: its options by name, with what each is; `takes` holds those that take a value.
        takes: options behind which a value comes.
        settings: whether it takes values of the configuration, KEY=VALUE.
        grid: whether these are a grid, with the groups of sweeps and several values between commas.
        folders: whether it takes folders of runs or sweeps.
        choices: words that it takes, and nothing else.
    """

    about: str
    flags: Mapping[str, str]
    takes: frozenset[str] = frozenset()
    settings: bool = False
    grid: bool = False
    folders: bool = False
    choices: Sequence[str] = ()


def candidates(words: Sequence[str], verbs: Mapping[str, Verb]) -> list[Candidate]:
    """Return what the last word may become.

    Args:
        words: after `quorum`, with the word at the cursor last; empty if it has no letter yet.
        verbs: of the command.
    """
    *before, word = words or [""]
    if not before:
        return [Candidate(name, verb.about) for name, verb in verbs.items() if name.startswith(word)]
    verb = verbs.get(before[0])
    if verb is None:
        return []
    if before[-1] in verb.takes:
        return list(_paths(word, runs=False))
    if word.startswith("-"):
        return [Candidate(flag, about) for flag, about in verb.flags.items() if flag.startswith(word)]
    found = [Candidate(choice) for choice in verb.choices if choice.startswith(word)]
    if verb.settings:
        found += _settings(word, before[1:], verb, _config_dir(before))
    if verb.folders and "=" not in word:
        found += _paths(word, runs=True)
    return found


def _config_dir(before: Sequence[str]) -> Path | None:
    """Return the folder of more configurations that the line names, where there is one."""
    for flag, value in pairwise(before):
        if flag == "--config-dir" and Path(value).is_dir():
            return Path(value)
    return None


def _settings(word: str, before: Sequence[str], verb: Verb, config_dir: Path | None) -> Iterator[Candidate]:
    groups = {*BUILTIN_GROUPS, *(SWEEP_GROUPS if verb.grid else ())}
    there = [option for option in options(config_dir) if option.group in groups]
    key, equals, value = word.partition("=")
    if not equals:
        yield from _keys(word, before, there)
        return
    first, comma, last = value.rpartition(",") if verb.grid else ("", "", value)
    start = f"{key}={first}{comma}"
    if key in groups:
        yield from (
            Candidate(start + option.name, option.description)
            for option in there
            if option.group == key and option.name.startswith(last)
        )
        return
    for knob in _known(before, there):
        if knob.key == key:
            values = _BOOLEANS if knob.value in _BOOLEANS else (knob.value.strip("'\""),)
            yield from (Candidate(start + text, knob.description) for text in values if text.startswith(last))


def _keys(word: str, before: Sequence[str], there: Sequence[Option]) -> Iterator[Candidate]:
    """Yield groups and keys; of keys with further parts only the next part, so that lists stay short."""
    for group in dict.fromkeys(option.group for option in there):
        if group.startswith(word):
            yield Candidate(f"{group}=", "a group of options")
    seen = set()
    for knob in _known(before, there):
        if not knob.key.startswith(word):
            continue
        more, dot, _ = knob.key[len(word) :].partition(".")
        name = f"{word}{more}." if dot else f"{knob.key}="
        if name not in seen:
            seen.add(name)
            yield Candidate(name, "" if dot else knob.description)


def _known(before: Sequence[str], there: Sequence[Option]) -> Iterator[Knob]:
    """Yield the keys of the options that the line has chosen, or of the defaults."""
    chosen = dict(_DEFAULT.findall((CONFIGS / "config.yaml").read_text(encoding="utf-8")))
    for word in before:
        key, equals, value = word.partition("=")
        if equals and any(option.group == key for option in there):
            chosen[key] = value
    yield from knobs()
    for option in there:
        if option.name in chosen.get(option.group, "").split(","):
            yield from option.typed


def _paths(word: str, *, runs: bool) -> Iterator[Candidate]:
    """Yield folders, and files unless only runs and sweeps count; what is hidden only where it is asked for."""
    folder, slash, start = word.rpartition("/")
    place = Path(folder + slash or ".").expanduser()
    try:
        found = sorted(place.iterdir())
    except OSError:
        return
    for path in found:
        if not path.name.startswith(start) or (path.name.startswith(".") and not start):
            continue
        if path.is_dir():
            kind = next((mark.removesuffix(".json") for mark in _MARKS if (path / mark).exists()), "")
            about = {"meta": "a run", "sweep": "a sweep"}.get(kind, "")
            yield Candidate(f"{folder}{slash}{path.name}" + ("" if about == "a run" else "/"), about)
        elif not runs:
            yield Candidate(f"{folder}{slash}{path.name}")
