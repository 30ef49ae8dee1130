"""The condition to stop adding boards: `half_width(steps) < 3` or `significant(steps)`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from operator import attrgetter

from maeil.metrics import METRICS
from quorum.comparison.metrics import find_metric
from quorum.comparison.statistics.intervals import Floats
from quorum.configuration.schema import Configuration
from quorum.study.anytime import LIMIT, Plan, anytime_interval, evidence, futile
from quorum_base.user_errors import UserError

_FORM = re.compile(
    r"\s*(?:half_width\s*\(\s*(?P<of_width>[\w.]+)\s*\)\s*<\s*(?P<width>\d*\.?\d+(?:e[-+]?\d+)?)"
    r"|significant\s*\(\s*(?P<of_effect>[\w.]+)\s*\))\s*"
)


@dataclass(frozen=True, slots=True)
class Until:
    """A condition that ends a study; the error rate of its test stays at 5 % however often it is checked.

    Attributes:
        metric: its metric.
        half_width: upper limit for half the anytime-valid interval; None: the difference must be significant.
    """

    metric: str
    half_width: float | None = None

    @classmethod
    def parse(cls, text: str) -> Until:
        """Read a condition.

        Raises:
            UserError: it has neither form, or there is no such metric.
        """
        found = _FORM.fullmatch(text)
        if found is None or (found["width"] and not float(found["width"])):
            raise UserError(
                f"--until {text!r}: not a condition",
                "Write 'half_width(METRIC) < NUMBER', with a number above 0, or 'significant(METRIC)'.",
            )
        metric = find_metric(found["of_width"] or found["of_effect"], f"--until {text!r}")
        return cls(metric, float(found["width"]) if found["width"] else None)

    def holds(self, differences: Floats, bound: float, plan: Plan | None) -> bool:
        """Whether the boards so far are enough.

        An interval is narrowest if the bets fit its target width, so the width replaces the planned effect.

        Args:
            differences: one per board, in the order in which boards were added, shape (boards,).
            bound: the largest possible size of a difference.
            plan: what was expected before the first of them; None: nothing.
        """
        if self.half_width is None:
            return bool(evidence(differences, bound, plan) >= LIMIT)
        if plan is not None:
            plan = replace(plan, effect=self.half_width, directed=False)
        low, high = anytime_interval(differences, bound, plan)
        return (high - low) / 2 < self.half_width

    def hopeless(self, differences: Floats, plan: Plan | None) -> bool:
        """Whether the planned effect is now so unlikely that more boards would be wasted; never for a width."""
        return self.half_width is None and plan is not None and bool(futile(differences, plan).any())


def largest_difference(metric: str, configuration: Configuration) -> float:
    """Return the largest possible difference of a metric between two episodes: 1 for a rate, else its limit.

    Raises:
        UserError: the metric has no known range. Its mean then has no test that is valid at every look.
    """
    ranged = {name: one for name, one in METRICS.items() if one.rate or one.limit}
    if metric not in ranged:
        outcomes = ", ".join(name for name, one in ranged.items() if one.better and one.group == "outcome")
        raise UserError(f"--until: {metric} has no known range", f"Take {outcomes}, or any other rate.")
    return 1.0 if ranged[metric].rate else float(attrgetter(ranged[metric].limit)(configuration))
