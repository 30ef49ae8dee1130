"""The metrics that are compared: what a user calls them, their units, and which way is better."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.metrics import METRICS
from maeil.user_errors import UserError, choices_hint, nearest
from quorum.experiments.results import Row
from quorum.experiments.results.results_csv import metric_columns

DEFAULT = ("outcome.success", "outcome.completion", "outcome.steps")
"""What is compared when nothing is said."""

_SHARES = {"outcome.success", "outcome.completion"}
_HIGHER = {
    "outcome.success", "outcome.completion", "outcome.reached", "outcome.score", "outcome.return",
    "outcome.best_score", "outcome.mean_score",
    "plans.success_rate", "plans.coherence", "plans.stability", "compat.plan_success_rate",
    "constraints.attempt_success_rate", "constraints.satisfied_share", "constraints.quorum_share",
    "capability.gains", "capability.gain_rate",
}  # fmt: skip
_LOWER = {
    "outcome.steps", "outcome.steps_over_lower_bound", "outcome.steps_to_finish", "outcome.steps_or_limit",
    "outcome.steps_to_goals", "decision.overhead", "decision.synchronisation",
    "decision.latency_mean", "decision.latency_p95", "constraints.failed_attempts", "constraints.time_to_quorum",
    "plans.failed", "plans.invalid", "plans.timed_out", "model.usd", "model.completion_tokens", "model.prompt_tokens",
    "model.calls", "model.parse_failures", "model.repairs",
}  # fmt: skip


def direction(metric: str) -> int:
    """Tell which way is better: 1 for more, -1 for less, 0 where neither is."""
    if metric in _HIGHER or metric.startswith("constraints.satisfied_"):
        return 1
    if metric in _LOWER or metric.startswith(("constraints.violation_", "constraints.missing_")):
        return -1
    return 0


def arrow(metric: str) -> str:
    """Give the sign for the way that is better, with a space before it; empty where neither is."""
    return {1: " ↑", -1: " ↓", 0: ""}[direction(metric)]


def is_share(metric: str) -> bool:
    """Whether a metric lies between 0 and 1 by its nature, so that even runs that agree leave a doubt."""
    return metric in _SHARES


def unit(metric: str) -> str:
    """Give the unit of a metric; empty for a plain number or a share."""
    known = METRICS.get(metric)
    return known.unit if known is not None and known.unit != "1" else ""


def short(metric: str) -> str:
    """Write the name of a metric as a label: `steps` for `outcome.steps`; those of `compat` with their group."""
    group, _, name = metric.partition(".")
    words = name.replace("_", " ")
    return f"{group} {words}" if group == "compat" else words


def resolve(name: str, rows: Sequence[Row]) -> str:
    """Find the metric that a user names: `outcome.steps`, or `steps`.

    Where several metrics end so, the project's own goes before the one of `compat`.

    Raises:
        UserError: there is no such metric, it is ambiguous, or the runs do not have it.
    """
    there = metric_columns(rows)
    known = list(dict.fromkeys([*there, *METRICS]))
    ends = [name] if name in known else [metric for metric in known if metric.partition(".")[2] == name]
    own = [metric for metric in ends if not metric.startswith("compat.")]
    chosen = own or ends
    if len(chosen) > 1:
        raise UserError(f"--metric {name}: several metrics end so", f"Give one of them: {', '.join(chosen)}.")
    if not chosen:
        hint = nearest(name, [*known, *(metric.partition(".")[2] for metric in known)])
        groups = choices_hint("", "Groups", dict.fromkeys(metric.partition(".")[0] for metric in known))
        raise UserError(f"--metric {name}: there is no such metric", f"{hint} {groups}".lstrip())
    if chosen[0] not in there:
        raise UserError(
            f"--metric {chosen[0]}: the runs do not have it",
            "They were made by another version; `quorum metrics FOLDER/* --write` computes the metrics again.",
        )
    return chosen[0]
