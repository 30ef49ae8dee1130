"""The command `quorum`: parses, calls and prints. Every verb imports what it needs when it runs."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from functools import wraps
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import TyperException

from quorum.experiments.common.terminal import (
    confirm,
    echo,
    echo_json,
    show_bugs,
    show_in_any_encoding,
    show_warnings,
)

if TYPE_CHECKING:
    from quorum.experiments.completion import Verb
    from quorum.experiments.episode.runner import Result
    from quorum.experiments.results import Results
    from quorum.experiments.sweep.command import Printable

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)

Overrides = Annotated[
    list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Values that differ from the defaults.")
]
Sweeps = Annotated[list[Path], typer.Argument(metavar="SWEEP...", help="Folders of sweeps, or of runs.")]
Plugins = Annotated[
    list[str] | None,
    typer.Option("--plugin", metavar="MODULE", help="Import a module that registers components, metrics or figures."),
]
ConfigDir = Annotated[
    Path | None, typer.Option("--config-dir", metavar="DIR", help="A folder with more options of the groups.")
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for results.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse keys that have no effect, instead of telling them.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only.")]


def _show_logs(
    *,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log what is built, asked, retried and written.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Log everything; show where a mistake was found.")] = False,
) -> None:
    if verbose or debug or "QUORUM_LOG" in os.environ:
        from quorum.experiments.common.logs import show_logs

        show_logs("debug" if debug else "info" if verbose else None)


def _verb(name: str | None = None, *, hidden: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a verb of the command, with the options of `_show_logs` behind its own."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        own, shared = (inspect.signature(part, eval_str=True) for part in (function, _show_logs))

        @wraps(function)
        def verb(*, verbose: bool, debug: bool, **arguments: Any) -> None:
            _show_logs(verbose=verbose, debug=debug)
            function(**arguments)

        parameters = [*own.parameters.values(), *shared.parameters.values()]
        verb.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined] # which Typer reads
        verb.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return app.command(name, hidden=hidden)(verb)

    return register


def _print_version(wanted: bool) -> None:
    if wanted:
        from quorum.experiments.common.version import __version__

        echo(f"quorum {__version__}")
        raise typer.Exit


@app.callback()
def _quorum(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Experiments on cooperation among language-model agents.

    \b
    Examples:
      quorum run n=8 seed=3 --live
      quorum sweep experiment=quickstart
      quorum list env
      quorum show n=8 topology=individual
      quorum show prompt n=4 topology=debate agent=1
      quorum check
      quorum metrics runs/*
      quorum results runs
      quorum compare runs --by topology
      quorum report runs
      quorum view runs
      quorum replay runs/NAME --out film.gif
    """


@_verb()
def run(
    overrides: Overrides = None,
    *,
    out: Out = Path("runs"),
    live: Annotated[bool, typer.Option("--live", help="Show the team at work.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", metavar="USD", help="End the episode at this cost.")
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option("--budget-tokens", metavar="N", help="End it after N tokens.")
    ] = None,
    budget_calls: Annotated[
        int | None, typer.Option("--budget-calls", metavar="N", help="End it after N requests for an answer.")
    ] = None,
    strict: Strict = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Run one episode, and keep its trace and metrics.

    Before it asks a model that is not simulated, it says what it expects to take. While models think, it shows who
    thinks and for how long, and the tokens and the money so far.

    When a budget is used up, the episode ends as `budget`: it is scored and labelled, and the exit code is 0. The exit
    code is 1 if the episode ends as `error`.

    \b
    Examples:
      quorum run
      quorum run n=8 seed=3 --live
      quorum run n=2 env.layout=my_board.txt
      quorum run n=4 --json > result.json
      quorum run agents=naive llm=simulated topology=debate --budget-tokens 50000
      quorum run env=maze --plugin my_worlds --config-dir my_configs
    """
    from maeil.user_errors import UserError
    from quorum.experiments.common.termination import sigterm_interrupts
    from quorum.experiments.configuration.cell import Cell
    from quorum.experiments.configuration.effects import refuse, without_effect
    from quorum.experiments.episode.expectation import expectation
    from quorum.experiments.episode.runner import Interrupted, run_cell
    from quorum.experiments.episode.uninformed import uninformed
    from quorum.experiments.episode.view import shown
    from quorum.experiments.results.finished import read_spent

    if live and quiet:
        raise UserError("--live shows what --quiet hides: give one of them")
    if quiet:
        _quieten()
    _load_plugins(plugin)
    budget = {"usd": budget_usd, "tokens": budget_tokens, "calls": budget_calls}
    limits = [f"budget.{kind}={limit}" for kind, limit in budget.items() if limit is not None]
    arguments = [*(overrides or []), *limits]
    cell = Cell.compose(arguments, config_dir)
    if notice := without_effect(arguments, cell, config_dir):
        if strict:
            refuse(notice)
        if not quiet:
            echo(f"notice: {notice}", err=True)
    if not quiet:
        for line in (f"notice: {told}" if (told := uninformed(cell.configuration)) else "", expectation(cell)):
            if line:
                echo(line, err=True)
    try:
        with (
            sigterm_interrupts() as ended,
            shown(cell, live=live, as_json=as_json, quiet=quiet) as (watch, under_way),
        ):
            result = run_cell(cell, out, watch, under_way)
    except Interrupted as stop:
        spent = read_spent(stop.folder)
        how = "ended by SIGTERM" if ended.told else "interrupted"
        paid = f", with {spent.answers} answers of {spent.tokens:,} tokens" if spent.answers else ""
        echo(f"{how}; the incomplete episode is in {stop.folder}{paid}", err=True)
        raise typer.Exit(143 if ended.told else 130) from None
    _report(result, as_json=as_json, quiet=quiet)
    if result.outcome == "error":
        echo(f"error: the episode ended with an error: {result.reason}; see {result.folder}", err=True)
        raise typer.Exit(1)
    if result.reason and not quiet:
        how = f"by its {result.outcome}" if result.outcome in ("budget", "limit") else "unfinished"
        echo(f"notice: the episode was ended {how}: {result.reason}", err=True)
    if result.never_valid and not quiet:
        echo(f"notice: {result.never_valid}", err=True)


def _report(result: Result, *, as_json: bool, quiet: bool) -> None:
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.results import summary

    if as_json:
        echo_json(summary.as_json(result))
    elif not quiet:
        summary.print_summary(result, Console())


@_verb()
def sweep(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUES", help="The grid: swept and fixed values.")
    ] = None,
    *,
    out: Out = Path("runs"),
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the sweep, and of its folder.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would run, and its cost.")] = False,
    names: Annotated[bool, typer.Option("--names", help="With --dry-run: name every cell, too.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run the cells that ended in an error again.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="K", min=0, help="Run K of the missing cells, at most.")
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", metavar="USD", help="Start no cell beyond this cost.")
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option("--budget-tokens", metavar="N", help="Start no cell beyond N tokens.")
    ] = None,
    cancel_batches: Annotated[
        bool, typer.Option("--cancel-batches", help="End the sweep's open batches, and run nothing.")
    ] = False,
    accept_versions: Annotated[bool, typer.Option("--accept-versions", help="Add to results of other code.")] = False,
    strict: Strict = False,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Run the others where some cells cannot be run.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Run a grid of episodes, or the part of it that has no results yet.

    Run the same command again to resume. Separate values by commas, or use Hydra's range(), glob() and so on.
    experiment=NAME takes the grid from a file, and engine=NAME chooses what runs the cells. Budgets are for the whole
    sweep, including finished cells. Ctrl-C lets running episodes finish; a second one drops them. The exit code is 1 if
    cells ended as `error`.

    \b
    Examples:
      quorum sweep n=2,4,8 topology=individual,debate agents=negotiator 'seed=range(0,10)'
      quorum sweep experiment=quickstart --dry-run --names
      quorum sweep experiment=topologies_vs_n llm=openai llm.model=NAME --budget-usd 20
      quorum sweep experiment=cube_scaling engine.workers=2 --limit 10
      quorum sweep n=2,4 'seed=range(0,4)' --retry-failed --json > summary.json
      quorum sweep experiment=topologies_vs_n llm=openai llm.model=NAME engine.batch=true
    """
    from maeil.user_errors import UserError
    from quorum.experiments.sweep.command import run_sweep_command, show_plan
    from quorum.experiments.sweep.run import SweepRequest

    if quiet:
        _quieten()
    _load_plugins(plugin)
    request = SweepRequest(
        words=tuple(words or ()),
        out=out,
        name=name,
        retry_failed=retry_failed,
        limit=limit,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        accept_versions=accept_versions,
        strict=strict,
        skip_invalid=skip_invalid,
        plugins=tuple(plugin or ()),
        config_dir=config_dir,
    )
    if names and not dry_run:
        raise UserError("--names: it goes with --dry-run", "`quorum results SWEEP` lists what was run.")
    if cancel_batches:
        from quorum.experiments.sweep.command import cancel_batches as end_batches

        _print_report(end_batches(request), as_json=as_json)
        return
    if dry_run:
        expected = show_plan(request)
        if names and not as_json:
            echo("".join(f"{cell.name}\n" for cell in expected.cells), nl=False)
        _print_report(expected, as_json=as_json)
        return
    outcome = run_sweep_command(request, quiet=quiet)
    if not quiet or as_json:
        _print_report(outcome, as_json=as_json)
    if outcome.complaint and (outcome.exit_code or not quiet):
        echo(outcome.complaint, err=True)
    if outcome.exit_code:
        raise typer.Exit(outcome.exit_code)


def _print_report(report: Printable, *, as_json: bool) -> None:
    if as_json:
        echo_json(report.plain())
    else:
        from quorum.experiments.common.consoles import Console

        Console().print(report.table(), soft_wrap=True)


@_verb()
def metrics(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of episodes, or trace files.")],
    *,
    as_json: Json = False,
    per: Annotated[
        str | None, typer.Option("--per", metavar="agent|message", help="Show a table with a row for each instead.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Replace metrics.json beside each trace.")] = False,
    plugin: Plugins = None,
) -> None:
    """Recompute the metrics of old traces.

    --per agent shows what each participant thought and said, and its latency and synchronisation cost. --per message
    shows whom each message interrupted, and what that cost the team.

    The trace of a killed run is evaluated as far as it goes. If a trace cannot be read, the others are still evaluated,
    and the exit code is 2.

    \b
    Examples:
      quorum metrics runs/cube-n8-heuristic-individual-s3-1a2b3c4d
      quorum metrics runs/* --write
      quorum metrics runs/cube-n8-heuristic-individual-s3-1a2b3c4d --per agent
      quorum metrics old/trace.jsonl.gz --json
      quorum metrics runs/* --plugin my_metrics --write
    """
    from maeil.user_errors import UserError
    from quorum.experiments.results.recompute import of_all, recompute, write_metrics

    if per is not None and write:
        raise UserError("--write: metrics.json holds the metrics, not the table of --per: leave one of them out")
    _load_plugins(plugin)
    if per is not None:
        _show_breakdowns(runs, per, as_json=as_json)
        return
    done, wrong = of_all(runs, recompute)
    if as_json:
        echo_json([run.plain() for run in done])
    elif done:
        from quorum.experiments.common.consoles import Console
        from quorum.experiments.results.summary import print_metrics

        print_metrics(done, Console())
    if write:
        for run in done:
            write_metrics(run)
    if wrong:
        raise UserError("\n".join(map(str, wrong)))


def _show_breakdowns(runs: list[Path], per: str, *, as_json: bool) -> None:
    from maeil.user_errors import UserError
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.results.breakdown import break_down, find_table, print_breakdowns
    from quorum.experiments.results.recompute import of_all

    find_table(per)
    found, wrong = of_all(runs, lambda run: break_down(run, per))
    if as_json:
        echo_json([one.plain() for one in found])
    else:
        print_breakdowns(found, per, Console())
    if wrong:
        raise UserError("\n".join(map(str, wrong)))


@_verb()
def results(
    sweep: Sweeps,
    *,
    sql: Annotated[
        str | None, typer.Option("--sql", metavar="QUERY", help="Query the tables of results and traces.")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV to standard output.")] = False,
    as_json: Json = False,
) -> None:
    """Show the results of a sweep, one row per run, and rebuild its results.csv from the folders.

    With --csv, --json or --sql nothing is written. --sql uses DuckDB (the extra `analysis`). The table results has the
    columns of results.csv and the wall times, events has the traces, and per_agent and per_message have the tables of
    `quorum metrics --per`. Put names with a dot in double quotes.

    \b
    Examples:
      quorum results runs/topologies
      quorum results runs/topologies --csv > results.csv
      quorum results runs/topologies --sql 'select n, avg("outcome.steps") from results group by n'
      quorum results runs/topologies --sql "select event, count(*) from events group by event"
      quorum results runs/topologies --sql "select agent, avg(latency_mean) from per_agent group by agent"
    """
    from maeil.user_errors import UserError
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.results import as_csv as table_of
    from quorum.experiments.results import read_results, show, write_csv

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
        for part in found:
            show.print_results(part, Console())
            echo(f"table: {write_csv(part.folder)}")


By = Annotated[list[str] | None, typer.Option("--by", metavar="FACTOR", help="What to compare; may be repeated.")]
Across = Annotated[str | None, typer.Option("--across", metavar="FACTOR", help="The x axis: n if it varies, or none.")]
Metrics = Annotated[list[str] | None, typer.Option("--metric", metavar="METRIC", help="A metric; may be repeated.")]
Baseline = Annotated[
    str | None, typer.Option("--baseline", metavar="LEVEL", help="Take paired differences from this level.")
]
Statistic = Annotated[str, typer.Option("--statistic", metavar="mean|median|iqm", help="The statistic to show.")]
AcceptVersions = Annotated[
    bool, typer.Option("--accept-versions", help="Pool runs of different versions of the code, prompts or plug-ins.")
]
Radar = Annotated[
    str,
    typer.Option("--radar", metavar="attempts|improvements|emcoop", help="What the radar shows of constraints."),
]
Curves = Annotated[bool, typer.Option("--curves", help="Also show the score along the steps.")]


@_verb()
def compare(
    sweep: Sweeps,
    *,
    by: By = None,
    across: Across = None,
    metric: Metrics = None,
    baseline: Baseline = None,
    statistic: Statistic = "mean",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the files; SWEEP/comparison/...")
    ] = None,
    accept_versions: AcceptVersions = False,
    curves: Curves = False,
    radar: Radar = "attempts",
    columns: Annotated[
        int, typer.Option("--columns", min=1, max=2, help="Columns of the LaTeX document that the files are for.")
    ] = 1,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    plugin: Plugins = None,
) -> None:
    """Compare metrics by a factor, with intervals and paired differences.

    A factor is topology, agents, model, env, arm, sweep, version, or any key of the configuration. The tables are
    printed, and written as CSV, Markdown and LaTeX beside the figures (PNG, SVG, PDF).

    \b
    Examples:
      quorum compare runs/topologies
      quorum compare runs/topologies --by topology --metric completion --metric steps
      quorum compare runs/topologies --by topology --across n --baseline individual
      quorum compare runs/before runs/after --by sweep --across none --out figures
      quorum compare runs/topologies --plugin my_metrics --metric talk.questions
    """
    from quorum.experiments.compare import Question
    from quorum.experiments.compare import compare as answer
    from quorum.experiments.compare.files import default_folder, write_files
    from quorum.experiments.compare.formats import print_tables
    from quorum.experiments.compare.notes import notes
    from quorum.experiments.compare.records import as_json as json_of
    from quorum.experiments.compare.tables import tables
    from quorum.experiments.results import read_results

    _load_plugins(plugin)
    question = Question(by or (), across, metric or (), baseline, statistic, accept_versions, curves, radar)
    comparison = answer([read_results(folder) for folder in sweep], question)
    shown, remarks = tables(comparison), notes(comparison)
    folder = out or default_folder(comparison)
    # files first: whoever reads the text may close the pipe after its first line
    files = write_files(comparison, shown, remarks, folder, force=force or out is None, columns=columns)
    if as_json:
        echo_json(json_of(comparison, remarks))
    elif not quiet:
        from quorum.experiments.common.consoles import Console

        print_tables(shown, remarks, Console())
    if not quiet:
        echo(f"\n{len(files)} files in {files[0].parent}", err=as_json)


@_verb()
def report(
    sweep: Annotated[Path, typer.Argument(metavar="SWEEP", help="The folder of a sweep, or of runs.")],
    *,
    by: By = None,
    across: Across = None,
    metric: Metrics = None,
    baseline: Baseline = None,
    statistic: Statistic = "mean",
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="The page; SWEEP/report.html.")] = None,
    accept_versions: AcceptVersions = False,
    curves: Curves = False,
    radar: Radar = "attempts",
    episodes: Annotated[
        bool, typer.Option("--episodes", help="Also write the page of each run, and link to them.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    plugin: Plugins = None,
) -> None:
    """Write one self-contained HTML page of a sweep: findings, figures, tables, configuration, runs, commands.

    The options are those of `quorum compare`; without a baseline, it is the first level. With --episodes the page of
    each run stands in the folder `episodes` beside it.

    \b
    Examples:
      quorum report runs/topologies
      quorum report runs/topologies --by topology --baseline individual --out report.html
      quorum report runs/topologies --episodes
    """
    from quorum.experiments.common.outputs import Output
    from quorum.experiments.compare import FIRST, Question
    from quorum.experiments.compare import compare as answer
    from quorum.experiments.compare.report import Options, write_report
    from quorum.experiments.results import read_results

    _load_plugins(plugin)
    found = read_results(sweep)
    measured_from = FIRST if baseline is None else baseline
    question = Question(by or (), across, metric or (), measured_from, statistic, accept_versions, curves, radar)
    output = Output(out or sweep / "report.html", "--out", force or out is None)
    output.check()
    comparison = answer([found], question)
    pages = _episode_pages(found, output.target.parent / "episodes") if episodes else {}
    write_report(
        found,
        comparison,
        output,
        Options(tuple(plugin or ()), pages, str(out or ""), first_is_baseline=baseline is None),
    )
    if not quiet:
        echo(f"report: {output.target}")


def _episode_pages(results: Results, folder: Path) -> dict[str, Path]:
    """Write the page of each run into a folder; return the files by the names of the runs."""
    from maeil.user_errors import UserError
    from quorum.experiments.common.outputs import Output
    from quorum.experiments.viewer.command import export

    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"--episodes: {folder} cannot be made: {error.strerror or error}") from error
    return {
        row.name: export([row.folder], Output(folder / f"{row.name}.html", "--episodes", force=True))
        for row in results.rows
    }


@_verb()
def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="OTHER", help="Another run of the same board, shown beside it.")
    ] = None,
    *,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write a film: FILE.gif, FILE.mp4.")] = None,
    fps: Annotated[float, typer.Option("--fps", "--speed", metavar="N", help="Steps a second.")] = 8,
    first: Annotated[int, typer.Option("--from", metavar="T", min=0, help="The first step to show.")] = 0,
    last: Annotated[int | None, typer.Option("--to", metavar="T", min=0, help="The last step to show.")] = None,
    width: Annotated[int | None, typer.Option("--width", metavar="PIXELS", help="Width of a film.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    plugin: Plugins = None,
) -> None:
    """Play an episode in the terminal, or write it as a film; alone, or beside another one of the same board.

    Only the trace is needed: no mind and no model is asked again. It is an error if the replay differs from the record.
    Without a terminal, the frames are printed one after another as text. MP4 needs the extra `video`.

    \b
    Examples:
      quorum replay runs/cube-n8-heuristic-individual-s3-1a2b3c4d
      quorum replay runs/talk/NAME --from 20 --to 40 --speed 2
      quorum replay runs/talk/NAME --out film.gif
      quorum replay runs/talk/NAME runs/talk/OTHER --out both.mp4 --fps 4 --width 1280
    """
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.common.outputs import Output
    from quorum.experiments.replay.command import ReplayRequest, run_replay

    _load_plugins(plugin)
    runs = [run] if other is None else [run, other]
    output = Output(out, "--out", force) if out is not None else None
    request = ReplayRequest(runs=runs, out=output, fps=fps, first=first, last=last, width=width)
    try:
        messages = run_replay(request, Console(), quiet=quiet)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    for line in messages:
        echo(line, err=True)


@_verb()
def view(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN|SWEEP", help="The folder of a run, or of a sweep; or those of two runs of one board."
        ),
    ],
    *,
    port: Annotated[int, typer.Option("--port", metavar="PORT", help="Port on this machine; 0: any free one.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address without opening it.")] = False,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write the page of a run, or of two, as one file.")
    ] = None,
    force: Force = False,
    plugin: Plugins = None,
) -> None:
    """Show an episode, two of one board side by side, or a sweep, in the browser: what was said, and the world.

    The page is served on this machine only, for reading only, until Ctrl-C. With --export it is one HTML file that
    needs neither a server nor a network.

    \b
    Examples:
      quorum view runs/cube-n8-heuristic-individual-s3-1a2b3c4d
      quorum view runs/topologies
      quorum view runs/topologies/NAME runs/topologies/OTHER
      quorum view runs/topologies --port 8765 --no-browser
      quorum view runs/cube-n8-heuristic-individual-s3-1a2b3c4d --export episode.html
    """
    from quorum.experiments.common.outputs import Output
    from quorum.experiments.viewer import command

    _load_plugins(plugin)
    if export is not None:
        page = command.export(folders, Output(export, "--export", force))
        echo(f"page: {page}")
    else:
        command.view(folders, port, browser=not no_browser, echo=echo)


@_verb("list")
def list_(
    group: Annotated[
        str | None, typer.Argument(metavar="GROUP|metrics", help="Show this group with all its keys.")
    ] = None,
    *,
    as_json: Json = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """List the groups, their options and the keys that all experiments share.

    `quorum list metrics` is the glossary of all metrics; `quorum list metrics.outcome` is a group of it.

    \b
    Examples:
      quorum list
      quorum list env
      quorum list metrics
      quorum list --config-dir my_configs
    """
    import shutil

    from quorum.experiments.configuration.listing import as_text, listing

    _load_plugins(plugin)
    first, _, rest = (group or "").partition(".")
    if first == "metrics":
        _list_metrics(rest or None, as_json=as_json)
        return
    data = listing(group, config_dir)
    if as_json:
        echo_json(data)
    else:
        echo(as_text(data, shutil.get_terminal_size().columns))


def _list_metrics(group: str | None, *, as_json: bool) -> None:
    import shutil

    from quorum.experiments.configuration import glossary

    entries = glossary.glossary(group)
    if as_json:
        echo_json({"metrics": entries})
    else:
        echo(glossary.as_text(entries, shutil.get_terminal_size().columns))


@_verb()
def show(
    overrides: Overrides = None,
    *,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Write the picture of a prompt to a file, as PNG.")
    ] = None,
    cache: Annotated[
        bool, typer.Option("--cache", help="Show what the provider's cache should read again of a prompt.")
    ] = False,
    as_json: Json = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Show a resolved configuration and its hash, or the prompt of a language model.

    `inputs` are the digests of the templates of prompts, plug-ins and files that also decide; they are in the hash.

    `quorum show prompt` prints the prompt for the first turn of a participant (agent=0), or the first in a role (role=)
    or of a sort (turn=plan, talk, acknowledge, interrupted, refused). No real model is asked; the simulated one answers
    until then. at=RUN:STEP prints what was asked in a recorded run, or would be by the agents= and prompts= beside it.

    \b
    Examples:
      quorum show
      quorum show n=8 clock=fixed
      quorum show n=8 --json
      quorum show prompt n=4 topology=debate agent=1
      quorum show prompt topology=centralized topology.leader=coordinator agent=coordinator
      quorum show prompt n=4 topology=debate agent=2 turn=interrupted
      quorum show prompt agent=1 at=runs/NAME:12
      quorum show prompt n=4 topology=debate --cache
      quorum show prompt env.observation=picture --picture board.png
    """
    from quorum.experiments.configuration.cell import Cell

    _load_plugins(plugin)
    arguments = overrides or []
    if arguments[:1] == ["prompt"]:
        from quorum.experiments.episode.prompt import Wanted, find_prompt

        wanted = Wanted.read(arguments[1:])
        if wanted.at:
            from quorum.experiments.results.recorded_prompt import recorded_prompt

            prompt = recorded_prompt(wanted)
        else:
            prompt = find_prompt(wanted, config_dir, later=cache)
        if picture is not None:
            from quorum.experiments.common.files import write_whole

            write_whole(picture, prompt.picture(), "Give another file: --picture FILE.")
        if prompt.remark:
            echo(f"notice: {prompt.remark}", err=True)
        if cache:
            from quorum.experiments.episode.prompt_cache import cache_views

            views = cache_views(prompt, wanted, config_dir)
            if as_json:
                echo_json([view.plain() for view in views])
            else:
                echo("\n\n".join(view.text() for view in views))
        elif as_json:
            echo_json(prompt.plain())
        else:
            echo(prompt.text())
        return
    if picture is not None or cache:
        from maeil.user_errors import UserError

        option = "--cache" if cache else "--picture"
        raise UserError(f"{option}: it belongs to a prompt", f"quorum show prompt ... {option}")
    cell = Cell.compose(arguments, config_dir)
    if as_json:
        shown = {"hash": cell.hash, "name": cell.name, "inputs": dict(cell.inputs), "configuration": dict(cell.plain)}
        echo_json(shown)
    else:
        echo(cell.as_yaml(with_inputs=True), nl=False)


@_verb()
def check(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE|RUN|SWEEP", help="A configuration, or folders to verify.")
    ] = None,
    *,
    out: Out = Path("runs"),
    compile_: Annotated[
        bool, typer.Option("--compile", help="Compile all kernels now, which else the first run does.")
    ] = False,
    as_json: Json = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Check the installation and a configuration, or verify the folders of runs and sweeps.

    This checks the packages, the folder for results, and whether the configuration composes, its components build, and
    its first turn can be asked: what a run would refuse. With llm=... it also sends the model one tiny request, which a
    provider may charge for. The exit code is 1 if something that is needed fails.

    Of a RUN or a SWEEP it reads every byte: files against their digests, the hash against the configuration, metrics
    against the trace. It names what is damaged, and says what to type. The exit code is 1 if something is damaged.

    \b
    Examples:
      quorum check
      quorum check runs/topologies
      quorum check n=16 --out /data/runs
      quorum check llm=simulated
      quorum check llm=openai llm.model=NAME
    """
    from dataclasses import asdict

    from quorum.experiments.episode.checks import check as findings_of

    _load_plugins(plugin)
    if folders := _folders_among(words or []):
        _verify(folders, plugin or [], as_json=as_json)
        return
    findings = list(findings_of(words or [], out, config_dir, compiled=compile_))
    if as_json:
        echo_json([asdict(finding) for finding in findings])
    else:
        from rich.table import Table

        from quorum.experiments.common.consoles import Console, Text

        table = Table.grid(padding=(0, 2))
        for finding in findings:
            sign = Text("ok", "green") if finding.fine else Text("FAILS", "bold red") if finding.needed else Text("-")
            table.add_row(sign, Text(finding.subject), Text(finding.detail, overflow="fold"))
        Console().print(table)
    if any(finding.needed and not finding.fine for finding in findings):
        raise typer.Exit(1)


def _folders_among(words: list[str]) -> list[Path]:
    """Return the folders of a command that takes folders or a configuration: a word is one if it has no `=` in it.

    A folder whose own name has one is told apart by a slash before that. `~KEY` is of the configuration, too.
    """
    from maeil.user_errors import UserError

    folders = [word for word in words if "/" in word.partition("=")[0] or not ("=" in word or word.startswith("~"))]
    if folders and len(folders) < len(words):
        values = next(word for word in words if word not in folders)
        raise UserError(f"check: {folders[0]} is a folder and {values} a part of a configuration: give one of the two")
    return [Path(folder) for folder in folders]


def _verify(folders: list[Path], plugins: list[str], *, as_json: bool) -> None:
    from quorum.experiments.results.verify_folder import check_folder

    found = [check_folder(folder, plugins) for folder in folders]
    if as_json:
        echo_json([part.plain() for part in found])
    else:
        for line in (line for part in found for line in part.lines()):
            echo(line)
    if any(part.damaged for part in found):
        raise typer.Exit(1)


@_verb()
def cache(
    action: Annotated[str, typer.Argument(metavar="stats|clear", help="What to do.")],
    *,
    path: Annotated[Path | None, typer.Option("--path", metavar="FILE", help="The file of the cache.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Clear without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Show what the cache of language models' answers holds, or clear it.

    \b
    Examples:
      quorum cache stats
      quorum cache stats --json
      quorum cache clear --yes
    """
    from maeil.user_errors import UserError, choices_hint
    from quorum.experiments.episode.cache_contents import cache_contents

    if action not in ("stats", "clear"):
        raise UserError(f"cache: there is no action {action!r}", choices_hint(action, "Actions", ["stats", "clear"]))
    contents = cache_contents(path)
    if action == "clear":
        if (contents.entries or contents.damage) and not yes:
            what = "the damaged cache" if contents.damage else f"{contents.entries} answers in"
            confirm(f"Delete {what} {contents.path}?")
        contents = cache_contents(path, clear=True)
    if as_json:
        echo_json(contents.plain())
    else:
        echo(contents.text())
    if contents.damage:
        raise typer.Exit(1)


@_verb("serve-simulated")
def serve_simulated(
    overrides: Overrides = None,
    *,
    port: Annotated[int, typer.Option("--port", metavar="PORT", help="Port on this machine; 0: any free one.")] = 8008,
    faults: Annotated[
        list[str] | None, typer.Option("--faults", metavar="FAULT=RATE", help="Fail this share of requests.")
    ] = None,
    latency: Annotated[
        float, typer.Option("--latency", metavar="SECONDS", help="Seconds that each answer takes.")
    ] = 0.0,
    context: Annotated[
        int | None,
        typer.Option("--context", metavar="TOKENS", min=1, help="Refuse prompts that are longer, with their answers."),
    ] = None,
    thinking: Annotated[
        int | None, typer.Option("--thinking", metavar="TOKENS", min=1, help="Spend so many on thoughts first.")
    ] = None,
    empty_stop: Annotated[
        float, typer.Option("--empty-stop", metavar="RATE", help="End this share of answers after the thoughts.")
    ] = 0.0,
    empty_length: Annotated[
        float, typer.Option("--empty-length", metavar="RATE", help="Spend all tokens on thoughts in this share.")
    ] = 0.0,
    prompt_cache: Annotated[
        bool, typer.Option("--prompt-cache", help="Play the prompt caches of OpenAI and Anthropic, told in the usage.")
    ] = False,
) -> None:
    """Serve the simulated model over HTTP, in the formats of OpenAI and of Anthropic, until Ctrl-C.

    It is for tests and demonstrations: real clients and real HTTP without a model. `quorum list llm` shows the values
    of the simulated model; `--faults help` lists the faults.

    \b
    Examples:
      quorum serve-simulated
      quorum serve-simulated --port 9000 --latency 0.5
      quorum serve-simulated llm.malformed=0.1 --faults rate_limit=0.1 --faults broken_json=0.05
      quorum serve-simulated --thinking 400 --empty-length 0.1
    """
    from quorum.experiments.episode.simulated_server import serve

    serve(
        overrides or [],
        echo,
        port=port,
        faults=faults or [],
        latency=latency,
        context=context,
        thinking=thinking,
        empty=(empty_stop, empty_length),
        prompt_cache=prompt_cache,
    )


@_verb()
def completion(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="The shell.")],
) -> None:
    """Print the script that lets a shell complete verbs, options, groups, keys and folders of runs.

    \b
    Examples:
      eval "$(quorum completion bash)"
      eval "$(quorum completion zsh)"
      quorum completion fish > ~/.config/fish/completions/quorum.fish
    """
    from quorum.experiments.completion import script

    echo(script(shell), nl=False)


@_verb(hidden=True)
def complete(words: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Print what the last word may become, a line each, for the scripts of `quorum completion`."""
    from quorum.experiments.completion import candidates

    for found in candidates(words or [""], _verbs()):
        about = " ".join(found.about.split())
        echo(f"{found.word}\t{about}" if about else found.word)


def _verbs() -> dict[str, Verb]:
    """Describe the verbs for completion, as they are registered."""
    from quorum.experiments.completion import SHELLS, Verb
    from quorum.experiments.configuration.catalogue import BUILTIN_GROUPS, SWEEP_GROUPS

    choices = {
        "list": (*BUILTIN_GROUPS, *SWEEP_GROUPS, "metrics"),
        "cache": ("stats", "clear"),
        "completion": tuple(SHELLS),
        "show": ("prompt",),
    }
    found = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined] # it is a group
        if command.hidden:
            continue
        flags = [parameter for parameter in command.params if parameter.param_type_name == "option"]
        arguments = {(parameter.metavar or "") for parameter in command.params if parameter not in flags}
        found[name] = Verb(
            about=(command.help or "").partition("\n")[0],
            flags={option: flag.help or "" for flag in flags for option in flag.opts if option.startswith("--")},
            takes=frozenset(option for flag in flags if not flag.is_flag for option in flag.opts),
            settings=any("KEY=VALUE" in metavar for metavar in arguments),
            grid=name == "sweep",
            folders=any("RUN" in metavar or "SWEEP" in metavar for metavar in arguments),
            choices=choices.get(name, ()),
        )
    return found


def _quieten() -> None:
    """Log errors only, where nothing else was asked for."""
    import logging

    log = logging.getLogger("quorum")
    if log.level == logging.NOTSET:
        log.setLevel(logging.ERROR)


def _load_plugins(modules: list[str] | None) -> None:
    if modules:
        from quorum.experiments.configuration.plugins import load_plugins

        load_plugins(modules)


def main() -> None:
    """Run the command. A user's mistake is one message and exit code 2; a bug keeps its traceback."""
    show_warnings()
    show_in_any_encoding()
    try:
        sys.exit(app(prog_name="quorum", standalone_mode=False) or 0)
    except typer.Abort:
        echo("Aborted!", err=True)
        sys.exit(1)
    except Exception as error:
        from quorum.experiments.common.mistakes import told_as_mistake

        if isinstance(error, TyperException):  # of the words of the command
            usage = StringIO()
            error.show(usage)  # type: ignore[attr-defined] # which all have that Typer raises
            echo(usage.getvalue(), err=True, nl=False)
            sys.exit(error.exit_code)
        exit_code = told_as_mistake(error)
        if exit_code is None:
            show_bugs()
            raise
        sys.exit(exit_code)


if __name__ == "__main__":
    main()
