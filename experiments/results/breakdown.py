"""What a trace shows in detail: tables with a row for each agent or message, and the failures that it proves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, Final, TypeVar, get_type_hints

from maeil.failures import Failure, find_failures
from maeil.metrics.costs import AgentCost, MessageCost, costs_per_agent, costs_per_message
from maeil.trace.reader import Trace
from maeil.user_errors import UserError, choices_hint
from quorum.experiments.common.consoles import Console, Text
from quorum.experiments.results.run_folder import contradicts_itself, read_whole_trace
from quorum.experiments.results.summary import shown

T = TypeVar("T")

TABLES: Final[Mapping[str, tuple[type, Callable[[Trace], Sequence[Any]]]]] = {
    "agent": (AgentCost, costs_per_agent),
    "message": (MessageCost, costs_per_message),
}
"""The tables by what a row is for: the type of a row, and what makes them."""

_SQL = {int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One table of one trace.

    Attributes:
        run: the folder of the episode or the file of its trace, as it was given.
        rows: a record for each agent or message.
    """

    run: Path
    rows: Sequence[Mapping[str, Any]]

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"run": str(self.run), "rows": list(self.rows)}


def find_table(per: str) -> tuple[type, Callable[[Trace], Sequence[Any]]]:
    """Return the type of the rows of a table, and what makes them.

    Raises:
        UserError: there is no such table.
    """
    if per not in TABLES:
        raise UserError(f"--per {per}: there is no such table", choices_hint(per, "They are", list(TABLES)))
    return TABLES[per]


def break_down(run: Path, per: str) -> Breakdown:
    """Compute a table of a trace, whole or as a killed run left it.

    Args:
        run: the folder of an episode, or the file of its trace.
        per: `agent` or `message`.

    Raises:
        UserError: there is no such table, or no trace, or it is damaged, or newer than this version.
    """
    _, make = find_table(per)
    _, rows = _derived(run, f"per {per}", make)
    return Breakdown(run, [asdict(row) for row in rows])


def _derived(run: Path, what: str, derive: Callable[[Trace], T]) -> tuple[Trace, T]:
    trace = read_whole_trace(run)
    try:
        return trace, derive(trace)
    except Exception as error:
        raise contradicts_itself(run, f"{what}: {type(error).__name__}: {error}") from error


def columns(per: str) -> dict[str, str]:
    """Return the columns of a table with their types in SQL."""
    row, _ = find_table(per)
    hints = get_type_hints(row)
    return {one.name: _SQL[_base(hints[one.name])] for one in fields(row)}


def _base(hint: Any) -> type:
    """Return the type of a value that may be None."""
    found: type = next(kind for kind in hint.__args__ if kind in _SQL) if isinstance(hint, UnionType) else hint
    return found


def print_breakdowns(found: Sequence[Breakdown], per: str, console: Console) -> None:
    """Print a table for each trace, under its name. Lines are as long as they need to be.

    Rows may have more columns than their table, all numbers and behind its own.
    """
    own = columns(per)
    for one in found:
        console.print(Text(str(one.run), style="bold"), soft_wrap=True)
        names = tuple(dict.fromkeys(name for row in (own, *one.rows) for name in row))
        kinds = [own.get(name) for name in names]
        lines = [names, *(tuple(map(shown, row.values())) for row in one.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            cells = (
                cell.ljust(width) if kind == "VARCHAR" else cell.rjust(width)
                for cell, width, kind in zip(line, widths, kinds, strict=True)
            )
            console.print(Text("  ".join(cells).rstrip()), soft_wrap=True)


@dataclass(frozen=True, slots=True)
class FoundFailures:
    """The failures of a run.

    Attributes:
        run: the folder of the episode or the file of its trace, as it was given.
        names: of the participants.
        failures: in the order in which they show.
    """

    run: Path
    names: Sequence[str]
    failures: Sequence[Failure]

    def plain(self) -> Mapping[str, Any]:
        """Return them as JSON-ready data."""
        return {"run": str(self.run), "failures": [plain_failure(found, self.names) for found in self.failures]}


def plain_failure(found: Failure, names: Sequence[str]) -> dict[str, Any]:
    """Return a failure as JSON-ready data; `event` is the number of the line in the trace, from 0."""
    return {
        "kind": str(found.kind),
        "mast": found.kind.mast,
        "agent": names[found.agent],
        "t": found.t,
        "task": found.task,
        "proofs": [{"event": proof.seq, "t": proof.t, "words": proof.words} for proof in found.proofs],
    }


def failures_of(run: Path) -> FoundFailures:
    """Find the failures of a trace, whole or as a killed run left it.

    Raises:
        UserError: there is no trace, or it is damaged, or newer than this version.
    """
    trace, found = _derived(run, "failures", find_failures)
    return FoundFailures(run, (*trace.start.agents, *trace.start.coordinators), found)


def print_failures(runs: Sequence[FoundFailures], console: Console) -> None:
    """Print each failure with its proofs, under the name of its run, and how many there are of each kind."""
    for run in runs:
        console.print(Text(str(run.run), style="bold"), soft_wrap=True)
        for found in run.failures:
            about = f" about {found.task}" if found.task else ""
            line = f"  t = {found.t}: {found.kind} ({found.kind.mast}) of {run.names[found.agent]}{about}"
            console.print(Text(line), soft_wrap=True)
            for proof in found.proofs:
                console.print(Text(f"      t = {proof.t}, event {proof.seq}: {proof.words}"), soft_wrap=True)
        kinds = Counter(str(found.kind) for found in run.failures)
        summary = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        console.print(Text(f"  {summary or 'no failure that the trace proves'}"), soft_wrap=True)
