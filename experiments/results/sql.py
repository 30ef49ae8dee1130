"""Answers questions in SQL over results and traces, with DuckDB in memory."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from maeil.user_errors import UserError
from quorum.experiments.common.packages import load
from quorum.experiments.results.results_csv import factor_columns, metric_columns
from quorum.experiments.results.rows import OWN, Results, Row, Scalar
from quorum.experiments.results.run_folder import TRACES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}


@dataclass(frozen=True, slots=True)
class Answer:
    """The table that answers a question.

    Attributes:
        columns: their names.
        rows: as Python values.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def ask(results: Sequence[Results], question: str) -> Answer:
    """Answer a question over the table `results` and, where it names them, the `events` of the traces.

    `results` has the columns of `results.csv` and the wall times, NULL where a value is not defined. `events` has one
    row an event: `run` (the name in `results`), `seq`, `t`, `t_hat`, `event` (its kind) and `data` (the event as JSON).
    The connection is in memory, and closed to files and network before the question is asked.

    Args:
        results: of one or more folders.
        question: one or more statements; the last one gives the answer.

    Raises:
        UserError: DuckDB is not installed, or refuses the question.
    """
    duckdb = load("duckdb", "analysis", "--sql")
    rows = [row for part in results for row in part.rows]
    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": False}) as connection:
        _load_results(connection, rows)
        if re.search(r"\bevents\b", question, re.IGNORECASE):
            _load_events(connection, rows)
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        try:
            connection.execute(question)
            found = connection.fetchall() if connection.description else []
            columns = tuple(column[0] for column in connection.description or ())
        except duckdb.Error as error:
            raise UserError(f"--sql: {error}", _hint(str(error))) from error
    return Answer(columns, tuple(found))


def _load_results(connection: DuckDBPyConnection, rows: Sequence[Row]) -> None:
    factors, metrics = factor_columns(rows), metric_columns(rows)
    types = dict.fromkeys(OWN, "VARCHAR") | {"simulated": "BOOLEAN"}
    types |= {key: _type(row.factors.get(key) for row in rows) for key in factors}
    types |= dict.fromkeys(metrics, "DOUBLE")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.jsonl"
        with file.open("wb") as handle:
            for row in rows:
                handle.write(orjson.dumps(row.record(), option=orjson.OPT_APPEND_NEWLINE))
        connection.execute(
            "CREATE TABLE results AS FROM read_json(?, format = 'newline_delimited', columns = ?)", [str(file), types]
        )


def _type(values: Iterable[Scalar]) -> str:
    """Return the SQL type that holds all values of a factor."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return "DOUBLE"
    return _TYPES[kinds.pop()] if len(kinds) == 1 else "VARCHAR"


def _load_events(connection: DuckDBPyConnection, rows: Iterable[Row]) -> None:
    connection.execute(
        "CREATE TABLE events (run VARCHAR, seq BIGINT, t BIGINT, t_hat DOUBLE, event VARCHAR, data JSON)"
    )
    for row in {row.folder: row for row in rows}.values():
        trace = next((row.folder / name for name in TRACES if (row.folder / name).is_file()), None)
        if trace is not None:
            escaped = re.sub(r"([*?[])", r"[\1]", str(trace))
            connection.execute(
                "INSERT INTO events SELECT ?, CAST(json->>'seq' AS BIGINT), CAST(json->>'t' AS BIGINT),"
                " CAST(json->>'t_hat' AS DOUBLE), json->>'event', json"
                " FROM read_ndjson_objects(?, ignore_errors = true) WHERE json IS NOT NULL",
                [row.name, escaped],
            )


def _hint(message: str) -> str:
    if "external access" in message or "disabled by configuration" in message:
        return "The question can use the tables results and events only, no files."
    if message.startswith("Binder Error"):
        return 'Names with a point stand in double quotes: select "topology.name", avg("outcome.steps") from results'
    return ""
