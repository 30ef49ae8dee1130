"""`quorum metrics`: the metrics of recorded episodes, computed again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from maeil.user_errors import UserError
from quorum.experiments.common.terminal import echo_json
from quorum.experiments.verbs.options import Json, Plugins
from quorum.experiments.verbs.preparation import prepare_plugins


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
    from quorum.experiments.results.recompute import of_all, recompute, write_metrics

    if per is not None and write:
        raise UserError("--write: metrics.json holds the metrics, not the table of --per: leave one of them out")
    prepare_plugins(plugin)
    if per is not None:
        _show_breakdowns(runs, per, as_json=as_json)
        return
    done, wrong = of_all(runs, recompute)
    if write:  # before anything is printed: who reads the first line only and leaves gets all files
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


def _show_breakdowns(runs: list[Path], per: str, *, as_json: bool) -> None:
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
