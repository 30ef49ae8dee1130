"""Metrics: one function of the trace each."""

from maeil.metrics import outcome as _outcome
from maeil.metrics import plans as _plans
from maeil.metrics.registry import METRICS, Metric, Value, compute_metrics

__all__ = ["METRICS", "Metric", "Value", "compute_metrics"]

del _outcome, _plans
