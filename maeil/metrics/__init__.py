"""Metrics: one function of the trace each.

Units: *cognitive time* is the unit of the run's clock (tokens, thoughts or seconds). A metric whose last word is
`seconds` measures wall time. `reproducible` leaves those out, and what the network did (`model.retries`). A value is
None where the trace does not define it.

Formulas: T is the number of environment steps, n that of embodied agents; R, W, X and I are the stages in which an
agent reasons, waits, executes and is interrupted; C+ and C- are the constraints that are satisfied and violated.

| source | paper |
|---|---|
| EmCoop | arXiv 2603.00349 v1, whose symbols stand in the docstrings |
| COOP2, COOP2-Repair | arXiv 2603.00349 v2, and its public scripts |
| DIG | arXiv 2603.00309 |
| DyTopo | arXiv 2602.06039 |
| Hypothetical Minds | arXiv 2407.07086 |
| LLaMAC | arXiv 2311.13884 |
| HMAS-2 | arXiv 2309.15943 |
| Scaling Agent Systems | arXiv 2512.08296 |
| Difference rewards | Wolpert and Tumer, Advances in Complex Systems 4 (2001); Agogino and Tumer, JAAMAS 17 (2008) |

Metrics of the group `credit` are computed on demand alone: what a run would have been without somebody is not in its
trace.

Every metric works on the prefix that a killed run leaves. Metrics are not made of what a trace does not hold: messages
bear no token counts, so their size is given in characters only.

A metric says its unit, its title and which values are better where it is defined, by `@metric`. One of your own needs
one module, which `--plugin` names, or which an installed package declares as an entry point of the group
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
