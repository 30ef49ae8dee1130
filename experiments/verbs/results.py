"""`quorum results`: a row for each run, and SQL over them."""

from __future__ import annotations

from typing import Annotated

import typer

from maeil.user_errors import UserError
from quorum.experiments.common.terminal import echo, echo_json
from quorum.experiments.verbs.options import Json, Sweeps


def results(
    sweep: Sweeps,
    *,
    sql: Annotated[
        str | None,
        typer.Option(
            "--sql",
            metavar="QUERY",
            show_default="a row for each run",
            help="Show what this query finds in the tables of results and traces.",
        ),
    ] = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV to standard output, and nothing else there.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the results of a sweep, one row per run, and rebuild its results.csv from the folders.

    With --csv, --json or --sql nothing is written. --sql uses DuckDB (the extra `analysis`). The table results has the
    columns of results.csv and the wall times, events has the traces, and per_agent and per_message have the tables of
    `quorum metrics --per`. Put names with a dot in double quotes.

    \b
    Examples:
      quorum results runs/talk
      quorum results runs/talk --csv > results.csv
      quorum results runs/talk --sql 'select n, "outcome.steps" from results'
      quorum results runs --sql "select event, count(*) from events group by 1"
      quorum results runs/talk --sql "select agent, latency_mean from per_agent"
    """
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.results import as_csv as table_of
    from quorum.experiments.results import read_results, show, write_csv
    from quorum.experiments.results.recompute import of_all

    if as_csv and as_json:
        raise UserError("--csv and --json are two formats of the same: give one of them")
    found = [read_results(folder) for folder in sweep]
    if sql is not None:
        from quorum.experiments.results.sql import ask

        answer = ask(found, sql)
        for remark in answer.remarks:
            echo(f"notice: {remark}", err=True)
        if as_json:
            echo_json(show.answer_as_json(answer))
        elif as_csv:
            echo(show.answer_as_csv(answer), nl=False)
        else:
            show.print_answer(answer, Console())
    elif as_json:
        echo_json([show.as_json(part) for part in found] if len(found) > 1 else show.as_json(found[0]))
    elif as_csv:
        if len(found) > 1:
            raise UserError("--csv prints the table of one folder", "For several: --sql 'from results' --csv.")
        echo(table_of(found[0]), nl=False)
    else:
        tables, wrong = of_all([part.folder for part in found], write_csv)  # before anything is printed
        for part in found:
            show.print_results(part, Console())
        for table in tables:
            echo(f"table: {table}")
        if wrong:
            raise UserError("\n".join(map(str, wrong)))
