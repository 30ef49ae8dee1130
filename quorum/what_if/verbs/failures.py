"""`quorum show failures`: why the teams of recorded runs failed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from quorum.display.terminal import echo_json
from quorum.verbs import options
from quorum.verbs.verb import Verb


def show_failures(
    runs: Annotated[list[Path] | None, options.folders("RUN|SWEEP...", "Read these runs, sweeps or traces.")] = None,
    *,
    judge: Annotated[
        list[str] | None,
        options.values(
            "--judge", "KEY=VALUE", "Have this language model read what messages claim and ask.", unset="no model"
        ),
    ] = None,
    budget_calls: options.BudgetCalls = None,
    budget_usd: options.BudgetUsd = None,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """Show why the teams of recorded runs failed, by rule, with the events that prove it.

    The rules take the claims and orders of a message from its typed fields. With --judge, a language model reads the
    texts of all messages. Its readings replace missing fields, and the output shows how far they agree with existing
    ones.

    If a trace cannot be read, the others are still shown, and the exit code is 2.

    \b
    Examples:
      quorum show failures runs/NAME
      quorum show failures runs/talk --json
      quorum show failures runs/NAME --judge llm=openai --budget-calls 500
    """
    from functools import partial

    from quorum.display.consoles import Console
    from quorum.runs.derived import of_all
    from quorum.runs.run_folder import runs_of
    from quorum.what_if.failures.of_traces import failures_of, print_failures

    reader = None
    if judge or budget_calls is not None or budget_usd is not None:
        from quorum.what_if.failures.message_judge import Judge

        reader = Judge(judge or (), {"calls": budget_calls, "usd": budget_usd}, config_dir or ())
    with of_all(runs_of(options.or_newest(runs)), partial(failures_of, judge=reader)) as found:
        if as_json:
            echo_json([one.to_json() for one in found])
        else:
            print_failures(found, Console())


verb = Verb(show_failures)
