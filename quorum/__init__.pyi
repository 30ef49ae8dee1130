import quorum.train.api

from .api import Cancellation as Cancellation
from .api import Comparison as Comparison
from .api import Result as Result
from .api import Results as Results
from .api import SweepResult as SweepResult
from .api import UserError as UserError
from .api import compare as compare
from .api import results as results
from .api import run as run
from .api import sweep as sweep
from .api import trace as trace
from .installation.version import __version__ as __version__

Completion = quorum.train.api.Completion
rollouts = quorum.train.api.rollouts

__all__ = [
    "Cancellation",
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
    "trace",
]
