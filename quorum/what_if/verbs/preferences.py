"""`quorum export --to preferences` and its options."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated, Any

from quorum.verbs import options


def preferences(
    *,
    agents: Annotated[
        str, options.value("--agents", "NAME,...", "Export only the answers of these agents.", unset="all agents")
    ] = "",
    turns: Annotated[
        str,
        options.value(
            "--turns", "plan,talk,...", "Export only the answers in these kinds of turns.", unset="all turns"
        ),
    ] = "",
    measure: Annotated[
        str,
        options.value(
            "--measure",
            "KEY=VALUE,...",
            "Measure preferences with these decisions of a run, sampled answers, draws, fresh draws and outcome.",
            unset="decisions=4,answers=3,draws=8,fresh=0,outcome=steps_or_limit",
        ),
    ] = "",
    split: Any = None,
    dry_run: options.DryRun = False,
    budget_usd: options.BudgetUsd = None,
    budget_tokens: options.BudgetTokens = None,
    budget_calls: options.BudgetCalls = None,
) -> Any:
    """--to preferences writes pairs of answers to the same prompt, in the form that TRL trains on.

    At some decisions of each run, the model answers the recorded prompt again. Each distinct answer is played to the
    end of the episode in the same draws of luck; the better mean outcome is chosen, and ties are left out. With fresh
    draws, each pair is measured again in draws that had no part in the choice. The episodes are a sweep of branches in
    the folder, export-preferences-branches: the same command resumes it and plays none twice. Paid models require a
    budget.

    \b
    Examples:
      quorum export runs/talk --to preferences --dry-run
      quorum export runs/talk --to preferences --budget-calls 5000
      quorum export runs/talk --to preferences --measure draws=12,fresh=12
    """
    from quorum.configuration.budgets import require_budgets
    from quorum.sweeps.spending import SweepBudget
    from quorum.what_if.preferences.command import Preferences
    from quorum.what_if.preferences.design import Design

    require_budgets(budget_usd=budget_usd, budget_tokens=budget_tokens, budget_calls=budget_calls)
    budget = SweepBudget(budget_usd, budget_tokens, budget_calls)
    some, kinds = (tuple(filter(None, text.split(","))) for text in (agents, turns))
    found = Preferences(Design.of(measure), budget, some, kinds, split)
    return SimpleNamespace(estimate=found.forecast) if dry_run else found
