"""`quorum reproduce`: a published figure, run again and judged point by point."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.shorthand import shorthand
from quorum.verbs.verb import Verb

if TYPE_CHECKING:
    from quorum.comparison.formats import Table
    from quorum.study.reproduce.figure_file import PublishedFigure
    from quorum.study.reproduce.run import Answer
    from quorum.sweeps.run import SweepRequest


_DESCRIBED = {"paper", "figure", "shows", "margins", "because"}


@shorthand
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="FIGURE",
            show_default="list the figures",
            help="Reproduce this figure: cube-tasks, emcoop-rq1, emcoop-rq2, emcoop-rq3, llamac-table2, "
            "llamac-fig5, llamac-fig7 or llamac-ablations.",
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUES", help="Override these keys of the experiment."),
    ] = None,
    *,
    runs: Annotated[Path, options.value("--runs", "DIR", "Keep the episodes in this folder.")] = Path("runs"),
    dry_run: options.DryRun = False,
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    budget_calls: options.BudgetCalls = None,
    accept_versions: options.AcceptVersions = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run what a published figure shows, and compare point by point.

    Without a name, lists the figures. Runs the figure's experiments, or their missing cells, into RUNS/FIGURE, and
    shows the published numbers next to ours. With 95 % confidence, a number agrees if the difference lies within the
    figure's margin, and an order if it lies beyond it; either differs in the opposite case, and is undecided otherwise.
    docs/reproduce.md has all rules. The columns chance and echo are the verdicts on the same boards with random
    answers, and with copies of the prompt's example: where these agree too, a point shows no skill. The exit code does
    not depend on the verdicts. With paid models, a budget is required; it covers all experiments of the figure. Chance
    and echo are free.

    \b
    Examples:
      quorum reproduce
      quorum reproduce llamac-table2
      quorum reproduce emcoop-rq1 'seed=range(0,3)'
      quorum reproduce llamac-table2 llm=openai llm.model=M --dry-run
      quorum reproduce llamac-fig5 --json
    """
    from quorum.study.reproduce.figure_file import figure_names, load_figure

    if name is None:
        _list({each: load_figure(each) for each in figure_names()}, as_json=as_json)
        return
    figure = load_figure(name)
    from quorum.storage.outputs import require_writable
    from quorum.study.reproduce.run import answers
    from quorum.sweeps.run import SweepRequest
    from quorum.sweeps.spending import SweepBudget

    given = tuple(words or ())
    budget = SweepBudget(budget_usd, budget_tokens, budget_calls)
    again = ["quorum", "reproduce", name, *given, *(["--runs", str(runs)] if runs != Path("runs") else [])]
    again += [*(["--accept-versions"] if accept_versions else []), *budget.words]
    request = SweepRequest(
        given,
        runs / name,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        budget_calls=budget_calls,
        accept_versions=accept_versions,
        resume_command=shlex.join(again),
    )
    if dry_run:
        _forecast(figure, request, as_json=as_json)
        return
    require_writable(runs, f"--runs {runs}", "Give another folder: --runs DIR.")
    data, codes = [], [0]
    for answer in answers(figure, request, quiet=quiet):
        data.append(answer.to_json())
        codes += [swept.exit_code for swept in answer.sweeps.values()]
        _show(answer, as_json=as_json, quiet=quiet)
    if len(data) < len(figure.parts) and request.budget.any:
        unstarted = len(figure.parts) - len(data)
        echo(f"{unstarted} experiments were not started; continue with: {request.command}", err=True)
    if as_json:
        echo_json({"figure": name, **figure.model_dump(include=_DESCRIBED - {"figure"}), "parts": data})
    if code := max(codes):
        raise typer.Exit(code)


def _list(figures: dict[str, PublishedFigure], *, as_json: bool) -> None:
    from quorum.comparison.formats import Table, print_tables
    from quorum.display.consoles import Console

    if as_json:
        echo_json({name: figure.model_dump(include=_DESCRIBED) for name, figure in figures.items()})
        return
    names = {name: ", ".join(part.experiment for part in figure.parts) for name, figure in figures.items()}
    rows = tuple((name, f.paper, f.figure, f.shows, names[name]) for name, f in figures.items())
    header = ("name", "paper", "figure", "shows", "experiment")
    print_tables([Table("Published figures", header, rows, labels=5)], [], Console())


def _forecast(figure: PublishedFigure, request: SweepRequest, *, as_json: bool) -> None:
    """Show what each sweep of a figure would run, and its expected cost."""
    from quorum.agents.llm.spending import Spent
    from quorum.display.consoles import Console
    from quorum.study.reproduce.floors import MODELS
    from quorum.study.reproduce.points import HERE
    from quorum.study.reproduce.run import requests
    from quorum.sweeps.command import beyond, show_plan
    from quorum.sweeps.pilots import Pilots

    found = {(team, own.name): show_plan(own, None if team == HERE else Pilots(0.0))
             for teams in requests(figure, request) for team, own in teams.items()}  # fmt: skip
    if as_json:
        free = {"answers": 0, "tokens": 0, "usd": 0.0}
        data = [{"team": team, **plan.to_json(), **({} if team == HERE else free)} for (team, _), plan in found.items()]
        echo_json(data)
        return
    for (team, name), expected in found.items():
        if team == HERE:
            echo(f"{name}:")
            Console().print(expected.table(), soft_wrap=True)
        else:
            echo(f"{name}: {len(expected.cells)} of {expected.planned} episodes to run, free ({MODELS[team]})")
    ours = [expected for (team, _), expected in found.items() if team == HERE]
    if notice := beyond(ours, Spent(), request.budget):
        echo(f"all experiments together are {notice}")


def _show(answer: Answer, *, as_json: bool, quiet: bool) -> None:
    from quorum.comparison.formats import print_tables
    from quorum.display.consoles import Console

    if answer.tables and not (as_json or quiet):
        print_tables(answer.tables, answer.notes, Console())
        for table in answer.verdicts:
            _print_verdicts(table)
    for swept in answer.sweeps.values():
        if swept.complaint:
            echo(swept.complaint, err=True)
    if answer.files and not quiet:
        echo(f"\n{len(answer.files)} files in {answer.files[0].parent}", err=as_json)


def _print_verdicts(found: Table) -> None:
    """Print verdicts; unlike tables of numbers, their text wraps in a narrow terminal."""
    from rich.table import Table as Grid

    from quorum.display.consoles import Console, Text

    shown = Grid(*found.header, title=Text(found.title), caption=Text(found.caption))
    shown.title_justify = shown.caption_justify = "left"
    for row in found.rows:
        shown.add_row(*map(Text, row))
    Console().print("\n", shown, sep="")


def _figures() -> Iterator[tuple[str, str]]:
    from quorum.study.reproduce.figure_file import figure_names, load_figure

    return ((name, load_figure(name).shows) for name in figure_names())


verb = Verb(reproduce, "Compare", 40, _figures)
