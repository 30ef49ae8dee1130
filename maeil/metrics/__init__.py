"""Metrics, each of which is one function of the trace.

Units: *cognitive time* is in the unit of the run's clock (tokens, thoughts or seconds). A metric with `seconds` as its
last word measures wall time. `reproducible` leaves those out, as well as effects of the network (`model.retries`). A
value is None if the trace does not define it.

Formulas: T is the number of environment steps, n the number of embodied agents; R, W, X and I are the stages in which
an agent reasons, waits, executes and is interrupted; C+ and C- are satisfied and violated constraints.

| source | paper |
|---|---|
| EmCoop | arXiv 2603.00349 v1; the docstrings use its symbols |
| COOP2, COOP2-Repair | arXiv 2603.00349 v2, and its public scripts |
| DIG | arXiv 2603.00309 |
| DyTopo | arXiv 2602.06039 |
| Hypothetical Minds | arXiv 2407.07086 |
| LLaMAC | arXiv 2311.13884 |
| HMAS-2 | arXiv 2309.15943 |
| Scaling Agent Systems | arXiv 2512.08296 |
| Difference rewards | Wolpert and Tumer, Advances in Complex Systems 4 (2001); Agogino and Tumer, JAAMAS 17 (2008) |

Metrics of the group `credit` are computed on demand only, since a trace does not show how the run would have gone
without one of the agents.

Every metric also works on the incomplete trace of a killed run. Metrics use only data from the trace: messages have no
token counts, for example, so their size is in characters.

The `@metric` decorator defines a metric's unit, title and which values are better. To add your own metrics, write one
module and name it with `--plugin`, or declare it in an installed package as an entry point of the group
`quorum.metrics`. A satellite of Quorum lists its modules in its `components.json`.
"""

from maeil.metrics import (  # noqa: F401 (each registers its metrics)
    communication,
    constraints,
    coop2,
    decision,
    dig,
    emcoop,
    model,
    outcome,
    plans,
)
from maeil.metrics.registry import (
    METRICS,
    Better,
    Metric,
    Value,
    compute_metrics,
    compute_on_demand,
    metric,
    metrics_by_group,
    reproducible,
)

__all__ = [
    "METRICS", "Better", "Metric", "Value", "compute_metrics", "compute_on_demand", "metric", "metrics_by_group",
    "reproducible",
]  # fmt: skip
