"""Runs whose answers were drawn at random (`llm=random`): the level that a model has to exceed, and a level apart."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from quorum.runs import Results, Row

MODELS = ("model", "llm", "llm.name", "provider")
"""Factors of which the chance level is the baseline where nobody names another."""
_WORD = "llm=random"
_OF_MODELS = ("llm=", "llm.")
_BOUNDS = {"--budget-usd", "--budget-tokens", "--budget-calls", "--limit"}
"""Options with a value that chance, which costs nothing, has no use for."""


def mixes_chance(rows: Iterable[Row], place: Callable[[Row], object]) -> bool:
    """Whether runs of chance are pooled with those of a model.

    Args:
        rows: the runs.
        place: returns where a run is pooled: its level, with the value of `across`.
    """
    kinds: defaultdict[object, set[bool]] = defaultdict(set)
    for row in rows:
        if row.models:
            kinds[place(row)].add(row.chance)
    return any(len(found) > 1 for found in kinds.values())


def without_chance(results: Sequence[Results]) -> list[Results]:
    """Return results without the runs of chance."""
    return [replace(part, rows=tuple(row for row in part.rows if not row.chance)) for part in results]


def command_for_chance(part: Results) -> str:
    """Return the command that plays a sweep again with answers drawn at random; empty where it needs none.

    It needs one where a real model has answered, and nothing was drawn. A study draws by itself, and where arms set
    the values of their models no word stands for all of them.
    """
    real = any(row.models and not row.simulated for row in part.rows)
    if part.sweep is None or not real or any(row.chance for row in part.rows):
        return ""
    try:
        program, verb, *words = shlex.split(part.sweep.command)
    except ValueError:
        return ""
    of_arms = (word for own in part.sweep.arms.values() for word in own)
    if (program, verb) != ("quorum", "sweep") or any(word.startswith(_OF_MODELS) for word in of_arms):
        return ""
    bounded = {place + 1 for place, word in enumerate(words) if word in _BOUNDS}
    words = [word for place, word in enumerate(words) if word not in _BOUNDS and place not in bounded]
    kept = [word for word in words if not word.lstrip("+").startswith(_OF_MODELS)]
    name = [] if "--name" in words else ["--name", part.folder.resolve().name]
    return shlex.join([program, verb, *kept, _WORD, *name])
