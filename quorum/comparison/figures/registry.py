"""The registry of figures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from matplotlib.figure import Figure

from maeil.contracts import check_type, described, name_of
from maeil.errors import ContractError
from quorum.comparison.comparison import Comparison
from quorum.comparison.figures.style import styled
from quorum_base.registry import Registered
from quorum_base.user_errors import UserError, choices_hint


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawn figure.

    Attributes:
        description: alternative text.
        figure: the Matplotlib figure.
        name: stem of its files; empty: the name under which its function is registered.
        caption: its caption in a paper; empty: the description.
    """

    description: str
    figure: Figure
    name: str = ""
    caption: str = ""


Draw = Callable[[Comparison], Iterator[Drawing]]
"""Draws a comparison; yields nothing if there is nothing to show."""

ORDER = (
    "difference", "metrics", "overview", "budgets", "published", "radar", "failures", "failure_kinds",
    "pareto",
)  # fmt: skip
"""The order of figures in a report, including those of satellites."""

FIGURES: Registered[Draw] = Registered("figure", "quorum.figures", "[a-z][a-z0-9_]*", ORDER)
"""Every figure by name, including those of satellites, plug-ins and installed packages."""


def figure(name: str) -> Callable[[Draw], Draw]:
    """Register a function that draws a comparison.

    Args:
        name: lowercase letters, digits and underscores: the stem of its files.

    Raises:
        ValueError: the name is invalid or already registered.
    """

    def register(draw: Draw) -> Draw:
        FIGURES.register(name, draw)
        return draw

    return register


def draw_figures(comparison: Comparison, but: Collection[str] = ()) -> Iterator[Drawing]:
    """Draw every figure that has something to show, except those with these names, within `style.styled`."""
    for name, draw in FIGURES.items():
        if name not in but:
            yield from drawings_of(name, draw, comparison)


def draw_figure(comparison: Comparison, name: str) -> Figure:
    """Draw one figure: the first if there are several of its name.

    Raises:
        UserError: there is no such figure, or it has nothing to show.
    """
    if name not in FIGURES:
        raise UserError(f"plot(): there is no figure {name!r}", choices_hint(name, "Figures", list(FIGURES)))
    with styled():
        drawing = next(drawings_of(name, FIGURES[name], comparison), None)
    if drawing is None:
        raise UserError(f"plot(): these runs have no data for the figure {name!r}")
    return drawing.figure


def drawings_of(name: str, draw: Draw, comparison: Comparison) -> Iterator[Drawing]:
    """Draw one figure, and name each drawing.

    Raises:
        ContractError: the function yields something other than drawings.
    """
    found = draw(comparison)
    if not isinstance(found, Iterable):
        raise ContractError(f"{name_of(draw)}() returned {described(found)}; it must yield Drawings", draw)
    for one in found:
        drawing = check_type(one, Drawing, draw, "an iterator of Drawing")
        yield drawing if drawing.name else replace(drawing, name=name)
