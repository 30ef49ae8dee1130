"""Finds the problems of a sweep before it writes anything, and lists them with one line per kind of cell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from quorum.episode.model_pool import ConnectingPool
from quorum.episode.planned_cell import PlannedCell, Shared
from quorum.episode.preflight import Preflight
from quorum.process.event_loop import run_coroutine
from quorum_base.user_errors import UserError

MOST_SHOWN = 20
"""Problems that a message lists, at most."""
_MOST_PLACES = 3
_OF_THE_RUN = ("seed", "episode", "draw", "clock", "memory", "limits", "budget", "max_repairs")
"""Keys that do not affect whether an episode can start."""


@dataclass(slots=True)
class Problem:
    """A reason why some cells cannot run.

    Attributes:
        error: the error they raise.
        places: the grid arguments that lead to them.
        cells: their number.
    """

    error: UserError
    places: dict[str, None] = field(default_factory=dict)
    cells: int = 0

    @property
    def text(self) -> str:
        """Return it in one line: place, problem and remedy."""
        places = [place for place in self.places if place]
        more = ", ..." if len(places) > _MOST_PLACES else ""
        where = f"{', '.join(places[:_MOST_PLACES])}{more}: " if places else ""
        hint = f" ({self.error.hint})" if self.error.hint else ""
        return where + self.error.message.replace("\n", "; ") + hint


class Problems:
    """Collects problems and merges those with the same message.

    Args:
        before: problems that are already known.
    """

    def __init__(self, before: Iterable[Problem] = ()) -> None:
        self._found = {str(problem.error): problem for problem in before}

    def add(self, place: str, error: UserError, cells: int = 1) -> None:
        """Add a problem that affects `cells` cells."""
        problem = self._found.setdefault(str(error), Problem(error))
        problem.places[place] = None
        problem.cells += cells

    @property
    def found(self) -> tuple[Problem, ...]:
        """All problems, in the order in which they were found."""
        return tuple(self._found.values())


def affected(problems: Iterable[Problem]) -> int:
    """Return the number of cells with a problem."""
    return sum(problem.cells for problem in problems)


def listing(problems: Sequence[Problem], total: int) -> str:
    """Format problems in one or more lines.

    Args:
        problems: at least one problem.
        total: number of all cells.
    """
    head = f"{affected(problems)} of {total} cells cannot be run:"
    if len(problems) == 1:
        return f"{head} {problems[0].text}"
    lines = [problem.text for problem in problems[:MOST_SHOWN]]
    if len(problems) > MOST_SHOWN:
        lines.append(f"... and {len(problems) - MOST_SHOWN} more")
    return "\n  ".join([head, *lines])


def refusal(problems: Sequence[Problem], total: int) -> UserError:
    """Return the error that refuses to run a sweep.

    Args:
        problems: at least one problem.
        total: number of all cells.
    """
    if len(problems) == 1 and problems[0].cells == total:
        return problems[0].error
    rest = "--skip-invalid runs the others." if affected(problems) < total else ""
    return UserError(listing(problems, total), rest)


def look_at(
    cells: Sequence[PlannedCell], folder: Path, *, with_keys: bool, money: bool = False
) -> Mapping[str, UserError]:
    """Check one cell of each kind that has none in the folder yet.

    Args:
        cells: cells of a plan.
        folder: folder of the sweep; it need not exist.
        with_keys: whether API keys and provider packages are required.
        money: whether the sweep has a budget in US dollars, so that prices must be known.

    Returns:
        The kinds that cannot run, each with the reason.
    """
    present = set(os.listdir(folder)) if folder.is_dir() else set()
    kinds: dict[str, PlannedCell] = {}
    started = {cell.kind for cell in cells if cell.name in present}
    for cell in cells:
        if cell.kind not in started:
            kinds.setdefault(cell.kind, cell)
    return run_coroutine(_look_at(kinds, with_keys=with_keys, money=money)) if kinds else {}


async def _look_at(kinds: Mapping[str, PlannedCell], *, with_keys: bool, money: bool) -> dict[str, UserError]:
    shared: Shared = {}
    seen: dict[bytes, UserError | None] = {}
    found = {}
    async with ConnectingPool() as pool:
        look = Preflight(pool if with_keys else None, money=money)
        for kind, planned in kinds.items():
            values = orjson.loads(planned.configuration)
            continues = planned.origin is not None
            decides = {name: value for name, value in values.items() if name not in _OF_THE_RUN or continues}
            key = orjson.dumps([decides, kind if continues else ""])
            if key not in seen:
                seen[key] = None
                try:
                    await look.at(planned.cell())
                    if continues:
                        look.at_start(planned.cell(), planned.start(shared))
                except UserError as error:
                    seen[key] = error
            if (wrong := seen[key]) is not None:
                found[kind] = wrong
    return found
