"""Answers SQL queries over results and traces, with DuckDB in memory."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from quorum.configuration.origin import Scalar
from quorum.installation.packages import load
from quorum.runs.derived import TABLES, break_down, columns
from quorum.runs.results_folder import factor_columns, metric_columns
from quorum.runs.rows import OWN, Results, Row
from quorum.runs.run_folder import RunFolder
from quorum.storage.run_files import DamagedFile
from quorum_base.user_errors import UserError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ENDS = b'"event":"episode_end"'
_TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}


@dataclass(frozen=True, slots=True)
class Answer:
    """The result table of a query.

    Attributes:
        columns: column names.
        rows: rows of Python values.
        remarks: additional information for the reader.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    remarks: tuple[str, ...] = ()


def ask(results: Sequence[Results], question: str, option: str = "--sql") -> Answer:
    """Answer a query over the table `results` and, if the query names them, the `events` of the traces.

    `results` has the columns of `results.csv` and the wall times, NULL if a value is undefined. `events` has one row
    per event: `run` (the name in `results`), `seq`, `t`, `t_hat`, `event` (its kind) and `data` (the event as JSON).
    `per_agent` and `per_message` have `run` and the columns of `maeil.metrics.costs`. The connection is in memory, and
    access to files and network is disabled before the query runs.

    Args:
        results: results of one or more folders.
        question: one or more statements; the last one gives the answer.
        option: the option with the query, for messages.

    Raises:
        UserError: the query is empty, DuckDB is not installed, or DuckDB rejects the query.
    """
    if not question.strip():
        raise UserError("--sql: the query is empty", "For all columns and rows: --sql 'from results'.")
    duckdb = load("duckdb", "analysis", option)
    rows = [row for part in results for row in part.rows]
    remarks: tuple[str, ...] = ()
    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": False}) as connection:
        _create(connection, "results", result_types(rows), (row.record() for row in rows))
        if re.search(r"\bevents\b", question, re.IGNORECASE):
            remarks = tuple(_load_events(connection, rows))
        for per in TABLES:
            if re.search(rf"\bper_{per}\b", question, re.IGNORECASE):
                remarks += tuple(_load_breakdown(connection, rows, per))
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        try:
            connection.execute(question)
            found = connection.fetchall() if connection.description else []
            columns = tuple(column[0] for column in connection.description or ())
        except duckdb.Error as error:
            raise UserError(f"{option}: {error}", _hint(option, str(error))) from error
    if not columns:
        raise UserError(
            f"--sql {question!r}: this query returns nothing", "For all columns and rows: --sql 'from results'."
        )
    return Answer(columns, tuple(found), remarks)


def result_types(rows: Sequence[Row]) -> dict[str, str]:
    """Return the columns of the table of runs, each with its SQL type."""
    factors = {key: _type(row.factors.get(key) for row in rows) for key in factor_columns(rows)}
    own = dict.fromkeys(OWN, "VARCHAR") | {"simulated": "BOOLEAN"}
    return own | factors | dict.fromkeys(metric_columns(rows), "DOUBLE")


def _create(
    connection: DuckDBPyConnection, table: str, types: Mapping[str, str], records: Iterable[Mapping[str, Any]]
) -> None:
    """Create a table of records; missing values are NULL."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "records.jsonl"
        with file.open("wb") as handle:
            for record in records:
                handle.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        connection.execute(
            f"CREATE TABLE {table} AS FROM read_json(?, format = 'newline_delimited', columns = ?)", [str(file), types]
        )


def _load_breakdown(connection: DuckDBPyConnection, rows: Iterable[Row], per: str) -> list[str]:
    """Load a table of the runs' traces, and report which of them cannot be read."""
    records: list[dict[str, Any]] = []
    wrong: list[str] = []
    for row in {row.folder: row for row in rows}.values():
        try:
            records += ({"run": row.name, **record} for record in break_down(row.folder, per))
        except UserError as error:
            wrong.append(f"{row.name}: not in per_{per}: {error.message}")
    _create(connection, f"per_{per}", {"run": "VARCHAR", **columns(per)}, records)
    return wrong


def _type(values: Iterable[Scalar]) -> str:
    """Return the SQL type that holds all values of a factor."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return "DOUBLE"
    return _TYPES[kinds.pop()] if len(kinds) == 1 else "VARCHAR"


def _load_events(connection: DuckDBPyConnection, rows: Iterable[Row]) -> Iterator[str]:
    """Load the traces of runs as far as they go, and report which of them break off."""
    connection.execute(
        "CREATE TABLE events (run VARCHAR, seq BIGINT, t BIGINT, t_hat DOUBLE, event VARCHAR, data JSON)"
    )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "trace.jsonl"
        for row in {row.folder: row for row in rows}.values():
            try:
                _copy_trace(RunFolder(row.folder), copy)
            except DamagedFile as error:
                yield f"{row.name}: some of its events are missing: {error.brief}"
            connection.execute(
                "INSERT INTO events SELECT ?, TRY_CAST(json->>'seq' AS BIGINT), TRY_CAST(json->>'t' AS BIGINT),"
                " TRY_CAST(json->>'t_hat' AS DOUBLE), json->>'event', json"
                " FROM read_ndjson_objects(?, ignore_errors = true) WHERE json IS NOT NULL",
                [row.name, str(copy)],
            )


def _copy_trace(run: RunFolder, target: Path) -> None:
    """Copy the events of a trace for DuckDB, which would follow a link or wait for a pipe.

    Raises:
        DamagedFile: the trace is incomplete; its existing part is copied.
    """
    with target.open("wb") as file:
        name, end = run.require_trace(), False
        for number, line in enumerate(run.files.lines(name), start=1):
            if not line.startswith(b"{"):
                raise run.files.damaged(name, f"damaged: line {number} is not an event")
            file.write(line)
            end = line.endswith(b"\n") and _ENDS in line
    if not end:
        raise run.files.damaged(name, "it breaks off: the run was killed, or is still running")


def _hint(option: str, message: str) -> str:
    if "external access" in message or "disabled by configuration" in message:
        return "A query can use only the tables results, events, per_agent and per_message, and no files."
    if option == "--where":
        return "For example: 'outcome.success and n = 2'. `quorum results` shows the columns."
    return 'Put names with a dot in double quotes: select n, avg("outcome.steps") from results group by n'
