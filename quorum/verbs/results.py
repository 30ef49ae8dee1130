"""`quorum results`: one row for each run, SQL queries over them, and metrics recomputed from the traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.measures import chosen, measured
from quorum.verbs.verb import Verb
from quorum_base.user_errors import UserError

if TYPE_CHECKING:
    from quorum.runs.derived import Recomputed
    from quorum.runs.measures import Measure


@measured
def results(
    folders: Annotated[
        list[Path] | None,
        options.folders("SWEEP|RUN...", "Read these folders of sweeps or of runs; with --recompute, also trace files."),
    ] = None,
    *,
    sql: Annotated[
        str | None,
        options.value(
            "--sql", "QUERY", "Run this SQL query on the tables of results and traces.", unset="a row for each run"
        ),
    ] = None,
    recompute: Annotated[
        bool, typer.Option("--recompute", help="Compute the metrics again from the traces, and show all of them.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="With --recompute, replace metrics.json next to each trace.")
    ] = False,
    per: Annotated[
        str | None,
        options.value(
            "--per", "agent|message", "Show a row for each agent or message of a run.", unset="a row for each run"
        ),
    ] = None,
    as_csv: options.Csv = False,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
    **more: Any,
) -> None:
    """Show the results of sweeps and runs, one row per run, and rebuild results.csv from the folders.

    With --csv, --json or --sql, nothing is written. --sql uses DuckDB (the extra `analysis`): the table results has the
    columns of results.csv and the wall times, events has the traces, per_agent and per_message have the tables of
    --per. Put names with a dot in double quotes.

    --recompute shows every metric, computed from the trace; --write also saves them in metrics.json. The trace of a
    killed run is evaluated as far as it goes. If a trace cannot be read, the others are still evaluated, and the exit
    code is 2. --per agent shows what each participant thought and said, with its latency and its cost of
    synchronisation. --per message shows which agents each message interrupted, and the cost for the team.

    \b
    Examples:
      quorum results runs/talk
      quorum results runs/talk --csv > results.csv
      quorum results runs/talk --sql 'select n, "outcome.steps" from results'
      quorum results runs --sql "select event, count(*) from events group by 1"
      quorum results runs/NAME --recompute
      quorum results runs/talk --recompute --plugin my_metrics --write
      quorum results runs/NAME --per agent
    """
    from quorum.runs.newest import parts_of

    measures = chosen(more)
    computed = recompute or measures
    refusals = (
        (as_csv and as_json, "--csv and --json are alternative formats: give one of them", ""),
        (
            (computed or per is not None) and (sql is not None or as_csv),
            "--recompute, --per and --credit: these print a table or --json",
            "Leave out --sql and --csv, or run two commands.",
        ),
        (write and not computed, "--write: it stores the results of --recompute", "Add --recompute."),
        (
            write and per is not None,
            "--write: metrics.json holds the metrics, not the table of --per",
            "Leave one out.",
        ),
    )
    for refused, message, hint in refusals:
        if refused:
            raise UserError(message, hint)
    for measure in measures:
        measure.check(per, write=write)
    named = [part for folder in options.or_newest(folders) for part in parts_of(folder)]
    if estimating := [measure for measure in measures if measure.estimates]:
        for measure in estimating:
            options.print_estimate(measure.estimate(_runs(named)), as_json=as_json)
    elif per is not None:
        _show_breakdowns(_runs(named), per, measures, as_json=as_json)
    elif computed:
        _recompute(_runs(named), measures, write=write, as_json=as_json)
    else:
        from quorum.process import garbage

        with garbage.kept():
            _show_rows(named, sql, as_csv=as_csv, as_json=as_json)


def _runs(folders: list[Path]) -> list[Path]:
    """Return the runs in folders, and folders that contain none; a link is followed only if the user named it."""
    from quorum.runs.run_folder import is_run, runs_inside

    found: list[Path] = []
    for folder in folders:
        inside = [] if not folder.is_dir() or is_run(folder) else runs_inside(folder)
        found += [run for run in inside if not run.is_symlink()] or [folder]
    return found


def _show_rows(folders: list[Path], sql: str | None, *, as_csv: bool, as_json: bool) -> None:
    from quorum.display.consoles import Console
    from quorum.runs import as_csv as table_of
    from quorum.runs import read_results, show, write_csv
    from quorum.runs.derived import of_all
    from quorum.runs.run_folder import is_run

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
        written = [part for part in found if part.sweep is not None or not is_run(part.folder)]
        with of_all(written, write_csv) as tables:  # before anything is printed
            for part in found:
                show.print_results(part, Console())
            for table in tables:
                echo(f"table: {table}")


def _recompute(runs: list[Path], measures: Sequence[Measure], *, write: bool, as_json: bool) -> None:
    from quorum.runs.derived import check_metrics, of_all, recompute, write_metrics

    if write:
        for folder in runs:
            check_metrics(folder)

    def computed(run: Path) -> Recomputed:
        done = recompute(run)
        for measure in measures:
            done = replace(done, metrics={**done.metrics, **measure.metrics(run)})
        if write and measures:  # immediately, so that an interruption loses no long computation
            write_metrics(done)
        return done

    with of_all(runs, computed) as done:
        if write and not measures:  # before anything is printed, as a reader may close the pipe after the first line
            for run in done:
                write_metrics(run)
        if as_json:
            echo_json([run.to_json() for run in done])
        elif done:
            from quorum.display.consoles import Console
            from quorum.runs.derived import print_metrics

            print_metrics(done, Console())


def _show_breakdowns(runs: list[Path], per: str, measures: Sequence[Measure], *, as_json: bool) -> None:
    from quorum.display.consoles import Console
    from quorum.runs.derived import Records, break_down, find_table, of_all, print_breakdowns

    def table(run: Path) -> tuple[Path, Records]:
        rows = break_down(run, per)
        for measure in measures:
            rows = measure.joined(run, per, rows)
        return run, rows

    find_table(per)
    with of_all(runs, table) as found:
        if as_json:
            echo_json([{"run": str(run), "rows": list(rows)} for run, rows in found])
        else:
            print_breakdowns(found, per, Console())


verb = Verb(results, "Look", 30, "quorum results runs")
