"""The figures of a comparison.

Each figure is a function that registers itself with `@figure` and draws with the help of `style`. To add your own,
write a module and name it with `--plugin`, or declare it in an installed package as an entry point of the group
`quorum.figures`.
"""

from quorum.comparison.figures import means, values  # noqa: F401 (each registers its figures)
from quorum.comparison.figures.answer import answer
from quorum.comparison.figures.registry import FIGURES, Drawing, draw_figure, draw_figures, drawings_of, figure

__all__ = ["FIGURES", "Drawing", "answer", "draw_figure", "draw_figures", "drawings_of", "figure"]
