"""Credits as a measure of `quorum results`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from maeil.metrics import Value
from quorum.display.terminal import echo
from quorum.runs.derived import Records, of_all
from quorum.runs.measures import Measure
from quorum.what_if.blame.credit import Bill, Credits, Kind, credits_of
from quorum_base.user_errors import UserError


class CreditMeasure(Measure):
    """The worth of agents and messages.

    Args:
        kinds: the credits.
        idle_from: the step from which an agent idles, for `Kind.AGENT`.
        bill: limits of paid models, and their cost so far.
    """

    def __init__(self, kinds: Sequence[Kind], idle_from: int, bill: Bill) -> None:
        self._kinds = kinds
        self._idle_from = idle_from
        self._bill = bill
        self.estimates = bill.stands_in

    def check(self, per: str | None, *, write: bool) -> None:
        """Refuse a table without columns for a credit, and refuse to store credits from a later step on."""
        if self._idle_from and (write or set(self._kinds) != {Kind.AGENT}):
            raise UserError(
                "--idle-from works only with --credit agent, and metrics.json holds credits from the first step on",
                "Add --credit agent and no other credit, and leave --write out.",
            )
        if strange := [kind for kind in self._kinds if per not in (None, kind.per)]:
            raise UserError(
                f"--per {per} --credit {', '.join(strange)}: this table has no such column",
                f"Give --per {', '.join(kind.per for kind in strange)}.",
            )

    def metrics(self, run: Path) -> Mapping[str, Value]:
        """Return the metrics of the group `credit`."""
        return self._credits(run).metrics

    def joined(self, run: Path, per: str, rows: Records) -> Records:
        """Return the rows with the worth of each agent or message."""
        return self._credits(run).joined(per, rows)

    def estimate(self, runs: Iterable[Path]) -> Mapping[str, Any]:
        """Return the number of re-runs, and the cost of paid models."""
        with of_all(runs, lambda run: credits_of(run, self._kinds, bill=self._bill)) as found:
            return {"runs": len(found), **self._bill.plain()}

    def _credits(self, run: Path) -> Credits:
        return credits_of(run, self._kinds, self._idle_from, lambda text: echo(text, err=True), self._bill)
