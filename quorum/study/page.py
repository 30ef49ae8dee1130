"""The page of a study: the findings in words, the effects against the noise floor, and all tables."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from quorum.comparison.figures import style
from quorum.comparison.notes import notes
from quorum.comparison.report import inline_svg, templates
from quorum.comparison.tables import SIMULATED
from quorum.study.analysis import Analysis
from quorum.study.findings import findings
from quorum.study.play import Played
from quorum.study.tables import tables

PAGE = "study.html"
_DASHED = (
    "The dashed lines show the noise floor: the mean difference of two equal arms lies between them in at least 95 % of"
    " cases. Without these lines, it is unknown."
)


def page(played: Played) -> str:
    """Return the page as text."""
    analysis = played.analysis
    study = analysis.study
    with style.styled(style.PAGE_IN_BROWSER):
        drawn = inline_svg(_effects(analysis), "effects")
    return (
        templates("quorum.study")
        .get_template("study.html.jinja")
        .render(
            name=study.name,
            asks=study.question.asks,
            boards=analysis.boards,
            runs=len(analysis.comparison.pool.rows),
            simulated=SIMULATED if analysis.simulated else "",
            findings=[finding for finding in findings(played) if finding != SIMULATED],
            figure=(f"Effects on {analysis.metric.title}, each with its 95 % interval. {_DASHED}", drawn),
            notes=[note for note in notes(analysis.comparison) if not note.startswith(SIMULATED)],
            tables=tables(played),
            looks=played.record.looks,
            command=study.request.command,
        )
    )


def _effects(analysis: Analysis) -> Figure:
    """Draw each effect with its interval, and the noise floor."""
    effects = analysis.effects[::-1]
    drawn = style.sheet(1, height=0.9 + 0.26 * len(effects), margins=style.Margins(left=1.2, bottom=0.45))
    axes = drawn.panels[0]
    for place, effect in enumerate(effects):
        mean = effect.difference.mean
        if not math.isnan(mean.low):
            axes.plot([mean.low, mean.high], [place, place], color=style.COLOURS[0], linewidth=1.4)
        axes.plot([mean.value], [place], style.MARKERS[0], color=style.COLOURS[0], markersize=4)
    axes.axvline(0, color=style.INK, linewidth=0.7)
    if not math.isnan(analysis.floor):
        for end in (-analysis.floor, analysis.floor):
            axes.axvline(end, color=style.COLOURS[7], linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(effects)), [effect.file.name for effect in effects])
    axes.set_ylim(-0.6, len(effects) - 0.4)
    axes.set_xlabel(f"difference (better: {'left' if analysis.metric.better == 'lower' else 'right'})")
    style.grid(axes, "x")
    return style.finish(drawn, analysis.comparison, "95 % intervals; dashed: the noise floor.", legend=False)
