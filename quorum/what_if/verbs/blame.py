"""`quorum blame`: the decision that made a run fail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.display.terminal import echo, echo_json
from quorum.verbs import options
from quorum.verbs.verb import Verb


def blame(
    run: Annotated[
        Path, typer.Argument(metavar="RUN|SWEEP", help="Blame this run, or all failed runs of this folder.")
    ],
    *,
    method: Annotated[
        str,
        options.value(
            "--method",
            "METHOD",
            "Judge by search (re-runs), rules, reader:all_at_once, reader:step_by_step or reader:bisection.",
        ),
    ] = "search",
    reference: Annotated[
        list[str] | None,
        options.values(
            "--reference",
            "MIND|KEY=VALUE",
            "Correct decisions with this mind or model, or with self: fresh copies of the agents' own minds. For "
            "readers, use this model.",
            unset="heuristic, or self in a team of only these; llm=simulated for readers",
        ),
    ] = None,
    success: Annotated[
        str,
        options.value("--success", "CONDITION", "Define success: success, 'steps<=60' or 'score>=3'."),
    ] = "success",
    margin: Annotated[
        int | None,
        options.value(
            "--margin",
            "STEPS",
            "Count a run as failed if it does not finish within its limit and this many steps.",
            unset="four times the limit",
            min=0,
        ),
    ] = None,
    shares: Annotated[
        bool, typer.Option("--shares/--no-shares", help="Share the failure out among the agents (search).")
    ] = True,
    since: Annotated[
        int,
        options.value("--shares-from", "STEP", "Let the reference decide from this step on.", min=0),
    ] = 0,
    imported: Annotated[
        str | None,
        options.value(
            "--import",
            "who-when",
            "Let a reader judge cases of this format: a JSON file, or a folder.",
            unset="runs of Quorum",
        ),
    ] = None,
    draws: options.Draws = 1,
    budget_reruns: Annotated[
        int,
        options.value("--budget-reruns", "CELLS", "Play at most this many re-runs of each run.", min=1),
    ] = 2000,
    budget_calls: options.BudgetCalls = None,
    budget_tokens: options.BudgetTokens = None,
    budget_usd: options.BudgetUsd = None,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    plugin: options.Plugins = None,
    config_dir: options.ConfigDirs = None,
) -> None:
    """Find which decisions made a run fail, and how probable that is.

    The search is an experiment with controls: it plays the run again with one decision corrected by a reference policy,
    and with placebos, which change the same turn and keep its intent. The verdict is a probability for each decision,
    and for no single one. A run that would have finished within four times its limit is late, and nobody is blamed. The
    search also shows the share of each agent in the failure, and which decisions or agents must be corrected together.
    Every claim comes with the command that plays it. The folder of the run keeps the result in blame.json, and a killed
    command resumes.

    With paid models, a budget is required. --dry-run searches with the simulated model in their place, at their prices,
    and shows what that takes. The reference may use half of the budget before the first re-run.

    The other methods play nothing: rules name the first failure that the trace proves; a reader is a language model
    that reads the transcript. With --import who-when, it reads cases of Who&When, and the labels show how often it is
    right.

    \b
    Examples:
      quorum blame runs/NAME
      quorum blame runs/NAME --reference self --json
      quorum blame runs/NAME --margin 0
      quorum blame runs/NAME --success 'steps<=60'
      quorum blame runs/NAME --reference llm.model=gpt-5 --budget-calls 500
      quorum blame runs/NAME --reference llm.model=gpt-5 --dry-run
      quorum blame runs/SWEEP --method rules
      quorum blame runs/NAME --method reader:bisection
      quorum blame --import who-when cases --method reader:all_at_once
    """
    from quorum.configuration.budgets import require_budgets
    from quorum.what_if.blame.answer import Question
    from quorum.what_if.blame.attempts import Budget
    from quorum.what_if.blame.command import blame_folder, estimate_folder
    from quorum.what_if.blame.ending import Success

    require_budgets(
        budget_reruns=budget_reruns, budget_calls=budget_calls, budget_tokens=budget_tokens, budget_usd=budget_usd
    )
    question = Question(
        by=tuple(reference or ()),
        success=Success.parse(success),
        margin=margin,
        budget=Budget(budget_reruns, budget_calls, budget_usd, budget_tokens),
        draws=draws,
        since=since,
        config_dir=tuple(config_dir or ()),
        shares=shares,
        method=method,
    )
    if imported is not None:
        from quorum.what_if.blame.who_when import read_cases

        cases = read_cases(run, question, imported, dry=dry_run)
        if dry_run:
            options.print_estimate(cases.estimate, as_json=as_json)
        elif as_json:
            echo_json(cases.to_json())
        elif not quiet:
            echo(str(cases))
        return
    if dry_run:
        options.print_estimate(estimate_folder(run, question), as_json=as_json)
        return
    found = blame_folder(run, question)
    if as_json:
        echo_json(found.to_json())
    elif not quiet:
        echo(str(found))


verb = Verb(blame, "What if", 20)
