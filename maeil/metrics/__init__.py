"""Metrics: one function of the trace each.

Units: *cognitive time* is the unit of the run's clock (tokens, thoughts or seconds). A metric whose name ends in
`_seconds` measures wall time. `reproducible` leaves those out, and what the network did (`model.retries`). A value is
None where the trace does not define it.

Every metric works on the prefix that a killed run leaves. Metrics are not made of what a trace does not hold: messages
bear no token counts, so their size is given in characters only.
"""

from maeil.metrics import capability as _capability
from maeil.metrics import communication as _communication
from maeil.metrics import compat as _compat
from maeil.metrics import constraints as _constraints
from maeil.metrics import decision as _decision
from maeil.metrics import gates as _gates
from maeil.metrics import model as _model
from maeil.metrics import outcome as _outcome
from maeil.metrics import plans as _plans
from maeil.metrics.registry import GROUPS, METRICS, Metric, Value, compute_metrics, metric, reproducible

__all__ = ["GROUPS", "METRICS", "Metric", "Value", "compute_metrics", "metric", "reproducible"]

del _capability, _communication, _compat, _constraints, _decision, _gates, _model, _outcome, _plans
