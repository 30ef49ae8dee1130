"""What ships with Quorum, by kind and name: each folder lists what it offers in its `components.json`.

| kind | what each name stands for |
|---|---|
| `worlds`, `minds`, `topologies`, `providers`, `extensions`, `engines`, `trackers` | a `maeil.component.Component` |
| `skills` | the skills of a world (`quorum.agents.skills.WorldSkills`) |
| `roles` | `WORLD.ROLE`: a role that a method adds to the skills of a world |
| `answers` | the part of an extension in answers (`quorum.agents.answer_parts.AnswerPart`) |
| `simulated` | what the simulated model says to a request in a role |

A place is written as in an entry point: `package.module:attribute`. Nothing is imported before somebody asks for it,
so a method is added or removed with its folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_LISTS = (
    "quorum/experiments/configuration/components.json",
    "quorum/*/components.json",
    "quorum/*/*/components.json",
    "maeil/extensions/*/components.json",
)
"""Where the lists are, in the order in which their names are shown: the core's comes first."""


@cache
def shipped(kind: str) -> Mapping[str, str]:
    """Return the place of each component of a kind, by name."""
    return {name: place for listed in _listed() for name, place in listed.get(kind, {}).items()}


@cache
def _listed() -> tuple[Mapping[str, Mapping[str, str]], ...]:
    files = dict.fromkeys(file for pattern in _LISTS for file in sorted(_ROOT.glob(pattern)))
    return tuple(json.loads(file.read_bytes()) for file in files)
