"""Data derived from recorded traces: recomputed metrics, and tables with a row for each agent or message."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from pathlib import Path
from types import UnionType
from typing import Any, Final, TypeVar, get_type_hints

from rich.table import Table

from maeil.errors import MetricError
from maeil.metrics import METRICS as KNOWN
from maeil.metrics import Value, compute_metrics
from maeil.metrics.costs import AgentCost, MessageCost, costs_per_agent, costs_per_message
from maeil.trace import Trace
from quorum.display.consoles import Console, Text, at_work
from quorum.episode.record import AnsweringModels, answering_models
from quorum.installation.extension_errors import as_extension_error
from quorum.runs.run_folder import METRICS, RunFolder, contradicts_itself, read_whole_trace
from quorum.runs.summary import print_aligned, shown, shown_metric
from quorum.storage.files import require_file, write_all
from quorum.storage.outputs import require_writable
from quorum.storage.run_files import LARGEST_META, META, DamagedFile, RunFiles
from quorum_base.user_errors import UserError

S = TypeVar("S")
T = TypeVar("T")

_COLUMNS = ("outcome.steps", "communication.messages", "decision.overhead", "plans.coherence", "plans.stability")
"""Metrics shown for each of many runs, after the goals that it reached."""

_FEW = 4


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The metrics of one trace.

    Attributes:
        run: the folder of the episode or its trace file, as given.
        outcome: how the episode ended; None if the trace breaks off before the end.
        answering_models: the language models that answered in it.
        metrics: metrics by name.
    """

    run: Path
    outcome: str | None
    answering_models: AnsweringModels
    metrics: Mapping[str, Value]

    @property
    def name(self) -> str:
        """Name of the episode's folder, or of the trace file if it has an unusual name."""
        run = self.run.resolve()
        return run.name if run.is_dir() or not run.name.startswith("trace.jsonl") else run.parent.name

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "run": str(self.run),
            "outcome": self.outcome,
            **self.answering_models.to_json(),
            "metrics": dict(self.metrics),
        }


def recompute(run: Path) -> Recomputed:
    """Compute the metrics of a trace, even if the run was killed.

    Args:
        run: the folder of an episode, or its trace file.

    Raises:
        UserError: there is no trace, or it is damaged, or newer than this version.
    """
    trace = read_whole_trace(run)
    try:
        metrics = compute_metrics(trace)
    except MetricError as error:
        if (mistake := as_extension_error(error)) is not None:
            raise mistake from error
        raise contradicts_itself(run, str(error)) from error
    outcome = trace.end.outcome if trace.end is not None else None
    return Recomputed(run, outcome, answering_models(trace), metrics)


@contextmanager
def of_all(runs: Iterable[S], evaluate: Callable[[S], T]) -> Iterator[list[T]]:
    """Evaluate many runs or folders, and yield the results of those that succeed.

    Raises:
        UserError: at the end, with the errors of the others.
    """
    done: list[T] = []
    wrong: list[UserError] = []
    with at_work("reading ..."):
        for run in runs:
            try:
                done.append(evaluate(run))
            except UserError as error:
                wrong.append(error)
    yield done
    if wrong:
        raise UserError("\n".join(map(str, wrong)))


def check_metrics(run: Path) -> None:
    """Check that `write_metrics` can write to a run, before its metrics are computed.

    Raises:
        UserError: it cannot.
    """
    folder = run if run.is_dir() else run.parent
    require_writable(folder, "--write", "Leave out --write, or copy the run to a folder of yours.")
    for name in (METRICS, META):
        require_file(folder / name)


def write_metrics(done: Recomputed) -> Path:
    """Replace `metrics.json` next to a trace and its digest in `meta.json`: both or none.

    Keeps metrics that were computed on demand.

    Raises:
        UserError: they cannot be written there.
    """
    folder = done.run if done.run.is_dir() else done.run.parent
    metrics = {**done.metrics, **{name: value for name, value in _found(folder) if name not in done.metrics}}
    data = (json.dumps(metrics, indent=2, ensure_ascii=False) + "\n").encode()
    meta = _with_digest(RunFiles(folder), hashlib.sha256(data).hexdigest())
    write_all(folder, {METRICS: data} if meta is None else {METRICS: data, META: meta})
    return folder / METRICS


def _found(folder: Path) -> Iterator[tuple[str, Value]]:
    """Yield the metrics in the folder that are computed only on demand; none if the file is missing or damaged."""
    run = RunFolder(folder)
    with suppress(DamagedFile):
        for name, value in (run.metrics() if run.files.exists(METRICS) else {}).items():
            if name in KNOWN and KNOWN[name].on_demand:
                yield name, value


def _with_digest(files: RunFiles, digest: str) -> bytes | None:
    """Return `meta.json` with the digest of new metrics; None if it contains no such digest.

    Raises:
        DamagedFile: it cannot be read.
    """
    if METRICS not in files.digests:
        return None
    meta = json.loads(files.read(META, LARGEST_META) or b"{}")
    meta["files"][METRICS] = digest
    return (json.dumps(meta, indent=2, ensure_ascii=False) + "\n").encode()


TABLES: Final[Mapping[str, tuple[type, Callable[[Trace], Sequence[Any]]]]] = {
    "agent": (AgentCost, costs_per_agent),
    "message": (MessageCost, costs_per_message),
}
"""The tables by what a row describes: the type of a row, and the function that computes the rows."""

_SQL = {int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}


Records = Sequence[Mapping[str, Any]]
"""A table: one record for each agent or message."""


def break_down(run: Path, per: str) -> Records:
    """Compute a table of a trace, even if the run was killed.

    Args:
        run: the folder of an episode, or its trace file.
        per: one of `TABLES`.

    Raises:
        UserError: there is no trace, or it is damaged, or newer than this version.
    """
    _, rows = derive_from(run, f"per {per}", TABLES[per][1])
    return [asdict(row) for row in rows]


def derive_from(run: Path, what: str, derive: Callable[[Trace], T]) -> tuple[Trace, T]:
    """Read a trace and compute something from it.

    Args:
        run: the folder of an episode, or its trace file.
        what: name of the result, for messages.
        derive: computes the result.

    Raises:
        UserError: there is no trace, or it is damaged, or newer than this version, or its events contradict each other.
    """
    trace = read_whole_trace(run)
    try:
        return trace, derive(trace)
    except Exception as error:
        raise contradicts_itself(run, f"{what}: {type(error).__name__}: {error}") from error


def columns(per: str) -> dict[str, str]:
    """Return the columns of a table with their SQL types."""
    row, _ = TABLES[per]
    hints = get_type_hints(row)
    return {one.name: _SQL[_base(hints[one.name])] for one in fields(row)}


def _base(hint: Any) -> type:
    """Return the type of an optional value."""
    found: type = next(kind for kind in hint.__args__ if kind in _SQL) if isinstance(hint, UnionType) else hint
    return found


def print_breakdowns(found: Iterable[tuple[Path, Records]], per: str, console: Console) -> None:
    """Print a table for each trace, under its name. Lines are not wrapped.

    Rows may have more columns than their table; these are numbers and come last.
    """
    own = columns(per)
    for run, rows in found:
        console.print(Text(str(run), style="bold"), soft_wrap=True)
        names = tuple(dict.fromkeys(name for row in (own, *rows) for name in row))
        kinds = [own.get(name) for name in names]
        lines = [names, *(tuple(map(shown, row.values())) for row in rows)]
        print_aligned(lines, [kind != "VARCHAR" for kind in kinds], console)


def print_metrics(runs: Sequence[Recomputed], console: Console) -> None:
    """Print the metrics of runs: all metrics of a few runs, one column each; else the main ones, one row per run."""
    if len(runs) <= _FEW:
        _print_columns(runs, console)
    else:
        _print_rows(runs, console)


def _print_columns(runs: Sequence[Recomputed], console: Console) -> None:
    numbered = len(runs) > 1
    for number, run in enumerate(runs, start=1):
        console.print(Text(f"{number}: {run.name}" if numbered else run.name, style="bold"), soft_wrap=True)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    for _ in runs:
        table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    if numbered:
        table.add_row("", *(Text(str(number), style="bold") for number in range(1, len(runs) + 1)), "")
    if any(run.answering_models.models for run in runs):
        table.add_row("language model", *(Text(run.answering_models.text) for run in runs), "")
    table.add_row("outcome", *(run.outcome or "unfinished" for run in runs), "")
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    for _, group in groupby(names, key=lambda name: name.partition(".")[0]):
        table.add_row()
        for name in group:
            unit = KNOWN[name].unit
            values = (shown_metric(name, run.metrics) for run in runs)
            table.add_row(name, *values, Text(unit, style="dim"))
    console.print(table)


def _print_rows(runs: Sequence[Recomputed], console: Console) -> None:
    models = ["language model"] if any(run.answering_models.models for run in runs) else []
    rows = [("run", "outcome", "goals", *(KNOWN[name].title for name in _COLUMNS), *models)]
    for run in runs:
        goals = f"{shown(run.metrics.get('outcome.reached'))}/{shown(run.metrics.get('outcome.goals'))}"
        cells = [shown(run.metrics.get(name)) for name in _COLUMNS]
        rows.append(
            (run.name, run.outcome or "unfinished", goals, *cells, *([run.answering_models.text] if models else []))
        )
    print_aligned(rows, [False, *[True] * (len(rows[0]) - 1)], console)
