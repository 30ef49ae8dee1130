"""What is wrong with a sweep, found before it writes anything: one list, a line for each kind of cell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from quorum.episode.first_look import FirstLook
from quorum.episode.model_pool import ConnectingPool
from quorum.episode.planned_cell import PlannedCell, Shared
from quorum.process.event_loop import run_coroutine
from quorum_base.user_errors import UserError

MOST_SHOWN = 20
"""Problems that a message lists."""
_MOST_PLACES = 3
_OF_THE_RUN = ("seed", "episode", "draw", "clock", "memory", "limits", "budget", "max_repairs")
"""Keys that make no difference to whether an episode can begin."""


@dataclass(slots=True)
class Problem:
    """Why some cells cannot be run.

    Attributes:
        error: what is wrong with them.
        places: the words of the grid that lead there.
        cells: their number.
    """

    error: UserError
    places: dict[str, None] = field(default_factory=dict)
    cells: int = 0

    @property
    def text(self) -> str:
        """Return it in one line: where, what, and what to do."""
        places = [place for place in self.places if place]
        more = ", ..." if len(places) > _MOST_PLACES else ""
        where = f"{', '.join(places[:_MOST_PLACES])}{more}: " if places else ""
        hint = f" ({self.error.hint})" if self.error.hint else ""
        return where + self.error.message.replace("\n", "; ") + hint


class Problems:
    """Gathers problems; those with the same message are one.

    Args:
        before: those that are known.
    """

    def __init__(self, before: Iterable[Problem] = ()) -> None:
        self._found = {str(problem.error): problem for problem in before}

    def add(self, place: str, error: UserError, cells: int = 1) -> None:
        """Add a problem of some cells."""
        problem = self._found.setdefault(str(error), Problem(error))
        problem.places[place] = None
        problem.cells += cells

    @property
    def found(self) -> tuple[Problem, ...]:
        """All of them, in the order in which they were found."""
        return tuple(self._found.values())


def affected(problems: Iterable[Problem]) -> int:
    """Return the number of cells that have a problem."""
    return sum(problem.cells for problem in problems)


def listing(problems: Sequence[Problem], total: int) -> str:
    """Say what is wrong, in a line or in several.

    Args:
        problems: at least one.
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
    """Return the error that refuses a sweep.

    Args:
        problems: at least one.
        total: number of all cells.
    """
    if len(problems) == 1 and problems[0].cells == total:
        return problems[0].error
    rest = "--skip-invalid runs the others." if affected(problems) < total else ""
    return UserError(listing(problems, total), rest)


def look_at(
    cells: Sequence[PlannedCell], folder: Path, *, with_keys: bool, money: bool = False
) -> Mapping[str, UserError]:
    """Look at one cell of each kind that has none in the folder yet.

    Args:
        cells: of a plan.
        folder: of the sweep; it need not be there.
        with_keys: whether keys and packages of providers must be there.
        money: whether the sweep has a budget of money, so that prices must be known.

    Returns:
        The kinds that cannot be run, each with the reason.
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
        look = FirstLook(pool if with_keys else None, money=money)
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
