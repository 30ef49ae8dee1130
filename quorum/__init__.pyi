from .api import compare as compare
from .api import results as results
from .api import run as run
from .api import sweep as sweep
from .experiments.common.errors import UserError as UserError
from .experiments.common.version import __version__ as __version__
from .experiments.compare import Comparison as Comparison
from .experiments.episode.runner import Result as Result
from .experiments.results import Results as Results
from .experiments.sweep.run import SweepResult as SweepResult

__all__ = [
    "Comparison",
    "Result",
    "Results",
    "SweepResult",
    "UserError",
    "__version__",
    "compare",
    "results",
    "run",
    "sweep",
]
