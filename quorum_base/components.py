"""The components of this project by group and name, as each folder lists them in its `components.json`.

The groups have the names of the entry-point groups in which installed packages offer such components, without
`quorum.`. A location is written as in an entry point: `package.module:attribute`, or a module that registers its
components on import.

| group | what each name stands for |
|---|---|
| `worlds`, `minds`, `topologies`, `providers`, `extensions`, `engines`, `trackers` | a `maeil.component.Component` |
| `skills` | the skills of a world (`quorum.agents.skills.WorldSkills`) |
| `roles` | `WORLD.ROLE`: a role that a method adds to the skills of a world |
| `kernels` | compiled code of a world or a mind (`quorum_base.compilation.KernelSet`) |
| `answers` | an extension's part of an answer (`quorum.agents.answer_parts.AnswerPart`) |
| `simulated` | the simulated model's answers to requests in a role |
| `verbs` | a verb of the command (`quorum.verbs.verb.Verb`) |
| `hooks`, `remarks` | a satellite's contributions to verbs of the core |
| `exports` | a format of `quorum export` (`quorum.view.export.formats`) |
| `origins` | the origin of recorded cells (`quorum.configuration.origin.Origin`) |
| `api` | a module with methods of `quorum.Result` and `quorum.Results` |
| `python` | a function or class of a satellite, which `import quorum` offers under that name |
| `events`, `metrics`, `figures` | a module that registers kinds of events, metrics, or figures |

Components are imported on first use, so adding or deleting its folder is all it takes to add or remove a satellite or
a method.
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
"""Locations of the lists, in the order in which their names are shown: the core's list comes first."""


@cache
def shipped(group: str) -> Mapping[str, str]:
    """Return the location of each component of a group, by name."""
    return {name: place for listed in _listed() for name, place in listed.get(group, {}).items()}


@cache
def _listed() -> tuple[Mapping[str, Mapping[str, str]], ...]:
    files = dict.fromkeys(file for pattern in _LISTS for file in sorted(_ROOT.glob(pattern)))
    return tuple(json.loads(file.read_bytes()) for file in files)
