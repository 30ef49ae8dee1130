"""The style of figures: colours for colour-blind readers, and text that is legible at column width."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal, cast

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, MaxNLocator
from matplotlib.transforms import Bbox

from quorum.comparison.comparison import Comparison
from quorum.comparison.factors import short, written
from quorum.comparison.tables import level_label
from quorum.configuration.origin import Scalar
from quorum.display.sanitize import sanitize_lines

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#7F7F7F")
"""Okabe and Ito's palette without black and yellow, which vanish on a dark or a white page, and two more."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_SETTINGS = mpl.rc_params_from_file(Path(__file__).with_name("quorum.mplstyle"), use_default_template=False)
INK = _SETTINGS["text.color"]
GRID = _SETTINGS["grid.color"]
"""A page in a browser replaces these two with its own colours, since it may be dark."""
COLUMN = 3.3
"""Width of a figure for one column of a paper, in inches."""
PAGE = 7.0
"""Width of a figure for the whole page, in inches."""
_TICKS = 4
"""Maximum number of tick intervals of an axis: text takes most of the drawing time."""
_LEGEND_LINE, _REMARK_LINE = 0.155, 0.115
"""Height of a line of the legend and of the remark, in inches."""
_TICK, _LABEL, _LINE, _EDGE = 0.1, 0.15, 0.14, 0.05
"""Space for a tick, the label of an axis, each further line of a label or a title, and at an edge, in inches."""
_GAP = 6
"""Least space between tick labels, in pixels."""
_LEGEND_LETTERS, _REMARK_LETTERS = 16.5, 18.5
"""Letters that fit in an inch of each."""


@dataclass(frozen=True, slots=True)
class Medium:
    """The medium of figures.

    Attributes:
        columns: most panels side by side; None: as many as fit on a page of paper.
        legend: whether each figure has a legend of the levels.
        text: whether SVG letters are text, which can be searched; else outlines, which look the same everywhere.
    """

    columns: int | None = None
    legend: bool = True
    text: bool = False


PAPER = Medium()
PAGE_IN_BROWSER = Medium(columns=1, legend=False, text=True)
"""Panels are stacked, so that a figure is as wide as a telephone; the page has one legend for all figures."""
_MEDIUM: ContextVar[Medium] = ContextVar("medium", default=PAPER)


@contextmanager
def styled(medium: Medium = PAPER) -> Iterator[None]:
    """Draw and save figures in this style for a medium, without changing the settings of the process."""
    token = _MEDIUM.set(medium)
    try:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(_SETTINGS)
            mpl.rcParams["svg.fonttype"] = "none" if medium.text else "path"
            yield
    finally:
        _MEDIUM.reset(token)


class ShownFigure(Figure):
    """A figure that a notebook displays without pyplot."""

    def _repr_png_(self) -> bytes:
        with styled():
            return rendered(self, "png")


@dataclass(frozen=True, slots=True)
class Margins:
    """Least space around a panel for its ticks, labels and title, in inches; `finish` gives them what they need."""

    left: float = 0.52
    right: float = 0.1
    top: float = 0.26
    bottom: float = 0.4


@dataclass(frozen=True, slots=True)
class Sheet:
    """A figure of equal panels over a footer.

    Attributes:
        figure: the whole figure.
        panels: row by row.
        columns: number of panels side by side.
        height: height of a panel with its margins, in inches.
        margins: margins of each panel.
    """

    figure: Figure
    panels: tuple[Axes, ...]
    columns: int
    height: float
    margins: Margins

    def bottom_row(self, place: int) -> bool:
        """Whether this panel has no panel below it."""
        return place + self.columns >= len(self.panels)

    def first_column(self, place: int) -> bool:
        """Whether this panel has no panel to its left."""
        return place % self.columns == 0


def sheet(number: int, *, height: float, columns: int = 3, margins: Margins | None = None) -> Sheet:
    """Make a figure with a number of panels; `finish` places them.

    Args:
        number: number of panels. Side by side they are as wide as a page of a paper, else as a column.
        height: height of a panel with its margins, in inches.
        columns: maximum number side by side.
        margins: margins of each panel; None: those of a panel with ticks and labels.
    """
    columns = min(number, columns, _MEDIUM.get().columns or columns)
    figure = ShownFigure(figsize=(COLUMN if columns == 1 else PAGE, height))
    FigureCanvasAgg(figure)
    made = tuple(figure.add_axes((0.0, 0.0, 1.0, 1.0), label=str(k)) for k in range(number))
    for axes in made:
        axes.xaxis.set_major_locator(MaxNLocator(_TICKS))
        axes.yaxis.set_major_locator(MaxNLocator(_TICKS))
    return Sheet(figure, made, columns, height, margins or Margins())


def panels(drawn: Sheet, comparison: Comparison) -> Iterator[tuple[int, Axes, Scalar]]:
    """Yield each panel with its place and its value of `across`, which becomes its title."""
    for place, (axes, point) in enumerate(zip(drawn.panels, comparison.points, strict=True)):
        if comparison.across is not None:
            title(axes, f"{name_of(comparison.across)} = {clipped(written(point))}")
        yield place, axes, point


def name_of(factor: str) -> str:
    """Return a factor in words: `topology` for `topology.name`, `env layout` for `env.layout`."""
    return short(factor).replace(".", " ").replace("_", " ")


def colour(comparison: Comparison, level: str) -> str:
    """Return the colour of a level."""
    return COLOURS[comparison.levels.index(level) % len(COLOURS)]


def sentence(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def clipped(text: str, length: int = 34) -> str:
    """Fit a label on one line of a figure; keep its start and its end, since labels differ in either."""
    line = " ".join(text.split())
    end = (length - 1) // 2
    return line if len(line) <= length else f"{line[: length - 1 - end]}…{line[len(line) - end :]}"


def finish(
    drawn: Sheet,
    comparison: Comparison,
    remark: str,
    *,
    line: bool = True,
    legend: bool = True,
    without: str | None = None,
    more: Sequence[Line2D] = (),
) -> Figure:
    """Lay out the panels, with the legend of the levels and a remark below them.

    Nothing is cut off and no labels touch: margins grow, titles wrap, and tick labels slant. Measuring once is enough
    for equal panels; Matplotlib's layout engines take as long as the drawing.

    Args:
        drawn: its panels are already drawn.
        comparison: what it shows.
        remark: explains the marks.
        line: whether levels are drawn as lines; else as areas.
        legend: whether the levels need a legend.
        without: a level that is not drawn.
        more: labelled legend lines that are not levels.
    """
    figure = drawn.figure
    width = float(figure.get_figwidth())
    if comparison.simulated:
        remark = f"Simulated language model. {remark}"
    lines = wrap(re.sub(r"(?<=[↑↓\d]) ", "\N{NO-BREAK SPACE}", remark), int(width * _REMARK_LETTERS))
    own = comparison.levels if legend and _MEDIUM.get().legend else ()
    handles = [*(_handle(comparison, level, line=line) for level in own if level != without), *more]
    columns = _legend_columns(handles, width)
    legend_rows = -(-len(handles) // columns) if len(handles) > 1 or more or (handles and without is not None) else 0
    footer = 0.06 + _REMARK_LINE * len(lines) + (_LEGEND_LINE * legend_rows + 0.08 if legend_rows else 0)
    fitted = _fitted(drawn, width)
    height = -(-len(drawn.panels) // drawn.columns) * fitted.height + footer
    _place(fitted, width, height)
    figure.text(0.5, 0.04 / height, "\n".join(lines), ha="center", va="bottom", fontsize=6.5, linespacing=1.25)
    if legend_rows:
        figure.legend(
            handles=handles, loc="lower center", ncols=columns, frameon=False, columnspacing=1.2, borderpad=0,
            bbox_to_anchor=(0.5, (0.08 + _REMARK_LINE * len(lines)) / height), labelspacing=0.35,
        )  # fmt: skip
    return figure


def _place(drawn: Sheet, width: float, height: float) -> None:
    drawn.figure.set_size_inches(width, height)
    cell, margins = width / drawn.columns, drawn.margins
    for place, axes in enumerate(drawn.panels):
        row, column = divmod(place, drawn.columns)
        left = column * cell + margins.left
        bottom = height - (row + 1) * drawn.height + margins.bottom
        inner = (cell - margins.left - margins.right, drawn.height - margins.top - margins.bottom)
        axes.set_position((left / width, bottom / height, inner[0] / width, inner[1] / height))
        lines = axes.get_xlabel().count("\n"), axes.get_ylabel().count("\n")
        axes.xaxis.set_label_coords(0.5, (_LABEL + _LINE * lines[0] - margins.bottom) / inner[1])
        axes.yaxis.set_label_coords((_LABEL + _LINE * lines[1] - margins.left) / inner[0], 0.5)


def _fitted(drawn: Sheet, width: float) -> Sheet:
    """Give the panels the margins that their labels need; the height of the panels stays."""
    shown = [axes for axes in drawn.panels if axes.axison]
    inch, least = drawn.figure.dpi, drawn.margins
    high = drawn.height - least.top - least.bottom
    lines = max(_wrapped(axes.yaxis.label, high, inch, upright=True) for axes in drawn.panels)
    ticks = max((box.width for axes in shown for box in _tick_boxes(axes, "y")), default=0.0) / inch
    left = max(least.left, _TICK + ticks + _room(lines))
    _place(replace(drawn, margins=replace(least, left=left)), width, drawn.height * len(drawn.panels))
    if any(map(_touch, shown)):
        for axes in shown:
            _slant(axes)
    wide = width / drawn.columns - left - least.right
    lines = max(_wrapped(axes.xaxis.label, wide, inch) for axes in drawn.panels)
    found = [(box, axes.bbox) for axes in shown for box in _tick_boxes(axes, "x")]
    ticks = max((box.height for box, _ in found), default=0.0) / inch
    titles = max(_wrapped(_title(axes), wide, inch) for axes in drawn.panels)
    margins = Margins(
        left=max([left, *((panel.x0 - box.x0) / inch + _EDGE for box, panel in found)]),
        right=max([least.right, *((box.x1 - panel.x1) / inch + _EDGE for box, panel in found)]),
        top=least.top + _LINE * max(titles - 1, 0),
        bottom=max(least.bottom, _TICK + ticks + _room(lines)),
    )
    return replace(drawn, margins=margins, height=high + margins.top + margins.bottom)


def _room(lines: int) -> float:
    """Return the space for the label of an axis, and for the edge, in inches."""
    return _EDGE + (_LABEL + _LINE * (lines - 1) if lines else 0.0)


def _tick_boxes(axes: Axes, axis: Literal["x", "y"]) -> list[Bbox]:
    """Return the boxes of the tick labels that an axis shows, in pixels."""
    along, limits = (0, axes.get_xlim()) if axis == "x" else (1, axes.get_ylim())
    labels = (axes.xaxis if axis == "x" else axes.yaxis).get_majorticklabels()
    inside = [label for label in labels if min(limits) <= label.get_position()[along] <= max(limits)]
    return [label.get_window_extent() for label in inside if label.get_visible() and label.get_text()]


def _title(axes: Axes) -> Text:
    return cast("Text", axes._left_title)  # type: ignore[attr-defined]  # it has no public name


def _wrapped(label: Text, room: float, inch: float, *, upright: bool = False) -> int:
    """Break a label into lines that fit into a room, in inches, and return their number."""
    text = label.get_text()
    box = label.get_window_extent()
    size = (box.height if upright else box.width) / inch
    if text and size > room:
        label.set_text("\n".join(wrap(text, max(1, int(len(text) * room / size)))))
    return len(label.get_text().splitlines())


def _touch(axes: Axes) -> bool:
    """Whether tick labels of the x axis touch each other."""
    ends = sorted((box.x0, box.x1) for box in _tick_boxes(axes, "x"))
    return any(after[0] - before[1] < _GAP for before, after in pairwise(ends))


def _slant(axes: Axes) -> None:
    """Make room between tick labels: names slant, numbers become fewer."""
    if isinstance(axes.xaxis.get_major_locator(), FixedLocator):
        for label in axes.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(2))


def look(comparison: Comparison, level: str) -> dict[str, Any]:
    """Return the line options of a level: its colour and marker."""
    marker = MARKERS[comparison.levels.index(level) % len(MARKERS)]
    return {"color": colour(comparison, level), "marker": marker}


def _handle(comparison: Comparison, level: str, *, line: bool) -> Line2D | Patch:
    label = clipped(level_label(comparison, level))
    if not line:
        return Patch(color=colour(comparison, level), label=label)
    return Line2D([], [], **look(comparison, level), markersize=4, linewidth=1.2, label=label)


def _legend_columns(handles: Sequence[Line2D | Patch], width: float) -> int:
    longest = max((len(str(handle.get_label())) for handle in handles), default=0)
    most = max(1, int(width * _LEGEND_LETTERS) // (longest + 7))
    return -(-len(handles) // -(-len(handles) // most)) if handles else 1  # rows of equal length


def swatch(comparison: Comparison, level: str) -> Figure:
    """Draw the legend swatch of a level for use outside of figures: a line with its marker, 0.4 inches wide."""
    figure = Figure(figsize=(0.4, 0.16))
    FigureCanvasAgg(figure)
    handle = _handle(comparison, level, line=True)
    assert isinstance(handle, Line2D)
    handle.set_data([0.1, 0.5, 0.9], [0.5, 0.5, 0.5])
    handle.set_markevery([1])
    handle.set_label("")
    handle.set_transform(figure.transFigure)
    figure.add_artist(handle)
    return figure


def title(axes: Axes, text: str) -> None:
    """Put a title above a panel, left-aligned."""
    axes.set_title(text, loc="left", y=1.03, pad=0)


def grid(axes: Axes, axis: str = "both") -> None:
    """Draw thin lines behind the marks."""
    axes.set_axisbelow(True)
    axes.grid(axis=axis, linewidth=0.5)  # type: ignore[arg-type] # 'x', 'y' or 'both'


SAVED: Mapping[str, Mapping[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
    "png": {"metadata": {"Software": None}, "dpi": 200, "pil_kwargs": {"compress_level": 1}},
    "svg": {"metadata": {"Date": None}},
}
"""Options for saving each format: without a date, so that equal figures have equal bytes."""


def rendered(figure: Figure, form: str) -> bytes:
    """Return a figure as the content of a file.

    Args:
        figure: drawn within `styled`.
        form: `png`, `svg`, or `pdf`, which embeds its fonts.
    """
    file = io.BytesIO()
    figure.savefig(file, format=form, **SAVED[form])
    return sanitize_lines(file.getvalue().decode()).encode() if form == "svg" else file.getvalue()
