"""`quorum results`: a row for each run, SQL over them, and metrics computed again from the traces."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maeil.user_errors import UserError
from quorum.experiments.common.terminal import echo, echo_json
from quorum.experiments.verbs import options
from quorum.experiments.verbs.verb import Verb

if TYPE_CHECKING:
    from quorum.experiments.blame.credit import Bill, Credits, Kind
    from quorum.experiments.results.derived import Recomputed


def results(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="SWEEP|RUN...", help="Read these folders of sweeps or of runs; with --recompute, also trace files."
        ),
    ],
    *,
    sql: Annotated[
        str | None,
        options.value(
            "--sql", "QUERY", "Answer this query of the tables of results and traces.", unset="a row for each run"
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
    credit: Annotated[
        list[str] | None,
        options.values(
            "--credit", "agent|live|message", "Measure what each agent or message is worth.", unset="no credit"
        ),
    ] = None,
    idle_from: Annotated[
        int,
        options.value("--idle-from", "STEP", "With --credit agent, let it idle from this step on.", min=0),
    ] = 0,
    dry_run: options.DryRun = False,
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    budget_calls: options.BudgetCalls = None,
    as_csv: options.Csv = False,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Show the results of sweeps and runs, one row per run, and rebuild results.csv from the folders.

    With --csv, --json or --sql, nothing is written. --sql uses DuckDB (the extra `analysis`): the table results has the
    columns of results.csv and the wall times, events has the traces, per_agent and per_message have the tables of
    --per. Put names with a dot in double quotes.

    --recompute shows every metric, computed from the trace; --write also keeps them in metrics.json. The trace of a
    killed run is evaluated as far as it goes. If a trace cannot be read, the others are still evaluated, and the exit
    code is 2. --per agent shows what each participant thought and said, with its latency and its cost of
    synchronisation. --per message shows whom each message interrupted, and the cost for the team.

    --credit agent plays each run once more for each agent: the agent idles, and all others act as recorded. It asks no
    mind and no model. --credit live lets the minds of the others think again, and --credit message plays the run
    without each message. The values are metrics `credit.*`, or columns of --per. With paid models, both require a
    budget, --dry-run estimates what they take, and a killed command resumes.

    \b
    Examples:
      quorum results runs/talk
      quorum results runs/talk --csv > results.csv
      quorum results runs/talk --sql 'select n, "outcome.steps" from results'
      quorum results runs --sql "select event, count(*) from events group by 1"
      quorum results runs/NAME --recompute
      quorum results runs/talk --recompute --plugin my_metrics --write
      quorum results runs/NAME --per agent
      quorum results runs/NAME --per agent --credit agent --credit live
      quorum results runs/talk --credit agent --credit message --write
      quorum results runs/NAME --credit live --dry-run
      quorum results runs/NAME --credit live --budget-calls 500
    """
    kinds: list[Kind] = []
    bill: Bill | None = None
    budgets = {"budget_usd": budget_usd, "budget_tokens": budget_tokens, "budget_calls": budget_calls}
    if credit:
        from quorum.experiments.blame.attempts import Budget
        from quorum.experiments.blame.credit import Bill, kinds_of
        from quorum.experiments.common.budgets import require_budgets

        kinds = kinds_of(credit)
        require_budgets(**budgets)
        bill = Bill(Budget(None, budget_calls, budget_usd, budget_tokens), stands_in=dry_run)
    computed, strange = recompute or kinds, [kind for kind in kinds if per not in (None, kind.per)]
    refusals = (
        (as_csv and as_json, "--csv and --json are two formats of the same: give one of them", ""),
        (
            (computed or per is not None) and (sql is not None or as_csv),
            "--recompute, --per and --credit: they print a table or --json",
            "Leave --sql and --csv out, or ask twice.",
        ),
        (write and not computed, "--write: it keeps what --recompute computes", "Add --recompute."),
        (
            write and per is not None,
            "--write: metrics.json holds the metrics, not the table of --per",
            "Leave one out.",
        ),
        (
            idle_from and (write or set(kinds) != {"agent"}),
            "--idle-from: it belongs to --credit agent, and metrics.json holds credits from the first step on",
            "Add --credit agent and no other credit, and leave --write out.",
        ),
        (
            bill is None and (dry_run or any(limit is not None for limit in budgets.values())),
            "--dry-run, --budget-usd, --budget-tokens, --budget-calls: they belong to --credit",
            "Add --credit live or --credit message.",
        ),
        (
            strange,
            f"--per {per} --credit {', '.join(strange)}: this table has no such column",
            f"Give --per {', '.join(kind.per for kind in strange)}.",
        ),
    )
    for refused, message, hint in refusals:
        if refused:
            raise UserError(message, hint)
    if dry_run and bill is not None:
        _estimate(_runs(folders), kinds, bill, as_json=as_json)
    elif per is not None:
        _show_breakdowns(_runs(folders), per, kinds, idle_from, bill, as_json=as_json)
    elif recompute or kinds:
        _recompute(_runs(folders), kinds, idle_from, bill, write=write, as_json=as_json)
    else:
        from quorum.experiments.common import garbage

        with garbage.kept():
            _show_rows(folders, sql, as_csv=as_csv, as_json=as_json)


def _runs(folders: list[Path]) -> list[Path]:
    """Return the runs in folders, and folders that hold none; a link that nobody has named is not followed."""
    from quorum.experiments.results.run_folder import is_run, runs_inside

    found: list[Path] = []
    for folder in folders:
        inside = [] if not folder.is_dir() or is_run(folder) else runs_inside(folder)
        found += [run for run in inside if not run.is_symlink()] or [folder]
    return found


def _show_rows(folders: list[Path], sql: str | None, *, as_csv: bool, as_json: bool) -> None:
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.results import as_csv as table_of
    from quorum.experiments.results import read_results, show, write_csv
    from quorum.experiments.results.derived import of_all

    found = [read_results(folder) for folder in folders]
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
        with of_all(found, write_csv) as tables:  # before anything is printed
            for part in found:
                show.print_results(part, Console())
            for table in tables:
                echo(f"table: {table}")


def _estimate(runs: list[Path], kinds: Collection[Kind], bill: Bill, *, as_json: bool) -> None:
    from quorum.experiments.blame.credit import credits_of
    from quorum.experiments.results.derived import of_all

    with of_all(runs, lambda run: credits_of(run, kinds, bill=bill)) as found:
        options.print_estimate({"runs": len(found), **bill.plain()}, as_json=as_json)


def _recompute(
    runs: list[Path], kinds: Collection[Kind], idle_from: int, bill: Bill | None, *, write: bool, as_json: bool
) -> None:
    from quorum.experiments.results.derived import check_metrics, of_all, recompute, write_metrics

    if write:
        for folder in runs:
            check_metrics(folder)

    def computed(run: Path) -> Recomputed:
        done = recompute(run)
        if kinds:
            done = replace(done, metrics={**done.metrics, **_credits(run, kinds, idle_from, bill).metrics})
            if write:  # at once: an interruption loses no long computation
                write_metrics(done)
        return done

    with of_all(runs, computed) as done:
        if write and not kinds:  # before anything is printed: a reader may close the pipe after the first line
            for run in done:
                write_metrics(run)
        if as_json:
            echo_json([run.plain() for run in done])
        elif done:
            from quorum.experiments.common.consoles import Console
            from quorum.experiments.results.derived import print_metrics

            print_metrics(done, Console())


def _credits(run: Path, kinds: Collection[Kind], idle_from: int, bill: Bill | None) -> Credits:
    from quorum.experiments.blame.credit import credits_of

    return credits_of(run, kinds, idle_from, lambda text: echo(text, err=True), bill)


def _show_breakdowns(
    runs: list[Path], per: str, kinds: Collection[Kind], idle_from: int, bill: Bill | None, *, as_json: bool
) -> None:
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.results.derived import Records, break_down, find_table, of_all, print_breakdowns

    def table(run: Path) -> tuple[Path, Records]:
        rows = break_down(run, per)
        return run, _credits(run, kinds, idle_from, bill).joined(per, rows) if kinds else rows

    find_table(per)
    with of_all(runs, table) as found:
        if as_json:
            echo_json([{"run": str(run), "rows": list(rows)} for run, rows in found])
        else:
            print_breakdowns(found, per, Console())


verb = Verb(results, "Look", 30, "quorum results runs")
