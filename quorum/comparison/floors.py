"""Runs without a mind (`llm=random`, `llm=echo`): the levels that a model must exceed, never pooled with a model."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from quorum.runs import Results, Row

MODELS = ("model", "llm", "llm.name", "provider")
"""Factors that use the chance level as the default baseline."""
_WORD = "llm=random,echo"
_OF_MODELS = ("llm=", "llm.")
_BOUNDS = {"--budget-usd", "--budget-tokens", "--budget-calls", "--limit"}
"""Options with a value that do not apply to answers that cost nothing."""


def mixes_floors(rows: Iterable[Row], place: Callable[[Row], object]) -> bool:
    """Whether runs without a mind would be pooled with those of a model, or chance with echo.

    Args:
        rows: the runs.
        place: returns the pool of a run: its level and its value of `across`.
    """
    kinds: defaultdict[object, set[str]] = defaultdict(set)
    for row in rows:
        if row.models:
            kinds[place(row)].add(row.floor)
    return any(len(found) > 1 for found in kinds.values())


def without_floors(results: Sequence[Results]) -> list[Results]:
    """Return results without runs in which no mind answered."""
    return [replace(part, rows=tuple(row for row in part.rows if not row.floor)) for part in results]


def with_example(words: Sequence[str]) -> list[str]:
    """Return arguments with an example for an echo to copy: `prompts=terse` in place of `prompts=short`."""
    return ["prompts=terse" if word.lstrip("+") == "prompts=short" else word for word in words]


def command_for_floors(part: Results) -> str:
    """Return the command that repeats a sweep with chance and echo; empty if it needs none.

    A sweep needs one if a real model answered and it has neither. Studies run their own floors. If arms set the values
    of their models, no single argument can override them all.
    """
    real = any(row.models and not row.simulated for row in part.rows)
    if part.sweep is None or not real or any(row.floor for row in part.rows):
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
    return shlex.join([program, verb, *with_example(kept), _WORD, *name])
