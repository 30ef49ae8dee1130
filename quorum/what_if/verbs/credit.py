"""`quorum credit`: what agents and messages are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.verb import Verb


def credit(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="SWEEP|RUN...", help="Credit these runs, or all runs of these folders."),
    ],
    *,
    of: Annotated[
        list[str] | None,
        options.values("--of", "agent|live|message", "Measure what each agent or message is worth.", unset="agent"),
    ] = None,
    idle_from: Annotated[
        int, options.value("--idle-from", "STEP", "With --of agent, let it idle from this step on.", min=0)
    ] = 0,
    write: options.Write = False,
    dry_run: options.DryRun = False,
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    budget_calls: options.BudgetCalls = None,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Measure what each agent or message is worth to its team.

    It plays each run once more for each agent: the agent idles, and all others act as recorded, so it calls no mind and
    no model. --of live lets the minds of the others think again, and --of message plays the run without each message.
    With paid models, both require a budget, --dry-run estimates what they take, and a killed command resumes. --write
    adds the metrics credit.*, which compare and report then show.

    \b
    Examples:
      quorum credit runs/NAME
      quorum credit runs/talk --write
      quorum credit runs/NAME --of agent --of live
      quorum credit runs/NAME --of message --dry-run
      quorum credit runs/NAME --of live --budget-calls 500
    """
    from quorum.configuration.budgets import require_budgets
    from quorum.display.consoles import Console
    from quorum.runs.derived import check_metrics, of_all, print_breakdowns
    from quorum.runs.run_folder import runs_of
    from quorum.what_if.blame.attempts import Budget
    from quorum.what_if.blame.credit import Bill, Kind, check_idle_from, credits_of, kinds_of, write_credits

    kinds = kinds_of(of or [Kind.AGENT])
    check_idle_from(idle_from, kinds, write=write)
    require_budgets(budget_usd=budget_usd, budget_tokens=budget_tokens, budget_calls=budget_calls)
    bill = Bill(Budget(None, budget_calls, budget_usd, budget_tokens), stands_in=dry_run)
    runs = runs_of(folders)
    if write and not dry_run:
        for run in runs:
            check_metrics(run)
    # stored as soon as known, so that an interruption loses no long computation
    store = write_credits if write and not dry_run else lambda found: found
    with of_all(runs, lambda run: store(credits_of(run, kinds, idle_from, lambda s: echo(s, err=True), bill))) as found:
        if dry_run:
            options.print_estimate({"runs": len(found), **bill.to_json()}, as_json=as_json)
        elif as_json:
            echo_json([credits.to_json() for credits in found])
        else:
            for per in dict.fromkeys(kind.per for kind in kinds):
                print_breakdowns([(credits.run, credits.table(per)) for credits in found], per, Console())


verb = Verb(credit, "What if", 30)
