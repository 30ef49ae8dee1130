"""`quorum results`: a row for each run of sweeps, the metrics of single runs, and SQL queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.verb import Verb
from quorum_base.user_errors import UserError


def results(
    folders: Annotated[
        list[Path] | None,
        options.folders("SWEEP|RUN...", "Read these folders or zips of sweeps, or of single runs."),
    ] = None,
    *,
    sql: Annotated[
        str | None,
        options.value(
            "--sql", "QUERY", "Run this SQL query on the tables of results and traces.", unset="a row for each run"
        ),
    ] = None,
    write: options.Write = False,
    as_csv: options.Csv = False,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Show the results of a sweep as a table, or every metric of a run.

    The table has a row for each run, and is also written as results.csv in each folder.

    With --csv, --json or --sql, nothing is written. --sql uses DuckDB (the extra `analysis`): the table results has the
    columns of results.csv and the wall times, events has the traces; per_agent has a row for each participant, and
    per_message one for each message. Put names with a dot in double quotes.

    The metrics of a single run, or with --write of every run, are computed from its trace, that of a killed run as far
    as it goes. If a trace cannot be read, the others are still evaluated, and the exit code is 2.

    \b
    Examples:
      quorum results runs/talk
      quorum results runs/NAME
      quorum results study.zip
      quorum results runs/talk --csv > results.csv
      quorum results runs/talk --sql 'select n, "outcome.steps" from results'
      quorum results runs --sql "select event, count(*) from events group by 1"
      quorum results runs/talk --plugin my_metrics --write
    """
    if as_csv and as_json:
        raise UserError("--csv and --json are alternative formats: give one of them")
    if write and (sql is not None or as_csv):
        raise UserError("--write prints a table or --json", "Leave out --sql and --csv, or run two commands.")
    from quorum.process import garbage
    from quorum.runs.archives import unpacked
    from quorum.runs.newest import parts_of

    named = [part for folder in options.or_newest(folders) for part in parts_of(folder)]
    with unpacked(named) as places:
        archived = [folder for folder, place in zip(named, places, strict=True) if folder != place]
        if write and archived:
            raise UserError(f"--write: {archived[0]} is in an archive, which stays as it is", "Unpack it first.")
        if write or (sql is None and not as_csv and all(map(_single, places))):
            _show_metrics(places, write=write, as_json=as_json)
        else:
            with garbage.kept():
                _show_rows(places, sql, as_csv=as_csv, as_json=as_json, tables=not archived)


def _single(place: Path) -> bool:
    """Whether this is the folder of one run, or a trace."""
    from quorum.runs.run_folder import is_run

    return is_run(place) if place.is_dir() else place.is_file()


def _show_rows(folders: list[Path], sql: str | None, *, as_csv: bool, as_json: bool, tables: bool) -> None:
    from quorum.display.consoles import Console, at_work
    from quorum.runs import as_csv as table_of
    from quorum.runs import read_results, show, write_csv
    from quorum.runs.derived import of_all
    from quorum.runs.run_folder import is_run

    with at_work("reading ..."):
        found = [read_results(folder) for folder in folders]
    if sql is not None:
        from quorum.runs.sql import ask

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
        written = [part for part in found if tables and (part.sweep is not None or not is_run(part.folder))]
        with of_all(written, write_csv) as paths:  # before anything is printed
            for part in found:
                show.print_results(part, Console())
            for table in paths:
                echo(f"table: {table}")


def _show_metrics(folders: list[Path], *, write: bool, as_json: bool) -> None:
    from quorum.display.consoles import Console
    from quorum.runs.derived import check_metrics, of_all, print_metrics, recompute, write_metrics
    from quorum.runs.run_folder import runs_of

    runs = runs_of(folders)
    if write:
        for folder in runs:
            check_metrics(folder)
    with of_all(runs, recompute) as done:
        if write:  # before anything is printed, as a reader may close the pipe after the first line
            for run in done:
                write_metrics(run)
        if as_json:
            echo_json([run.to_json() for run in done])
        elif done:
            print_metrics(done, Console())


verb = Verb(results, "Look", 30)
