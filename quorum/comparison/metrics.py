"""The compared metrics: how users name them, and their labels."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.metrics import METRICS
from quorum.configuration.glossary import metric_hint
from quorum.runs import Row
from quorum.runs.results_folder import metric_columns
from quorum_base.user_errors import UserError

DEFAULT = ("outcome.success", "outcome.completion", "outcome.steps")
"""Default metrics."""


_ARROWS = {"higher": " ↑", "lower": " ↓", None: ""}


def arrow(metric: str) -> str:
    """Return the arrow for the better direction, after a space; empty if there is none."""
    return _ARROWS[METRICS[metric].better]


def resolve(name: str, rows: Sequence[Row]) -> str:
    """Find the metric that a user names: `outcome.steps`, or `steps`.

    If several metrics end so, the project's own take precedence over those that others define, and those that the runs
    have over those that they lack, such as the metrics of repairs.

    Raises:
        UserError: no such metric is registered, several are, or the runs do not have it.
    """
    there = metric_columns(rows)
    chosen = _registered(name)
    chosen = [metric for metric in chosen if metric in there] or chosen
    if len(chosen) > 1:
        raise UserError(f"--metric {name}: several metrics end in this name", f"Give one of them: {', '.join(chosen)}.")
    if not chosen:
        raise UserError(f"--metric {name}: there is no such metric", _hint(name, there))
    if chosen[0] not in there:
        raise UserError(
            f"--metric {chosen[0]}: the runs do not have it",
            "Another version made them, or its plug-in was missing;"
            " `quorum results FOLDER --write` computes the metrics again (for a plug-in's metrics, add"
            " --plugin MODULE).",
        )
    return chosen[0]


def find_metric(name: str, option: str) -> str:
    """Find the metric that a user names before there are runs; the project's own metrics take precedence.

    Args:
        name: `outcome.steps`, or `steps`.
        option: the option that names it, for messages.

    Raises:
        UserError: no such metric is registered, or several are.
    """
    chosen = _registered(name)
    if len(chosen) > 1:
        raise UserError(f"{option}: several metrics end in {name}", f"Give one of them: {', '.join(chosen)}.")
    if not chosen:
        raise UserError(f"{option}: there is no metric {name}", metric_hint(name))
    return chosen[0]


def _registered(name: str) -> list[str]:
    ends = [name] if name in METRICS else [metric for metric in METRICS if metric.partition(".")[2] == name]
    return [metric for metric in ends if not METRICS[metric].origin] or ends


def _hint(name: str, there: Sequence[str]) -> str:
    if any(name in (metric, metric.partition(".")[2]) for metric in there):
        return "The runs have it, but no loaded module defines it: name its module, --plugin MODULE."
    return metric_hint(name)
