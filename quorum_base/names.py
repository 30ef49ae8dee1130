"""Short lists of agents for prompts: a run of consecutively numbered names becomes one entry.

["agent_0", "agent_1", "agent_2", "coordinator"]  ->  ["agent_0..agent_2", "coordinator"]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]*)", re.DOTALL)
_RUN = re.compile(r"(.*?)(0|[1-9][0-9]*)\.\.\1(0|[1-9][0-9]*)", re.DOTALL)
_LEAST = 3
"""Minimum length of a run: two names are as short on their own."""


def fold_names(names: Sequence[str]) -> list[str]:
    """Replace each run of consecutively numbered names by its first and last name."""
    found: list[list[str]] = []
    for name in names:
        if found and name == _next(found[-1][-1]):
            found[-1].append(name)
        else:
            found.append([name])
    folded: list[str] = []
    for run in found:
        folded += [f"{run[0]}..{run[-1]}"] if len(run) >= _LEAST else run
    return folded


def unfold_names(folded: Iterable[str]) -> list[str]:
    """Expand a folded list: the inverse of `fold_names`, for names that do not contain `..`."""
    names: list[str] = []
    for entry in folded:
        run = _RUN.fullmatch(entry)
        if run is None:
            names.append(entry)
        else:
            stem, first, last = run.groups()
            names += [f"{stem}{number}" for number in range(int(first), int(last) + 1)]
    return names


def _next(name: str) -> str | None:
    """Return the name with the next number; None for a name without one."""
    numbered = _NUMBERED.fullmatch(name)
    return f"{numbered[1]}{int(numbered[2]) + 1}" if numbered else None
