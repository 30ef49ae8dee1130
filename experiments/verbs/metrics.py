"""`quorum metrics`: the metrics of recorded episodes, computed again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maeil.user_errors import UserError
from quorum.experiments.common.terminal import echo, echo_json
from quorum.experiments.verbs.options import Json, Plugins
from quorum.experiments.verbs.preparation import prepare_plugins

if TYPE_CHECKING:
    from quorum.experiments.credit.command import Kind
    from quorum.experiments.results.recompute import Recomputed


def metrics(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Read these folders of episodes, or trace files.")
    ],
    *,
    as_json: Json = False,
    per: Annotated[
        str | None,
        typer.Option(
            "--per",
            metavar="agent|message",
            show_default="the metrics",
            help="Show a table with a row for each agent, or for each message, instead.",
        ),
    ] = None,
    credit: Annotated[
        list[str] | None,
        typer.Option(
            "--credit",
            metavar="agent|live|message",
            show_default="no credit",
            help="Also find out what each agent or message was worth, by playing without it. May be repeated.",
        ),
    ] = None,
    begin: Annotated[
        int, typer.Option("--from", metavar="STEP", min=0, help="Have the agent of --credit idle from this step on.")
    ] = 0,
    write: Annotated[bool, typer.Option("--write", help="Replace metrics.json beside each trace.")] = False,
    plugin: Plugins = None,
) -> None:
    """Recompute the metrics of old traces.

    --per agent shows what each participant thought and said, and its latency and synchronisation cost. --per message
    shows whom each message interrupted, and what that cost the team.

    --credit agent plays each run once more for each agent: without it, and with all others acting as recorded. No mind
    and no model is asked. --credit live does so with the minds of all others thinking on, and --credit message for each
    message, with all minds thinking on: for teams of which no model has to be paid for. The metrics, `credit.*`, are in
    no metrics.json unasked; a folder of runs stands for all of them. With --per the values are columns of that table.

    The trace of a killed run is evaluated as far as it goes. If a trace cannot be read, the others are still evaluated,
    and the exit code is 2.

    \b
    Examples:
      quorum metrics runs/cube-n8-heuristic-individual-s3-1a2b3c4d
      quorum metrics runs/* --write
      quorum metrics runs/cube-n8-heuristic-individual-s3-1a2b3c4d --per agent
      quorum metrics runs/NAME --credit agent --per agent
      quorum metrics runs --credit agent --credit live --credit message --write
      quorum metrics old/trace.jsonl.gz --json
      quorum metrics runs/* --plugin my_metrics --write
    """
    from quorum.experiments.credit.command import kinds_of, runs_of
    from quorum.experiments.results.recompute import of_all, write_metrics

    if per is not None and write:
        raise UserError("--write: metrics.json holds the metrics, not the table of --per: leave one of them out")
    if begin and not credit:
        raise UserError("--from: it says when the agent of --credit agent begins to idle", "Add --credit agent.")
    if begin and write:
        raise UserError("--from: metrics.json holds what agents are worth from the first step on: leave --write out")
    kinds = kinds_of(credit or ())
    if begin and set(kinds) != {"agent"}:
        raise UserError("--from: it says when the agent of --credit agent begins to idle: leave the others out")
    if per is not None and (strange := [kind for kind in kinds if kind.per != per]):
        raise UserError(
            f"--per {per} --credit {strange[0]}: that is no column of this table", f"Give --per {strange[0].per}."
        )
    prepare_plugins(plugin)
    if kinds:
        runs = list(runs_of(runs))
    if per is not None:
        _show_breakdowns(runs, per, kinds, begin, as_json=as_json)
        return
    done, wrong = of_all(runs, lambda run: _recomputed(run, kinds, begin, write=write))
    if write and not kinds:  # before anything is printed: who reads the first line only and leaves gets all files
        for run in done:
            write_metrics(run)
    if as_json:
        echo_json([run.plain() for run in done])
    elif done:
        from quorum.experiments.common.consoles import Console
        from quorum.experiments.results.summary import print_metrics

        print_metrics(done, Console())
    if wrong:
        raise UserError("\n".join(map(str, wrong)))


def _recomputed(run: Path, kinds: Collection[Kind], begin: int, *, write: bool) -> Recomputed:
    from quorum.experiments.credit.command import credits_of
    from quorum.experiments.results.recompute import recompute, write_metrics

    done = recompute(run)
    if not kinds:
        return done
    done = replace(done, metrics={**done.metrics, **credits_of(run, kinds, begin, _tell).metrics})
    if write:  # at once: what took long is not lost when a later run is interrupted
        write_metrics(done)
    return done


def _tell(text: str) -> None:
    echo(text, err=True)


def _show_breakdowns(runs: list[Path], per: str, kinds: Collection[Kind], begin: int, *, as_json: bool) -> None:
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.credit.command import credits_of
    from quorum.experiments.results.breakdown import Breakdown, break_down, find_table, print_breakdowns
    from quorum.experiments.results.recompute import of_all

    def table(run: Path) -> Breakdown:
        found = break_down(run, per)
        return replace(found, rows=credits_of(run, kinds, begin, _tell).joined(per, found.rows)) if kinds else found

    find_table(per)
    found, wrong = of_all(runs, table)
    if as_json:
        echo_json([one.plain() for one in found])
    else:
        print_breakdowns(found, per, Console())
    if wrong:
        raise UserError("\n".join(map(str, wrong)))
