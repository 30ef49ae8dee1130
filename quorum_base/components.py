"""What this project offers, by group and name: each folder lists what it offers in its `components.json`.

The groups are those of the entry points by which installed packages offer the same, without `quorum.`; a place is
written as in an entry point: `package.module:attribute`, or a module that registers what it has when it is imported.

| group | what each name stands for |
|---|---|
| `worlds`, `minds`, `topologies`, `providers`, `extensions`, `engines`, `trackers` | a `maeil.component.Component` |
| `skills` | the skills of a world (`quorum.agents.skills.WorldSkills`) |
| `roles` | `WORLD.ROLE`: a role that a method adds to the skills of a world |
| `kernels` | compiled code of a world or a mind (`quorum_base.compilation.KernelSet`) |
| `answers` | the part of an extension in answers (`quorum.agents.answer_parts.AnswerPart`) |
| `simulated` | what the simulated model says to a request in a role |
| `verbs` | a verb of the command (`quorum.verbs.verb.Verb`) |
| `hooks`, `measures`, `remarks` | what a satellite does for verbs of the core |
| `origins` | what recorded cells go back to (`quorum.configuration.origin.Origin`) |
| `api` | a module of methods of `quorum.Result` and `quorum.Results` |
| `events`, `metrics`, `figures` | a module that registers kinds of events, metrics, or figures |

Nothing is imported before somebody asks for it, so a satellite or a method is added or removed with its folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PACKAGES = frozenset(
    {
        "quorum", "quorum_base", "maeil", "cube_env", "crafter_env", "lbf_env", "llamac_env", "overcooked_env",
        "pettingzoo_env",
    }
)  # fmt: skip
"""The packages of this project, by the names under which they are imported."""
_ROOT = Path(__file__).resolve().parents[1]
_LISTS = (
    "quorum/components.json",
    "quorum/*/components.json",
    "quorum/*/*/components.json",
    "quorum/*/*/*/components.json",
)
"""Where the lists are, in the order in which their names are shown: the core's comes first."""


@cache
def shipped(group: str) -> Mapping[str, str]:
    """Return the place of each thing of a group, by name."""
    return {name: place for listed in _listed() for name, place in listed.get(group, {}).items()}


@cache
def _listed() -> tuple[Mapping[str, Mapping[str, str]], ...]:
    files = dict.fromkeys(file for pattern in _LISTS for file in sorted(_ROOT.glob(pattern)))
    return tuple(json.loads(file.read_bytes()) for file in files)
