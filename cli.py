"""The command `quorum`: parses, calls and prints. Every verb imports what it needs when it runs."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from experiments.episode import Result, Watch

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)

Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="What differs from the defaults.", show_default=False),
]
Plugins = Annotated[
    list[str] | None,
    typer.Option("--plugin", metavar="MODULE", help="Import a module that registers components.", show_default=False),
]
ConfigDir = Annotated[
    Path | None,
    typer.Option("--config-dir", metavar="DIR", help="A folder with more options of the groups.", show_default=False),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for results.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable results on standard output.", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but errors.", show_default=False)]


def _print_version(wanted: bool) -> None:
    if wanted:
        from experiments.version import __version__

        typer.echo(f"quorum {__version__}")
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
      quorum list env
      quorum show n=8 topology=individual
      quorum check
      quorum metrics runs/*
    """


@app.command()
def run(
    overrides: Overrides = None,
    *,
    out: Out = Path("runs"),
    live: Annotated[bool, typer.Option("--live", help="Show the team at work.", show_default=False)] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Run one episode, and keep its trace and metrics.

    \b
    Examples:
      quorum run
      quorum run n=8 seed=3 --live
      quorum run n=2 env.layout=my_board.txt
      quorum run n=4 --json > result.json
      quorum run env=maze --plugin my_worlds --config-dir my_configs
    """
    from experiments.cell import Cell
    from experiments.episode import Interrupted, run_cell
    from experiments.errors import UserError
    from experiments.plugins import load_plugins

    if live and quiet:
        raise UserError("--live shows what --quiet hides: give one of them")
    load_plugins(plugin or [])
    cell = Cell.compose(overrides or [], config_dir)
    try:
        with ExitStack() as stack:
            result = run_cell(cell, out, _watch(stack, cell.name, live=live, as_json=as_json, quiet=quiet))
    except Interrupted as stop:
        typer.echo(f"interrupted; what there is of the episode is in {stop.folder}", err=True)
        raise typer.Exit(130) from None
    _report(result, as_json=as_json, quiet=quiet)
    if result.outcome == "error":
        typer.echo(f"error: the episode ended with an error, see {result.folder / 'meta.json'}", err=True)
        raise typer.Exit(1)


def _watch(stack: ExitStack, name: str, *, live: bool, as_json: bool, quiet: bool) -> Watch | None:
    """Choose how the episode is shown while it runs."""
    from rich.console import Console

    from experiments.live import LineView, LiveView

    console = Console(stderr=as_json or not sys.stdout.isatty())
    if live:
        if console.is_terminal:
            return lambda world: stack.enter_context(LiveView(world, console))
        return lambda _: LineView(console)
    if not quiet and as_json:
        typer.echo(f"running {name}", err=True)
    return None


def _report(result: Result, *, as_json: bool, quiet: bool) -> None:
    from rich.console import Console

    from experiments import summary

    if as_json:
        _print_json(summary.as_json(result))
    elif not quiet:
        summary.print_summary(result, Console())


@app.command()
def metrics(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of episodes, or trace files.", show_default=False)
    ],
    *,
    as_json: Json = False,
    write: Annotated[
        bool, typer.Option("--write", help="Replace metrics.json beside each trace.", show_default=False)
    ] = False,
) -> None:
    """Compute the metrics of old traces again.

    A trace that a killed run left is evaluated as far as it goes. When a trace cannot be read, the others are
    evaluated all the same; the exit code is then 2.

    \b
    Examples:
      quorum metrics runs/cube-n8-heuristic-individual-s3-1a2b3c4d
      quorum metrics runs/* --write
      quorum metrics old/trace.jsonl.gz --json
    """
    from experiments.errors import UserError
    from experiments.recompute import recompute_all, write_metrics

    done, wrong = recompute_all(runs)
    if as_json:
        _print_json([run.plain() for run in done])
    elif done:
        from rich.console import Console

        from experiments.summary import print_metrics

        print_metrics(done, Console())
    if write:
        for run in done:
            write_metrics(run)
    if wrong:
        raise UserError("\n".join(map(str, wrong)))


@app.command("list")
def list_(
    group: Annotated[str | None, typer.Argument(help="Show this group with all its keys.", show_default=False)] = None,
    *,
    as_json: Json = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Show the groups, their options and the common knobs.

    \b
    Examples:
      quorum list
      quorum list env
      quorum list --config-dir my_configs
    """
    import shutil

    from experiments.listing import as_text, listing
    from experiments.plugins import load_plugins

    load_plugins(plugin or [])
    data = listing(group, config_dir)
    if as_json:
        _print_json(data)
    else:
        typer.echo(as_text(data, shutil.get_terminal_size().columns))


@app.command()
def show(
    overrides: Overrides = None, *, as_json: Json = False, plugin: Plugins = None, config_dir: ConfigDir = None
) -> None:
    """Show a resolved configuration and its hash.

    \b
    Examples:
      quorum show
      quorum show n=8 clock=fixed
      quorum show n=8 --json
    """
    from experiments.cell import Cell
    from experiments.plugins import load_plugins

    load_plugins(plugin or [])
    cell = Cell.compose(overrides or [], config_dir)
    if as_json:
        _print_json({"hash": cell.hash, "name": cell.name, "configuration": dict(cell.plain)})
    else:
        typer.echo(cell.as_yaml(), nl=False)


@app.command()
def check(
    overrides: Overrides = None,
    *,
    out: Out = Path("runs"),
    as_json: Json = False,
    plugin: Plugins = None,
    config_dir: ConfigDir = None,
) -> None:
    """Check the installation and a configuration.

    It looks at the packages, at the folder for results, and whether the configuration composes and its components
    build. The exit code is 1 when something that is needed fails.

    \b
    Examples:
      quorum check
      quorum check n=16 --out /data/runs
    """
    from dataclasses import asdict

    from experiments.checks import check as look
    from experiments.plugins import load_plugins

    load_plugins(plugin or [])
    findings = list(look(overrides or [], out, config_dir))
    if as_json:
        _print_json([asdict(finding) for finding in findings])
    else:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for finding in findings:
            sign = Text("ok", "green") if finding.fine else Text("FAILS", "bold red") if finding.needed else Text("-")
            table.add_row(sign, Text(finding.subject), Text(finding.detail))
        Console().print(table)
    if any(finding.needed and not finding.fine for finding in findings):
        raise typer.Exit(1)


@app.command()
def bench(
    world: Annotated[str, typer.Argument(help="The world to measure.")],
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="A trial that shows that all of it runs.", show_default=False)
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="The folder for results; runs/bench-WORLD-TIME.", show_default=False),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the speed of a world: a table, JSON and figures.

    It takes some minutes. Nothing else should run on the machine.

    \b
    Examples:
      quorum bench cube
      quorum bench cube --quick
      quorum bench cube --json --out my_bench > bench.json
    """
    from importlib import import_module

    from experiments.bench import BENCHES
    from experiments.errors import UserError, choices_hint

    if world not in BENCHES:
        raise UserError(f"bench: there is no benchmark of {world!r}", choices_hint(world, "Benchmarks", BENCHES))
    import_module(f"experiments.bench.{world}").main(out, quick=quick, as_json=as_json, quiet=quiet)


def _print_json(data: object) -> None:
    import json

    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))


def main() -> None:
    """Run the command. A user's mistake is one message and exit code 2; a bug keeps its traceback."""
    try:
        app(prog_name="quorum")
    except Exception as error:
        from experiments.errors import UserError

        if not isinstance(error, UserError):
            raise
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
