"""The figures of a comparison.

Each is a function that registers itself by `@figure` and draws with the help of `style`. One of your own needs one
module, which `--plugin` names, or which an installed package declares as an entry point of the group `quorum.figures`.
"""

from quorum.comparison.figures import crossplay, means, values  # noqa: F401 (each registers its figures)
from quorum.comparison.figures.registry import FIGURES, Drawing, draw_figure, draw_figures, drawings_of, figure

__all__ = ["FIGURES", "Drawing", "draw_figure", "draw_figures", "drawings_of", "figure"]
